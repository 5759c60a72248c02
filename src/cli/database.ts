/** A command's database: opened by the settings, brought up to date, closed again whatever happens. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import type { Database } from '../storage/database.ts';
import { migrate } from '../storage/migrations/migrate.ts';
import { awaitDatabase, checkDataFolder, getEmbeddedFile, openDatabase } from '../storage/open.ts';
import { escapeUnprintable } from './terminal/printable.ts';

/**
 * @throws ConfigError for a bad setting; StorageError when the database cannot be reached; Error when there is no
 * embedded one
 */
export async function runWithDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadConfig(process.env);
  requireDatabase(config);
  const database = openDatabase(config);
  try {
    await migrate(database, Date.now);
    return await work(database, config);
  } finally {
    await database.close();
  }
}

/** A slip in the folder or the settings must not become an empty catalog beside the real one. */
export function requireDatabase(config: Config): void {
  if (config.DATABASE_URL !== undefined) return;
  if (existsSync(config.DATA_DIR)) checkDataFolder(config);
  if (existsSync(getEmbeddedFile(config))) return;
  throw new Error(
    `there is no database in ${resolve(config.DATA_DIR)} (DATA_DIR); set DATA_DIR or DATABASE_URL, or make one with catalog migrate`,
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
