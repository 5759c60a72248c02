/** `npm run new -- resource NAME` in a copy of the tree: what it writes passes the checks and the generic suite at once. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

setDefaultTimeout(300_000);
const root = join(import.meta.dir, '../..');
let copy = '';

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'catalog-new-'));
  const kept = /\/(node_modules|data|\.git)$/;
  cpSync(root, copy, { recursive: true, filter: path => !kept.test(path) });
  for (const folder of ['node_modules', 'client/node_modules']) {
    symlinkSync(join(root, folder), join(copy, folder));
  }
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function run(...command: string[]): { status: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: copy });
  return { status: exitCode, output: `${stdout}${stderr}` };
}

test('a new resource is served, described and tested', () => {
  const bun = process.execPath;
  const made = run(bun, 'scripts/new.ts', 'resource', 'notes');
  expect(made.status, made.output).toBe(0);
  expect(made.output).toContain('src/resources/notes/schema.ts');
  run('node_modules/.bin/biome', 'check', '--write', 'src', 'test');
  for (const command of [
    ['node_modules/.bin/tsc', '--noEmit', '-p', '.'],
    ['node_modules/.bin/biome', 'check', '--error-on-warnings', 'src', 'test'],
    [bun, 'scripts/openapi.ts'],
    [bun, 'test', '--timeout', '60000', 'test/resources/notes.test.ts', 'test/architecture.test.ts'],
    [bun, 'test', '--timeout', '60000', 'test/contract.test.ts', 'test/openapi.test.ts'],
  ]) {
    const { status, output } = run(...command);
    expect(status, `${command.join(' ')}\n${output.slice(-3000)}`).toBe(0);
  }
  // A name that is taken, or none, changes nothing.
  expect(run(bun, 'scripts/new.ts', 'resource', 'notes').status).toBe(1);
  expect(run(bun, 'scripts/new.ts', 'resource', '../notes').status).toBe(2);
});
