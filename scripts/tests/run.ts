/**
 * `npm test`, `npm run test:slow`, `test:long` and `test:faults`: starts one PostgreSQL for the whole run, then Bun's
 * test runner. It runs files in random order, two more at once than there are cores, since many of them wait. If
 * PostgreSQL does not start, its scenarios are skipped and the run says why; with CI=true, or a server given by
 * TEST_DATABASE_URL, that is a failure.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { getErrorMessage } from '../../src/error-text.ts';
import { parseAddress } from '../../src/storage/postgres/address.ts';
import { type Cluster, createCluster, NoPostgres, throwaway } from './postgresql.ts';
import { buildProgram } from './program.ts';

const [kind, ...rest] = process.argv.slice(2);
/**
 * Files with separate runs: those that start many programs or fill many databases, tests that take long by nature, and
 * tests that take something away from the service.
 */
const apart = { slow: ['.slow.test.ts'], long: ['test/long/', 'test/campaigns/'], faults: ['test/faults/'] };
/** Whether the tests stop no server and need no disk. */
const isPlain = kind === 'usual' || kind === 'slow';
const isWatched = rest.includes('--watch');
/** Faults measure how long requests wait: one file at a time has the machine to itself. */
const isParallel = kind !== 'faults' && !isWatched;
/** Names what the processes of this run share. The run removes it at the end; they would remove it after each file. */
const run = isParallel ? crypto.randomUUID().slice(0, 8) : undefined;
/** Linux's folder in memory, and the most that a run leaves there until its end, in bytes. */
const memory = '/dev/shm';
const roomNeeded = 4 * 2 ** 30;
const isInMemory = isPlain && process.env.TMPDIR === undefined && hasRoom();
/** The folder for everything that the tests write; the run removes it. */
const scratch = mkdtempSync(join(isInMemory ? memory : tmpdir(), 'catalog-tests-'));
// PostgreSQL may run as another user, who must reach its files in the folder.
chmodSync(scratch, 0o711);

/**
 * For processes that run for seconds. The optimizing compiler costs more than it saves, a seventh of the run; returning
 * memory that is soon needed again costs a twelfth.
 */
const shortLived = isPlain ? { BUN_JSC_useFTLJIT: '0', MIMALLOC_PURGE_DELAY: '-1' } : {};

/**
 * A connection that lives for seconds runs a statement too seldom to gain from custom plans. No test of these runs
 * stops the server, so COMMIT need not wait for the log to be written.
 */
const hasty = [...throwaway, 'plan_cache_mode=force_generic_plan', 'synchronous_commit=off'];

const isWhole = !rest.some(argument => !argument.startsWith('-') && argument.includes('test/'));
/** Built while PostgreSQL starts, which leaves a core free. */
const built = isWhole && isParallel ? buildProgram(scratch) : undefined;

const given = process.env.TEST_DATABASE_URL;
let cluster: Cluster | undefined;
let reason: string | undefined;
try {
  if (given === undefined) {
    const place = isInMemory ? { folder: join(scratch, 'postgresql') } : {};
    cluster = await createCluster({ settings: isPlain ? hasty : throwaway, ...place });
    await cluster.start();
  } else if (given) {
    await checkServer(given);
  }
} catch (error) {
  if (!(error instanceof NoPostgres)) throw error;
  cluster?.remove();
  cluster = undefined;
  reason = error.message;
  console.error(`test: ${reason}`);
}

/** The setting that requires PostgreSQL, if any: a given server must be used. */
const required = given
  ? 'TEST_DATABASE_URL'
  : ['true', '1'].includes(process.env.CI ?? '')
    ? 'CI'
    : undefined;
const status = reason !== undefined && required !== undefined ? 1 : await runTests();
// Like a crash: the data that a clean stop would write is about to be deleted.
await cluster?.stop('SIGQUIT');
cluster?.remove();
if (given && run !== undefined && reason === undefined) await dropDatabases(given);
rmSync(scratch, { recursive: true, force: true });
if (reason !== undefined)
  console.error(
    required !== undefined
      ? `test: nothing was run, because ${required} is set and the scenarios on PostgreSQL would be skipped`
      : `test: the scenarios on PostgreSQL were SKIPPED: ${reason}`,
  );
process.exit(status);

/**
 * Whether usual and slow tests can write to memory, which they do unless TMPDIR names another place: hundreds of
 * databases that live for seconds are gigabytes for a disk. Long tests and faults must use a disk.
 */
function hasRoom(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= roomNeeded;
}

/** Checks a given server first; otherwise each scenario would fail with the same reason. @throws NoPostgres */
async function checkServer(url: string): Promise<void> {
  let server = 'TEST_DATABASE_URL';
  try {
    server = `TEST_DATABASE_URL: ${parseAddress(url).description}`;
    const admin = new SQL(url, { max: 1, connectionTimeout: 10 });
    await admin`select 1`;
    await admin.close();
  } catch (error) {
    throw new NoPostgres(`${server}: ${getErrorMessage(error)}`);
  }
}

/** Drops the databases that the processes of this run shared, on a given server, which outlives the run. */
async function dropDatabases(url: string): Promise<void> {
  const admin = new SQL(url, { max: 1 });
  const kept: { datname: string }[] = await admin`select datname from pg_database
    where starts_with(datname, ${`catalog_test_${run}_`})`;
  for (const { datname } of kept) await admin.unsafe(`drop database if exists ${datname} with (force)`);
  await admin.close();
}

async function runTests(): Promise<number> {
  const workers = isParallel ? [`--parallel=${availableParallelism() + 2}`, '--no-isolate'] : [];
  const everyFile = isWatched ? [] : [...workers, '--randomize'];
  const usual = Object.values(apart)
    .flat()
    .flatMap(part => ['--path-ignore-patterns', part.endsWith('/') ? `${part}**` : `**/*${part}`]);
  const chosen = kind === 'slow' || kind === 'long' || kind === 'faults' ? apart[kind] : usual;
  const files = isWhole ? chosen : [];
  const program = built === undefined ? {} : { TEST_PROGRAM: await built };
  // Hooks start services: on a busy machine, that takes longer than the runner's default of five seconds.
  const args = ['test', ...everyFile, '--timeout', '60000', ...files, ...rest];
  const own = cluster === undefined ? {} : { TEST_DATABASE_OWN: 'true' };
  const shared = run === undefined ? {} : { TEST_RUN: run };
  const database = { TEST_DATABASE_URL: given ?? cluster?.url ?? '' };
  const env = { ...shortLived, ...process.env, ...own, ...shared, TMPDIR: scratch, ...database, ...program };
  const child = spawn(process.execPath, args, { stdio: 'inherit', env });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise(resolve => child.on('close', code => resolve(code ?? 1)));
}
