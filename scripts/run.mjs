/** The npm scripts, one function each; installs missing development dependencies first. */
import { spawnSync } from 'node:child_process';
import { bunBinary, ensureInstalled, root } from './install.mjs';
import { bunArguments, environmentIn } from './settings.mjs';

const [task, ...rest] = process.argv.slice(2);
// The example is for users of the service, not for its developers.
ensureInstalled(task === 'example' ? 'production' : 'development');
const bun = bunBinary();
const bin = name => `node_modules/.bin/${name}`;

const tasks = {
  test: () => run(bun, ['scripts/tests/run.ts', 'usual', ...rest]),
  'test-slow': () => run(bun, ['scripts/tests/run.ts', 'slow', ...rest]),
  'test-long': () => run(bun, ['scripts/tests/run.ts', 'long', ...rest]),
  'test-faults': () => run(bun, ['scripts/tests/run.ts', 'faults', ...rest]),
  dev: () =>
    run(bun, [...bunArguments, '--watch', 'src/main.ts', 'serve', '--sample', ...rest], environmentIn(root)),
  check: () =>
    run(bin('tsc'), ['--noEmit', '-p', '.']) ||
    run(bin('biome'), ['check', '--error-on-warnings', '.']) ||
    run(bin('knip'), ['--no-progress']),
  format: () => run(bin('biome'), ['check', '--write', '.']),
  openapi: () => run(bun, ['scripts/openapi.ts', ...rest]),
  client: () =>
    run('node', [
      'client/node_modules/.bin/openapi-typescript',
      'openapi.json',
      '-o',
      'client/schema.ts',
      ...rest,
    ]),
  coverage: () => run(bun, ['scripts/coverage.ts', ...rest]),
  new: () => run(bun, ['scripts/new.ts', ...rest]),
  example: () => run(bun, ['examples/raise-prices.ts', ...rest]),
  'lint-openapi': () => run(bun, ['scripts/lint-openapi.ts', ...rest]),
  fuzz: () => run(bun, ['fuzz/main.ts', ...rest]),
  bench: () =>
    rest[0] === 'search-quality'
      ? run(bun, ['bench/search-quality/main.ts', ...rest.slice(1)])
      : run(bun, ['bench/main.ts', ...rest]),
};

const chosen = tasks[task];
if (chosen === undefined) {
  console.error(`run: there is no task "${task}"; there are ${Object.keys(tasks).join(', ')}`);
  process.exit(2);
}
process.exit(chosen());

/** @returns the exit status */
function run(command, args, env = process.env) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', env }).status ?? 1;
}
