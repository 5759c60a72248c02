/** Opens and closes the database for a command; refuses one that is not a Catalog database of this release. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import type { Database } from '../storage/database.ts';
import { describeRest, findReasonNotToServe, isCatalog, migrate } from '../storage/migrations/migrate.ts';
import {
  awaitDatabase,
  checkDataFolder,
  finishBulkLoad,
  getEmbeddedFile,
  openDatabase,
} from '../storage/open.ts';
import { escapeUnprintable } from './terminal/index.ts';

type Work<T> = (database: Database, config: Config) => Promise<T>;

/**
 * For commands that work with an existing catalog. They never migrate it: a service of the previous release may be
 * running beside them, and would no longer be ready. Only serve, migrate and import migrate, as their help says.
 * @throws ConfigError for a bad setting; StorageError when the database cannot be reached; Error when there is no
 * database, or it is not a Catalog database, lacks migrations, or is newer than this program
 */
export function runWithDatabase<T>(work: Work<T>): Promise<T> {
  return runWithCatalog(async (database, config) => {
    await requireMigrated(database);
    return work(database, config);
  });
}

/** Like runWithDatabase, for a catalog of any release: missing or newer migrations are no error. */
export async function runWithCatalog<T>(work: Work<T>): Promise<T> {
  const config = loadConfig(process.env);
  requireDatabase(config);
  const database = openDatabase(config);
  try {
    if (!(await isCatalog(database))) throw createNoCatalogError(config, 'has no table of migrations');
    return await work(database, config);
  } finally {
    await database.close();
  }
}

/** @throws Error with one line that says what must be done first */
export async function requireMigrated(database: Database): Promise<void> {
  const reason = await findReasonNotToServe(database);
  if (reason !== undefined) throw new Error(reason);
}

/** A wrong folder or setting must not create an empty catalog beside the real one. */
function requireDatabase(config: Config): void {
  if (config.DATABASE_URL !== undefined) return;
  if (existsSync(config.DATA_DIR)) checkDataFolder(config);
  const size = findEmbeddedSize(config);
  if (size === undefined)
    throw new Error(
      `there is no database in ${resolve(config.DATA_DIR)} (DATA_DIR); set DATA_DIR or DATABASE_URL, or create one with catalog migrate`,
    );
  if (size === 0) throw createNoCatalogError(config, 'is an empty file');
}

/**
 * Undefined if there is no file. SQLite treats an empty file as a new database, and removes a log that lies beside it.
 * @throws ConfigError when DATA_DIR lies below a file, or access to it is denied
 */
export function findEmbeddedSize(config: Config): number | undefined {
  try {
    return statSync(getEmbeddedFile(config), { throwIfNoEntry: false })?.size;
  } catch (error) {
    checkDataFolder(config);
    throw error;
  }
}

function createNoCatalogError(config: Config, reason: string): Error {
  return config.DATABASE_URL === undefined
    ? new Error(
        `${resolve(getEmbeddedFile(config))} is not a Catalog database: it ${reason}; restore a backup with catalog restore, or create a new catalog in it with catalog migrate`,
      )
    : new Error(
        `the database of DATABASE_URL is not a Catalog database: it ${reason}; restore a dump, or create a new catalog in it with catalog migrate`,
      );
}

/** How long to wait at startup for a database that cannot be reached yet, in milliseconds. */
const patience = 30_000;

/** Waits for a database that is still starting, and reports that. @throws StorageError when it stays unreachable */
export function awaitAtStart(database: Database): Promise<void> {
  return awaitDatabase(database, patience, reason =>
    console.error(`catalog: ${escapeUnprintable(reason)}; retrying for ${patience / 1000} seconds`),
  );
}

/**
 * Waits for the database, finishes a load that ended early, and runs pending migrations.
 * @param report called as each migration of a database that is in use begins: some take minutes
 * @returns the migrations that ran, how many indexes of a load were built, and what remains to be done by the operator,
 *   if anything
 */
export async function migrateAtStart(database: Database, config: Config, report: (name: string) => void) {
  await awaitAtStart(database);
  const built = await finishBulkLoad(database, config);
  const begun: string[] = [];
  const ran = await migrate(database, Date.now, name => {
    begun.push(name);
    report(name);
  });
  return { ran, built, rest: describeRest(begun, database) };
}

/** Prints a line for each migration of a database that is in use: some take minutes. */
export function reportMigration(name: string): void {
  console.error(`catalog: migrating ${name}`);
}
