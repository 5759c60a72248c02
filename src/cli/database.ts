/** A command's database: opened by the settings, brought up to date, closed again whatever happens. */
import { join } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import { openDatabase } from '../service.ts';
import type { Database } from '../storage/database.ts';
import { restoreIndexes } from '../storage/deferred-indexes.ts';
import { migrate } from '../storage/migrate.ts';

/**
 * @throws ConfigError for a bad setting; StorageError when the database cannot be reached
 */
export async function withDatabase<T>(work: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env);
  const database = openDatabase(config);
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
export function restoreIndexesOf({ DATABASE_URL, DATA_DIR }: Config): void {
  if (DATABASE_URL === undefined) restoreIndexes(join(DATA_DIR, 'catalog.db'));
}
