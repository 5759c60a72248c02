/** The database that the settings name. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Database } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite, type SqliteOptions } from './sqlite.ts';

/** PostgreSQL at DATABASE_URL, else the embedded one in DATA_DIR, for which the options are. */
export function openDatabase(config: Config, options: SqliteOptions = {}): Database {
  return config.DATABASE_URL === undefined
    ? openSqlite(embeddedFile(config), options)
    : openPostgres(config.DATABASE_URL, config.DATABASE_POOL, config.DATABASE_TIMEOUT);
}

export const embeddedFile = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string => join(DATA_DIR, 'catalog.db');
