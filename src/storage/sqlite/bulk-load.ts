/**
 * Very many rows into an SQLite file: without the log and without its secondary indexes where no other process has the
 * file open, in turns with the others where one has (docs/decisions/0017, docs/decisions/0019).
 */
import type { BulkLoad, BulkLoadEnd } from '../database.ts';
import { deferIndexes, restoreIndexes } from './deferred-indexes.ts';
import { openSqlite } from './index.ts';
import { leaveLog } from './journal-mode.ts';

/**
 * How long a transaction is: short, so that the writes of a running service get their turn; longer where none runs, since
 * each COMMIT costs something and leaves a piece of the search index.
 */
const [sharedMs, aloneMs] = [80, 500];
/** So long the file is left to others after each transaction: they try to write every few milliseconds. */
const turnMs = 6;
/** How often a process that starts meanwhile gets a turn, when no other had the file. */
const turnEveryMs = 1000;
/** In seconds: nothing waits for the load itself, and another load may hold the file for long on a slow machine. */
const patience = 600;
/** New rows from which on building the indexes again costs less than keeping them, if also a tenth of all. */
const manyAdded = 5000;

/**
 * A running service needs its indexes: they are dropped only where no other process has the file open. A service that
 * starts during the load builds them itself, and the load goes on with them.
 * @param tables whose indexes are dropped
 */
export function loadSqlite(file: string, tables: readonly string[]): BulkLoad {
  // What a load that was killed has left unbuilt. Both before the database is opened: its own connections would
  // count as others.
  restoreIndexes(file);
  const alone = leaveLog(file);
  const database = openSqlite(file, { alone, patience });
  let deferred = false;
  let lastEnd = performance.now();
  let lastTurn = lastEnd;

  async function leaveTurn(): Promise<void> {
    if (!database.hasWriteContention() && performance.now() - lastTurn < turnEveryMs) return;
    const rest = lastEnd + turnMs - performance.now();
    if (rest > 0) await Bun.sleep(rest);
    lastTurn = performance.now();
  }

  return {
    database,
    transactionMs: () => (database.hasWriteContention() ? sharedMs : aloneMs),
    async write(work) {
      await leaveTurn();
      try {
        return await database.write(work);
      } finally {
        lastEnd = performance.now();
      }
    },
    async added(rows, existing) {
      if (deferred || !alone || rows < Math.max(manyAdded, existing / 10)) return;
      deferIndexes(file, tables);
      deferred = true;
    },
    async close() {
      await database.close();
      if (deferred) return buildIndexes(file, alone);
      return alone
        ? { indexes: 0, milliseconds: 0, problem: tryRestoreIndexes(file) }
        : { indexes: 0, milliseconds: 0 };
    },
  };
}

function buildIndexes(file: string, alone: boolean): BulkLoadEnd {
  const started = performance.now();
  // What the load has left on the heap is given back before sorting takes its share.
  Bun.gc(true);
  const indexes = restoreIndexes(file, alone);
  return { indexes, milliseconds: performance.now() - started };
}

/** Takes the log up again. Should that fail, the process that opens the file next does it. */
function tryRestoreIndexes(file: string): unknown {
  try {
    restoreIndexes(file, true);
    return undefined;
  } catch (error) {
    return error;
  }
}
