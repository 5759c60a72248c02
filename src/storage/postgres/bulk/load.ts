/** Loads very many rows into PostgreSQL, without secondary indexes if it was empty and has no other connections. */
import { randomUUID } from 'node:crypto';
import type { BulkLoad } from '../../database.ts';
import { openPostgres, type PostgresOptions } from '../index.ts';
import { deferIndexes, isDeferred, restoreIndexes } from './deferred-indexes.ts';

/** With at least this many new rows, rebuilding the indexes costs less than updating them. */
const manyAdded = 5000;
/** Also dropped: the search index takes as long as all other indexes together. */
const always = ['search_index'];

/**
 * If a service starts during the load, it builds the indexes, and the load continues with them. A load that follows a
 * killed load continues without them.
 * @param tables whose indexes are dropped
 */
export function loadPostgres(
  options: Omit<PostgresOptions, 'application'>,
  tables: readonly string[],
): BulkLoad {
  const application = `catalog load ${randomUUID()}`;
  const patience = options.migrationTimeout;
  // The load waits while a service that was started builds an index.
  const database = openPostgres({ ...options, application, timeout: patience, lockTimeout: patience });
  let deferred: boolean | undefined;
  let decided = false;
  return {
    database,
    transactionMs: 500,
    write: work => database.write(work),
    async added(rows, existing) {
      deferred ??= await isDeferred(database);
      if (deferred || decided || existing > 0 || rows < manyAdded) return;
      decided = true;
      // A user that does not own the indexes cannot drop them; if the database is unavailable, the next write fails.
      deferred = await deferIndexes(database, [...tables, ...always], application).catch(() => false);
    },
    async close() {
      const started = performance.now();
      try {
        if (deferred !== true) return { indexes: 0, milliseconds: 0 };
        const indexes = await restoreIndexes(database);
        return { indexes, milliseconds: performance.now() - started };
      } catch (problem) {
        return { indexes: 0, milliseconds: 0, problem };
      } finally {
        await database.close();
      }
    },
  };
}
