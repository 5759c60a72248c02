/** Opens the database that the settings name. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import { getErrorCode } from '../error-text.ts';
import { type BulkLoad, type Database, StorageError } from './database.ts';
import { restoreIndexes as restorePostgresIndexes } from './postgres/bulk/deferred-indexes.ts';
import { loadPostgres } from './postgres/bulk/load.ts';
import { openPostgres, type PostgresOptions } from './postgres/index.ts';
import { loadSqlite } from './sqlite/bulk-load.ts';
import { restoreIndexes } from './sqlite/deferred-indexes.ts';
import { attemptCreation } from './sqlite/files/write-failure.ts';
import { openSqlite, type SqliteOptions } from './sqlite/index.ts';

/**
 * PostgreSQL at DATABASE_URL, or else the embedded database in DATA_DIR, which is created when it does not exist.
 * @param options for the embedded database
 * @throws ConfigError when DATA_DIR cannot hold a database
 */
export function openDatabase(config: Config, options: SqliteOptions = {}): Database {
  if (config.DATABASE_URL !== undefined) return openPostgres(toPostgresOptions(config, config.DATABASE_URL));
  checkDataFolder(config);
  return openSqlite(getEmbeddedFile(config), options);
}

const toPostgresOptions = (config: Config, url: string): PostgresOptions => ({
  url,
  application: 'catalog',
  poolSize: config.DATABASE_POOL,
  timeout: config.DATABASE_TIMEOUT,
  lockTimeout: config.DATABASE_LOCK_TIMEOUT,
  migrationTimeout: config.MIGRATION_TIMEOUT,
  pooler: config.DATABASE_POOLER,
});

/**
 * Opens the database to add very many rows to these tables; an embedded one is created when it does not exist.
 * @throws ConfigError when DATA_DIR cannot hold a database
 */
export function openBulkLoad(config: Config, tables: readonly string[]): BulkLoad {
  if (config.DATABASE_URL === undefined) {
    checkDataFolder(config);
    return loadSqlite(getEmbeddedFile(config), tables);
  }
  return loadPostgres(toPostgresOptions(config, config.DATABASE_URL), tables);
}

/**
 * Builds the indexes that a running or killed load has dropped. Only serving and migrating call this: other commands
 * may run during a load, and would build the indexes too early.
 * @param database is open already: a load looks for other users of the database before it drops indexes
 * @returns how many indexes were built
 */
export const finishBulkLoad = async (database: Database, config: Config): Promise<number> =>
  database.dialect.name === 'postgresql'
    ? restorePostgresIndexes(database)
    : restoreIndexes(getEmbeddedFile(config));

export const getEmbeddedFile = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string =>
  join(DATA_DIR, 'catalog.db');

/**
 * Creates DATA_DIR when it is missing.
 * @returns the uppermost folder that was created; undefined when DATA_DIR existed
 * @throws ConfigError naming the path that is not a folder, or that this process cannot write to
 */
export function checkDataFolder({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string | undefined {
  const folder = resolve(DATA_DIR);
  let made: string | undefined;
  try {
    made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      throw new ConfigError(`DATA_DIR: ${folder} is not a folder, or lies below a file; name a folder`);
    }
    throw new ConfigError(
      `DATA_DIR: the folder ${folder} cannot be created (${code ?? error}); create it, or name another`,
    );
  }
  checkWritable(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  const file = join(folder, 'catalog.db');
  if (!existsSync(file)) {
    checkCreation(folder);
    return made;
  }
  if (!statSync(file).isFile())
    throw new ConfigError(`DATA_DIR: ${file} is not a file; move it away, or name another folder`);
  checkWritable(file, constants.R_OK | constants.W_OK);
  return made;
}

/** Creates a file, since permissions do not show everything: in folders such as /proc not even root can create one. */
function checkCreation(folder: string): void {
  const code = attemptCreation(folder);
  if (code === undefined || code === 'ENOSPC' || code === 'EDQUOT') return;
  throw new ConfigError(`DATA_DIR: no file can be created in ${folder} (${code}); name another folder`);
}

function checkWritable(path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'EROFS') {
      throw new ConfigError(
        `DATA_DIR: ${path} is on a file system that is read-only (EROFS); mount it for writing, or name another folder`,
      );
    }
    throw new ConfigError(
      `DATA_DIR: ${path} cannot be read and written by this process (${code ?? error}); change its owner or mode`,
    );
  }
}

const againMs = 500;

/**
 * Resolves when the database responds and takes writes.
 * @param patience milliseconds for which an unavailable or read-only database is tried again
 * @param onWait called once, before the first pause
 * @throws StorageError `unavailable` or `read-only`, naming the server, when `patience` is over
 */
export async function awaitDatabase(
  database: Database,
  patience: number,
  onWait: (reason: string) => void,
): Promise<void> {
  const deadline = performance.now() + patience;
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.ping();
    } catch (error) {
      const away =
        error instanceof StorageError && (error.kind === 'unavailable' || error.kind === 'read-only');
      if (!away || performance.now() + againMs > deadline) throw error;
      if (attempt === 1) onWait(error.message);
      await Bun.sleep(againMs);
    }
  }
}

export { findMissingRights } from './postgres/checks.ts';
export { isMissingRight } from './postgres/errors.ts';
