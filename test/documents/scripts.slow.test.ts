/** Command lines of the project's scripts: a wrong one is refused in one line, before anything is done. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';

const root = join(import.meta.dir, '..', '..');

function run(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: root });
  return { status: exitCode, out: stdout.toString(), err: stderr.toString() };
}

test.each([
  ['fuzz/main.ts --frob', /^fuzz: Unknown option '--frob'.*; see npm run fuzz -- --help\n$/],
  ['fuzz/main.ts --requests many', /^fuzz: --requests: many is not a whole number; see .*\n$/],
  [
    'fuzz/main.ts --database oracle',
    /^fuzz: --database: oracle is not one of sqlite, postgresql, both; see .*\n$/,
  ],
  ['bench/main.ts --frob', /^bench: Unknown option '--frob'.*; see npm run bench -- --help\n$/],
  ['scripts/coverage.ts --chekc', /^coverage: Unknown option '--chekc'.*; the only option is --check\n$/],
  ['scripts/openapi.ts --chekc', /^openapi: Unknown option '--chekc'.*; the only option is --check\n$/],
])('%s is refused', (line, message) => {
  const { status, out, err } = run(...line.split(' '));
  expect([status, out]).toEqual([2, '']);
  expect(err).toMatch(message);
});

test.each(['fuzz/main.ts', 'bench/main.ts'])('%s --help describes its options', script => {
  const { status, out, err } = run(script, '--help');
  expect([status, err]).toEqual([0, '']);
  expect(out).toMatch(/^Usage: npm run \w+ -- \[OPTIONS\]\n/);
  expect(out.split('\n').filter(line => line.length > 120 && !line.includes('--only'))).toEqual([]);
});
