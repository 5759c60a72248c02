/** `catalog import`: imports products from a file into the catalog. */
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { type Config, loadConfig } from '../../config.ts';
import { getErrorMessage } from '../../error-text.ts';
import { createCommandOutbox } from '../../events/outbox.ts';
import type { CellOptions } from '../../files/cells/fields.ts';
import { createDefinitionStore } from '../../resources/attributes/store.ts';
import { createProductImporter } from '../../resources/products/import/index.ts';
import { createMatchedProducts } from '../../resources/products/import/matching.ts';
import { planWithout } from '../../resources/products/import/plan.ts';
import type { BulkLoad, Database } from '../../storage/database.ts';
import { isCatalog, migrate } from '../../storage/migrations/migrate.ts';
import { checkDataFolder, openBulkLoad, openDatabase } from '../../storage/open.ts';
import { createProductTotals } from '../../storage/totals.ts';
import { findEmbeddedSize, reportMigration, requireMigrated } from '../database.ts';
import { listenForStop } from '../launcher.ts';
import { refuseInput, refuseKept } from '../output-file.ts';
import { escapeUnprintable, formatCount, formatQuantity, printOrExplain } from '../terminal/index.ts';
import type { Command } from '../usage.ts';
import { help, type ImportArguments, parseArguments } from './options.ts';
import type { Chunk, RecordsRequest } from './records.ts';
import { createInitialState, createProgress, formatRemarks, formatSummary, openRejects } from './report.ts';
import { type BatchWriter, runImport, waitOrStop } from './run.ts';
import { chooseSpool, requireSource } from './source.ts';
import { openRecordsInWorkerUnlessSmall } from './thread.ts';
import { createBatchWriter } from './write.ts';

export const command: Command = {
  help,
  async run(args) {
    const given = parseArguments(args);
    const spool = chooseSpool(given);
    const config = loadConfig(process.env);
    // Of products that name none. An ambiguous sign such as $ is read as this currency too, if it can be.
    const currency = given.cells.currency ?? config.DEFAULT_CURRENCY;
    const complete = { ...given, spool, currency, cells: { ...given.cells, currency } };
    checkRejects(complete, config);
    return given.dryRun ? dryRun(complete, config) : importIntoDatabase(complete, config);
  },
};

type CompleteArguments = Omit<RecordsRequest, 'gather'>;

async function importIntoDatabase(given: CompleteArguments, config: Config): Promise<number> {
  requireSource(given.file);
  if (config.DATABASE_URL === undefined && existsSync(config.DATA_DIR)) checkDataFolder(config);
  // If the beginning of the file is refused, no database must be created.
  const begun = isMissing(config) ? await beginFile(given, { gather: false, cells: given.cells }) : undefined;
  const load = openBulkLoad(config, ['products', 'events']);
  try {
    await migrate(load.database, Date.now, reportMigration);
    const opened = begun ?? (await beginFile(given, await readCatalog(given, load.database)));
    return await importFile(given, opened, await createBatchWriter(load), load.transactionMs);
  } finally {
    await closeLoad(load);
  }
}

/** Whether there is no database yet, so that the import must create it. */
const isMissing = (config: Config): boolean =>
  config.DATABASE_URL === undefined && (findEmbeddedSize(config) ?? 0) === 0;

type Catalog = Pick<RecordsRequest, 'gather' | 'cells'>;

const readCatalog = async (given: ImportArguments, database: Database): Promise<Catalog> => ({
  gather: (await createProductTotals(database).count(database.read)) > 0,
  cells: await readCellOptions(given, database),
});

/** Opens the file and reads its first chunk, which shows whether the file can be imported. */
async function beginFile(given: CompleteArguments, catalog: Catalog): Promise<OpenedFile> {
  const started = performance.now();
  const { stop, withdraw } = createStopSignal();
  const opening = openRecordsInWorkerUnlessSmall({ ...given, ...catalog });
  const { totalBytes, chunks } = (await waitOrStop(opening, stop)) ?? nothingRead;
  let first = await waitOrStop(chunks.next(), stop);
  return {
    totalBytes,
    started,
    stop,
    withdraw,
    chunks: {
      async next() {
        const next = first ?? chunks.next();
        first = undefined;
        return next;
      },
    },
  };
}

/** Stands for a file when the import is stopped before the file could be opened. */
const nothingRead: Pick<OpenedFile, 'totalBytes' | 'chunks'> = {
  totalBytes: undefined,
  chunks: { next: async () => ({ done: true, value: undefined }) },
};

interface OpenedFile {
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined;
  readonly chunks: AsyncIterator<Chunk>;
  /** The start of the import, in milliseconds of performance.now(). */
  readonly started: number;
  readonly stop: AbortSignal;
  /** Lets signals end the process at once from now on. */
  readonly withdraw: () => void;
}

async function closeLoad(load: BulkLoad): Promise<void> {
  const { indexes, milliseconds, problem } = await load.close();
  if (indexes > 0)
    console.error(
      `catalog import: built ${formatQuantity(indexes, 'index', 'indexes')} in ${(milliseconds / 1000).toFixed(1)} s`,
    );
  if (problem !== undefined)
    console.error(
      `catalog import: indexes that it has left out could not be built (${escapeUnprintable(getErrorMessage(problem))}): the next start of the service builds them, as does catalog migrate`,
    );
}

