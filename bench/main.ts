/** `npm run bench`: measures the cost of the service; bench/NOTES.md has the method and the results. */

import { cpus } from 'node:os';
import { exitOnSignals, readCommandLine } from '../scripts/command-line.ts';
import { measureFsync } from './fsync.ts';
import { measureImport } from './import.ts';
import { measureRequests } from './load/requests.ts';
import { scenarios } from './load/scenarios.ts';
import { help, type Options, readOptions } from './report/options.ts';
import { thousands } from './report/statistics.ts';
import { cacheFolder, postgresCopy, type RunDatabase, sqliteCopy } from './servers/databases.ts';
import { type PostgresServer, startPostgres } from './servers/postgres.ts';
import { measureSlowDisk } from './slow-disk.ts';
import { measureStartup, type StartSubject } from './startup.ts';

const progress = (text: string) => console.error(`bench: ${text}`);

async function run(options: Options): Promise<void> {
  const postgres = options.databases.includes('postgresql') ? await startPostgres(cacheFolder) : undefined;
  try {
    console.log(`${await conditions(options, postgres)}\n`);
    if (scenarios.some(({ name }) => options.only.has(name)))
      console.log(`${await measureRequests(options, postgres, progress)}\n`);
    if (options.only.has('fsync') && options.databases.includes('sqlite')) {
      progress('creates, alone and together');
      const size = options.sizes[0] ?? 0;
      console.log(`${await measureFsync(size, options.rounds, options.milliseconds)}\n`);
    }
    if (options.only.has('slow-disk') && options.databases.includes('sqlite')) {
      progress('reads on a slow disk');
      console.log(`${await measureSlowDisk(options)}\n`);
    }
    if (options.only.has('startup')) console.log(`${await startup(options, postgres)}\n`);
    if (options.only.has('import')) {
      progress('import');
      console.log(await measureImport(Math.max(...options.sizes), options.databases, postgres));
    }
  } finally {
    await postgres?.stop();
  }
}

async function startup(options: Options, postgres: PostgresServer | undefined): Promise<string> {
  const subjects: StartSubject[] = [];
  for (const kind of options.databases) {
    for (const size of options.sizes) {
      progress(`start, ${kind}, ${thousands(size)} products`);
      const onServer = kind === 'postgresql' ? postgres : undefined;
      const database: RunDatabase = await (onServer === undefined
        ? sqliteCopy(size)
        : postgresCopy(onServer, size));
      subjects.push({ name: `${kind}, ${thousands(size)} products`, database });
    }
  }
  try {
    return await measureStartup(subjects, options.quick ? 1 : 7);
  } finally {
    for (const { database } of subjects) await database.remove();
  }
}

/** The conditions under which the figures of a table were measured. */
async function conditions(options: Options, postgres: PostgresServer | undefined): Promise<string> {
  const node = Bun.spawnSync(['node', '--version']).stdout.toString().trim();
  const database = postgres === undefined ? '' : `, PostgreSQL ${await postgres.version()}`;
  const processors = cpus();
  return [
    `Bun ${Bun.version}, Node ${node.slice(1)} (node:http)${database}; ${processors.length} × ${processors[0]?.model.trim()};`,
    `${options.rounds} rounds of ${options.milliseconds} ms each, medians (min–max).`,
  ].join(' ');
}

exitOnSignals();
const options = readCommandLine(
  'bench',
  () => readOptions(process.argv.slice(2)),
  'see npm run bench -- --help',
);
try {
  if (options === 'help') console.log(help);
  else await run(options);
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
