/**
 * `npm test`, `npm run test:long` and `npm run test:faults`: one PostgreSQL for the whole run, then Bun's test runner
 * over one file more at once than there are cores, since some of them wait, in random order. Where PostgreSQL does not
 * start its scenarios are skipped and the run says why; with CI=true that is a failure.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { type Cluster, createCluster, NoPostgres, throwaway } from './postgresql.ts';

const [kind, ...rest] = process.argv.slice(2);
/** Folders that have a run of their own: what is long by nature, and what takes something away from the service. */
const apart = { long: 'test/long/', faults: 'test/faults/' };
const isWatched = rest.includes('--watch');

const given = process.env.TEST_DATABASE_URL;
let cluster: Cluster | undefined;
let reason: string | undefined;
if (given === undefined) {
  try {
    cluster = await createCluster({ settings: throwaway });
    await cluster.start();
  } catch (error) {
    if (!(error instanceof NoPostgres)) throw error;
    cluster?.remove();
    cluster = undefined;
    reason = error.message;
    console.error(`test: ${reason}`);
  }
}

const isRequired = process.env.CI === 'true' || process.env.CI === '1';
const status = reason !== undefined && isRequired ? 1 : await runTests();
await cluster?.stop();
cluster?.remove();
if (reason !== undefined)
  console.error(
    isRequired
      ? 'test: nothing was run, since CI is set and the scenarios on PostgreSQL would have been skipped'
      : `test: the scenarios on PostgreSQL were SKIPPED: ${reason}`,
  );
process.exit(status);

function runTests(): Promise<number> {
  // Faults measure how long others wait: one file at a time has the machine to itself.
  const workers = kind === 'faults' ? [] : [`--parallel=${availableParallelism() + 1}`, '--no-isolate'];
  const everyFile = isWatched ? [] : [...workers, '--randomize'];
  const usual = Object.values(apart).flatMap(folder => ['--path-ignore-patterns', `${folder}**`]);
  const chosen = kind === 'long' || kind === 'faults' ? [`./${apart[kind]}`] : usual;
  const files = rest.some(argument => !argument.startsWith('-') && argument.includes('test/')) ? [] : chosen;
  // Hooks start services: on a busy machine that takes longer than the runner's five seconds.
  const args = ['test', ...everyFile, '--timeout', '60000', ...files, ...rest];
  const own = cluster === undefined ? {} : { TEST_DATABASE_OWN: 'true' };
  const env = { ...process.env, ...own, TEST_DATABASE_URL: given ?? cluster?.url ?? '' };
  const child = spawn(process.execPath, args, { stdio: 'inherit', env });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise(resolve => child.on('close', code => resolve(code ?? 1)));
}