/**
 * Compares the file with the catalog, if there is one; does not create or migrate a database. Records of one sku are
 * gathered even if there are no products yet: nothing is written, so a later batch could not find them.
 */
async function dryRun(given: CompleteArguments, config: Config): Promise<number> {
  const database = await openExistingDatabase(config);
  try {
    if (database === undefined) {
      const opened = await beginFile(given, { gather: true, cells: given.cells });
      const pass = () => Promise.resolve();
      return await importFile(given, opened, { write: async records => planWithout(records), pass });
    }
    const importer = createProductImporter(database, createCommandOutbox(database));
    const cells = await readCellOptions(given, database);
    const opened = await beginFile(given, { gather: true, cells });
    const matched = createMatchedProducts();
    return await importFile(given, opened, {
      async write(records) {
        const plan = await database.snapshot(session => importer.plan(session, records, 'read', matched));
        matched.add(plan.matched);
        return plan;
      },
      pass: async skus => matched.add(await importer.findIds(database.read, skus)),
    });
  } finally {
    await database?.close();
  }
}

/** Must be called before anything is opened: opening the file for refused records empties it. */
function checkRejects({ rejects, file }: ImportArguments, config: Config): void {
  if (rejects === undefined) return;
  try {
    refuseInput(rejects, file);
    refuseKept(rejects, config);
  } catch (error) {
    throw new Error(`--rejects ${getErrorMessage(error)}`);
  }
}

/** @returns undefined if there is no catalog or the database is empty @throws Error for a catalog of another release */
async function openExistingDatabase(config: Config): Promise<Database | undefined> {
  if (isMissing(config)) return undefined;
  const database = openDatabase(config);
  try {
    if (await isCatalog(database)) {
      await requireMigrated(database);
      return database;
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return undefined;
}

/** The options for cells of the command line, with the types from the definitions of attributes. */
async function readCellOptions({ cells }: ImportArguments, database: Database): Promise<CellOptions> {
  const definitions = await createDefinitionStore(database, createCommandOutbox(database)).current();
  return { ...cells, types: new Map([...definitions].map(([key, { type }]) => [key, type])) };
}

async function importFile(
  given: ImportArguments,
  { totalBytes, chunks, started, stop, withdraw }: OpenedFile,
  writer: BatchWriter,
  transactionMs = Number.POSITIVE_INFINITY,
): Promise<number> {
  const rejects = openRejects(given.rejects, given.skip > 0);
  const progress = createProgress(process.stderr.isTTY === true, totalBytes);
  const state = createInitialState();
  const { skip, batchSize } = given;
  const say = (line: string) => console.error(`catalog import: ${escapeUnprintable(line)}`);
  let summary: string | undefined;
  const reporting = { rejects, progress, say, stop };
  try {
    const run = { chunks, skip, batchSize, writer, transactionMs, ...reporting };
    const complete = await runImport(run, state);
    progress.end();
    if (complete && state.done < skip) throw new Error(describeShortage(given, state.done));
    for (const line of formatRemarks(state, rejects)) console.error(line);
    if (!complete)
      console.error(`catalog import: interrupted; ${formatResumeHint(given, Math.max(state.done, skip))}`);
    const counts = { ...state, rejected: rejects.count };
    summary = formatSummary(counts, performance.now() - started, given.dryRun);
    await printOrExplain([summary], reason => `the summary could not be written (${reason}): ${summary}`);
    if (complete) return rejects.count > 0 ? 2 : 0;
    return 130;
  } catch (error) {
    progress.end();
    if (state.done > given.skip && summary === undefined)
      console.error(`catalog import: stopped early; ${formatResumeHint(given, state.done)}`);
    throw error;
  } finally {
    rejects.close();
    // Building indexes blocks the event loop, and the next start does it where it was not done.
    withdraw();
  }
}

/** If --skip leaves out more records than there are, the number or the file is wrong. */
const describeShortage = ({ fileName, skip }: ImportArguments, records: number): string =>
  `${fileName} has ${formatQuantity(records, 'record')}, and --skip skips the first ${formatCount(skip)}: nothing was imported`;

/** Mentions --skip only without a preset: a preset reads the whole file first and cannot skip. */
function formatResumeHint({ preset }: ImportArguments, done: number): string {
  const skipping =
    preset === undefined
      ? `, with --skip ${done} if records have no sku, no externalId and no variant sku`
      : '';
  return `${formatQuantity(done, 'record')} ${done === 1 ? 'is' : 'are'} done: run the same command again${skipping}`;
}

/** The first signal requests a stop; a second one ends the process at once. */
function createStopSignal(): Pick<OpenedFile, 'stop' | 'withdraw'> {
  const controller = new AbortController();
  const { first, second, withdraw } = listenForStop();
  void first.then(() => controller.abort());
  void second.then(signal => process.exit(128 + constants.signals[signal]));
  return { stop: controller.signal, withdraw };
}
