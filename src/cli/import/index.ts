/** `catalog import`: products from a file into the catalog. */

import { existsSync } from 'node:fs';
import { type Config, loadConfig } from '../../config.ts';
import { outboxOf } from '../../events/outbox.ts';
import { MappingError, parseMapping } from '../../files/map.ts';
import { productImporter } from '../../resources/products/import/index.ts';
import { planWithout } from '../../resources/products/import/plan.ts';
import type { BulkLoad, Database } from '../../storage/database.ts';
import { migrate, pendingMigrations } from '../../storage/migrations/migrate.ts';
import { embeddedFile, openBulkLoad, openDatabase } from '../../storage/open.ts';
import { productTotals } from '../../storage/totals.ts';
import {
  type Command,
  choiceOption,
  countOption,
  onePositional,
  parse,
  safeOption,
  UsageError,
} from '../usage.ts';
import type { RecordsRequest } from './records.ts';
import { createProgress, grouped, openRejects, remarks, summary } from './report.ts';
import { type BatchWriter, type ImportState, runImport, type StopRequest } from './run.ts';
import { openRecordsApart } from './thread.ts';
import { batchWriter } from './write.ts';

const help = `Usage: catalog import FILE|- [OPTIONS]

Adds the products of a file to the catalog, or updates them. The service may be running meanwhile.

  FILE                CSV with a header row (commas, semicolons or tabs), NDJSON, or JSON with an array of
                      objects, as it is or packed with gzip; - reads standard input
  --format FORMAT     csv, ndjson or json; without it, told by the file's name and beginning
  --path MEMBER       for json: the member that holds the array, as in data.items; without it, the first one
  --map FIELD=COLUMN  where a field is found when its column is not called like it; several with commas:
                      --map name=title,price=UnitPrice,category=details.group
                      fields: sku, name, price, currency, description, category, tags, status
  --dry-run           check every record and count; write nothing to the catalog
  --rejects FILE      write the refused records there, one JSON object a line: line, error, details, raw;
                      without it the first 20 are shown
  --batch N           records per transaction; without it, as many as take less than a tenth of a second
  --skip N            leave out the first N records: they are done already
  --no-safe-for-spreadsheets
                      takes the cells of a CSV as they are. Without it (--safe-for-spreadsheets) the apostrophes
                      that catalog export writes before formulas are dropped: '=1+1 is read as =1+1

A record needs name and price, and obeys the same rules as POST /v1/products. Tags are separated by ; or |.
A status column called archived or discontinued may say true/false or 1/0.

The sku says which product is meant:
  - no product has it: one is created; fields that are left out get their defaults (currency: DEFAULT_CURRENCY)
  - a product has it: its fields are updated, and it is left alone when none differs; fields that are left out
    (no column, an empty cell) keep their values, a null in JSON removes them
  - two records have it: the later wins; how many have the sku of an earlier one is told
A record without sku is a new product each time it is imported.

After an interruption run the same command again: records with a sku that are in are not written twice. For
records without one add --skip N with the number that the interrupted import printed.

Exit status: 0 all records went in; 2 some were rejected; 1 the import failed, or the file has no records; 130 it was
interrupted.`;

const options = {
  format: { type: 'string' },
  path: { type: 'string' },
  map: { type: 'string', multiple: true },
  'dry-run': { type: 'boolean' },
  rejects: { type: 'string' },
  batch: { type: 'string' },
  skip: { type: 'string' },
  'safe-for-spreadsheets': { type: 'boolean' },
} as const;

interface ImportArguments {
  readonly file: string;
  readonly format: 'csv' | 'ndjson' | 'json' | undefined;
  readonly path: string | undefined;
  readonly safe: boolean;
  readonly mapping: ReturnType<typeof parseMapping>;
  readonly dryRun: boolean;
  readonly rejects: string | undefined;
  readonly batchSize: number | undefined;
  readonly skip: number;
}

export const importCommand: Command = {
  help,
  run: args => {
    const given = argumentsOf(args);
    return given.dryRun ? dryRun(given) : importIntoDatabase(given);
  },
};

