/**
 * Loads very many rows into an SQLite file, in turns with other processes. If none has the file open, the load goes
 * without secondary indexes (docs/decisions/0017, docs/decisions/0019).
 */
import { sql } from 'kysely';
import type { BulkLoad } from '../database.ts';
import { runTranslated } from './connection.ts';
import { deferIndexes, prepareLoad, restoreIndexes, turnMs } from './deferred-indexes.ts';
import { openSqlite } from './index.ts';

/** The length of a transaction: short, so that the writes of a running service get their turn. */
const transactionMs = 80;
/** In seconds: no client waits for the load, and another load may hold the file for a long time on a slow machine. */
const patience = 600;
/** With this many new rows, and a tenth of the existing number, rebuilding indexes costs less than updating them. */
const manyAdded = 5000;

/**
 * A service that starts during the load builds the indexes, and the load continues with them.
 * @param tables whose indexes are dropped
 */
export function loadSqlite(file: string, tables: readonly string[]): BulkLoad {
  const isAlone = runTranslated(file, () => prepareLoad(file));
  let isDeferred = false;
  let isDecided = !isAlone;
  const database = openSqlite(file, { patience, mergesPieces: () => !isDeferred });
  const isNoted = sql<{ isNoted: number }>`select exists (
    select 1 from sqlite_master where name = 'deferred_indexes') as "isNoted"`.compile(database.build);
  let lastEnd = performance.now();

  return {
    database,
    transactionMs,
    async write(work) {
      const rest = lastEnd + turnMs - performance.now();
      if (rest > 0) await Bun.sleep(rest);
      try {
        return await database.write(work);
      } finally {
        lastEnd = performance.now();
      }
    },
    async added(rows, existing) {
      if (isDeferred) isDeferred = (await database.read.first(isNoted))?.isNoted === 1;
      if (isDecided || rows < Math.max(manyAdded, existing / 10)) return;
      isDecided = true;
      isDeferred = deferIndexes(file, tables);
    },
    async close() {
      await database.close();
      // Another load that has dropped indexes builds them when it ends.
      if (!isAlone) return { indexes: 0, milliseconds: 0 };
      const started = performance.now();
      // Frees what the load has left on the heap before sorting needs memory.
      if (isDeferred) Bun.gc(true);
      try {
        const indexes = restoreIndexes(file);
        return { indexes, milliseconds: performance.now() - started };
      } catch (problem) {
        return { indexes: 0, milliseconds: 0, problem };
      }
    },
  };
}
