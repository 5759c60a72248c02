/** Loads very many rows into PostgreSQL: without secondary indexes, where it was empty and has no other connections. */
import { randomUUID } from 'node:crypto';
import type { BulkLoad } from '../../database.ts';
import { openPostgres, type PostgresOptions } from '../index.ts';
import { deferIndexes, isDeferred, restoreIndexes } from './deferred-indexes.ts';

/** New rows from which on building the indexes costs less than keeping them. */
const manyAdded = 5000;
/** The index of words takes as long as all others together. */
const always = ['search_index'];

/**
 * A service that starts during the load builds the indexes itself, and the load goes on with them. One that follows
 * another which was killed goes on without them.
 * @param tables whose indexes are dropped
 */
export function loadPostgres(
  options: Omit<PostgresOptions, 'application'>,
  tables: readonly string[],
): BulkLoad {
  const application = `catalog load ${randomUUID()}`;
  const patience = options.migrationTimeout;
  // A load waits while a service that has started builds an index.
  const database = openPostgres({ ...options, application, timeout: patience, lockTimeout: patience });
  let deferred: boolean | undefined;
  let decided = false;
  return {
    database,
    transactionMs: () => 500,
    write: work => database.write(work),
    async added(rows, existing) {
      deferred ??= await isDeferred(database);
      if (deferred || decided || existing > 0 || rows < manyAdded) return;
      decided = true;
      // A user that does not own the indexes keeps them; a database that is away fails the next transaction.
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