function argumentsOf(args: string[]): ImportArguments {
  const { values, positionals } = parse(args, options, true);
  const named = choiceOption(values.format, '--format', ['csv', 'ndjson', 'json']);
  if (values.path !== undefined && named !== undefined && named !== 'json') {
    throw new UsageError('--path is for JSON only');
  }
  const format = values.path === undefined ? named : 'json';
  try {
    return {
      file: onePositional(positionals, 'FILE'),
      format,
      path: values.path,
      safe: safeOption(values['safe-for-spreadsheets'], format),
      mapping: parseMapping((values.map ?? []).join(',')),
      dryRun: values['dry-run'] === true,
      rejects: values.rejects,
      batchSize: countOption(values.batch, '--batch', 1, 100_000),
      skip: countOption(values.skip, '--skip', 0, Number.MAX_SAFE_INTEGER) ?? 0,
    };
  } catch (error) {
    if (error instanceof MappingError) throw new UsageError(`--map: ${error.message}`);
    throw error;
  }
}

async function importIntoDatabase(given: ImportArguments): Promise<number> {
  const config = loadConfig(process.env);
  const load = openBulkLoad(config, ['products', 'events']);
  try {
    await migrate(load.database, Date.now);
    const catalog = { currency: config.DEFAULT_CURRENCY, merge: await hasProducts(load.database) };
    return await importFile(given, catalog, await batchWriter(load));
  } finally {
    await closeLoad(load);
  }
}

async function closeLoad(load: BulkLoad): Promise<void> {
  const { indexes, milliseconds, problem } = await load.close();
  if (indexes > 0) {
    console.error(
      `catalog import: built ${grouped(indexes)} indexes in ${(milliseconds / 1000).toFixed(1)} s`,
    );
  }
  if (problem !== undefined) {
    console.error(`catalog import: ${problem instanceof Error ? problem.message : problem}`);
  }
}

/** Compares with the catalog where there is one; neither makes nor migrates a database. */
async function dryRun(given: ImportArguments): Promise<number> {
  const config = loadConfig(process.env);
  const currency = config.DEFAULT_CURRENCY;
  const database = await existingDatabase(config);
  try {
    if (database === undefined) {
      const catalog = { currency, merge: false };
      return await importFile(given, catalog, async records => planWithout(records).counts);
    }
    const importer = productImporter(database, outboxOf(database));
    const catalog = { currency, merge: await hasProducts(database) };
    return await importFile(given, catalog, records =>
      database.snapshot(async session => (await importer.plan(session, records, 'read')).counts),
    );
  } finally {
    await database?.close();
  }
}

async function existingDatabase(config: Config): Promise<Database | undefined> {
  if (config.DATABASE_URL === undefined && !existsSync(embeddedFile(config))) return undefined;
  const database = openDatabase(config);
  await database.ping();
  // An empty database has no list of migrations to read.
  const pending = await pendingMigrations(database).catch(() => ['all']);
  if (pending.length === 0) return database;
  await database.close();
  return undefined;
}

async function hasProducts(database: Database): Promise<boolean> {
  return (await productTotals(database).count(database.read)) > 0;
}

async function importFile(
  given: ImportArguments,
  catalog: Pick<RecordsRequest, 'currency' | 'merge'>,
  write: BatchWriter,
): Promise<number> {
  const { totalBytes, chunks } = await openRecordsApart({ ...given, ...catalog });
  const rejects = openRejects(given.rejects, given.skip > 0);
  const progress = createProgress(process.stderr.isTTY === true, totalBytes);
  const state: ImportState = { created: 0, updated: 0, unchanged: 0, repeated: 0, done: 0 };
  const started = performance.now();
  const { skip, batchSize } = given;
  try {
    const run = { chunks, skip, batchSize, write, rejects, progress, stop: stopRequest() };
    const complete = await runImport(run, state);
    progress.end();
    for (const line of remarks(state.repeated, rejects)) console.error(`catalog import: ${line}`);
    console.log(summary({ ...state, rejected: rejects.count }, performance.now() - started, given.dryRun));
    if (complete) return rejects.count > 0 ? 2 : 0;
    console.error(`catalog import: interrupted; ${resumeHint(state.done)}`);
    return 130;
  } catch (error) {
    progress.end();
    if (state.done > given.skip) console.error(`catalog import: stopped early; ${resumeHint(state.done)}`);
    throw error;
  } finally {
    rejects.close();
  }
}

function resumeHint(done: number): string {
  return `${grouped(done)} records are done: run the same command again, with --skip ${done} if records have no sku`;
}

function stopRequest(): StopRequest {
  let requested = false;
  let listener = () => {};
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      requested = true;
      listener();
    });
  }
  return {
    onRequest(next) {
      listener = next;
      if (requested) next();
    },
  };
}
