/** A command's database: opened by the settings, refused where it is not a Catalog database of this release, closed whatever happens. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import type { Database } from '../storage/database.ts';
import { findReasonNotToServe, isCatalog } from '../storage/migrations/migrate.ts';
import { awaitDatabase, checkDataFolder, getEmbeddedFile, openDatabase } from '../storage/open.ts';
import { escapeUnprintable } from './terminal/printable.ts';

type Work<T> = (database: Database, config: Config) => Promise<T>;

/**
 * For commands that work with the catalog there is. They never migrate it: a service of the release before may be running
 * beside them, and would not be ready any more. That is for serve, migrate and import, which say so.
 * @throws ConfigError for a bad setting; StorageError when the database cannot be reached; Error when there is none, it
 * is not a Catalog database, or one that lacks migrations or is newer than this program
 */
export function runWithDatabase<T>(work: Work<T>): Promise<T> {
  return runWithCatalog(async (database, config) => {
    await requireMigrated(database);
    return work(database, config);
  });
}

/** The same with a catalog of whatever release. @throws as runWithDatabase, but for what depends on the release */
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

/** @throws Error with the one line that says what is to be done first */
export async function requireMigrated(database: Database): Promise<void> {
  const reason = await findReasonNotToServe(database);
  if (reason !== undefined) throw new Error(reason);
}

/** A slip in the folder or the settings must not become an empty catalog beside the real one. */
function requireDatabase(config: Config): void {
  if (config.DATABASE_URL !== undefined) return;
  if (existsSync(config.DATA_DIR)) checkDataFolder(config);
  const size = findEmbeddedSize(config);
  if (size === undefined) {
    throw new Error(
      `there is no database in ${resolve(config.DATA_DIR)} (DATA_DIR); set DATA_DIR or DATABASE_URL, or make one with catalog migrate`,
    );
  }
  if (size === 0) throw createNoCatalogError(config, 'is an empty file');
}

/**
 * Undefined where there is no file. SQLite takes an empty one for a new database, and removes a log that lies beside it.
 * @throws ConfigError when DATA_DIR lies below a file, or may not be entered
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
        `${resolve(getEmbeddedFile(config))} is not a Catalog database: it ${reason}; put a backup in its place with catalog restore, or make it a new catalog with catalog migrate`,
      )
    : new Error(
        `the database of DATABASE_URL is not a Catalog database: it ${reason}; restore a dump, or make it a new catalog with catalog migrate`,
      );
}

/** How long the start waits for a database that cannot be reached yet, in milliseconds. */
const patience = 30_000;

/** Waits for a database that starts at the same time, and says so. @throws StorageError when it stays away */
export function awaitAtStart(database: Database): Promise<void> {
  return awaitDatabase(database, patience, reason =>
    console.error(`catalog: ${escapeUnprintable(reason)}; trying again for ${patience / 1000} seconds`),
  );
}

/** A line for each migration of a database that is in use: some take minutes. */
export function reportMigration(name: string): void {
  console.error(`catalog: migrating ${name}`);
}
