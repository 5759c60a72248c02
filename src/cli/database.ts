/** A command's database: opened by the settings, brought up to date, closed again whatever happens. */
import { type Config, loadConfig } from '../config.ts';
import type { Database } from '../storage/database.ts';
import { restoreIndexes } from '../storage/deferred-indexes.ts';
import { migrate } from '../storage/migrate.ts';
import { embeddedFile, openDatabase } from '../storage/open.ts';
import type { SqliteOptions } from '../storage/sqlite.ts';

/**
 * @throws ConfigError for a bad setting; StorageError when the database cannot be reached
 */
export async function withDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
  options: SqliteOptions = {},
): Promise<T> {
  const config = loadConfig(process.env);
  const database = openDatabase(config, options);
  try {
    await migrate(database, Date.now);
    return await work(database, config);
  } finally {
    await database.close();
  }
}

/**
 * Builds the indexes that an import which was killed has left unbuilt. Before serving and migrating, and not
 * in other commands: beside a running import they would build them too early.
 */
export function restoreIndexesOf(config: Config): void {
  if (config.DATABASE_URL === undefined) restoreIndexes(embeddedFile(config));
}
