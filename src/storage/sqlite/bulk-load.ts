/**
 * Loads very many rows into an SQLite file. If no other process has the file open, the load goes without the log and
 * without secondary indexes; otherwise it takes turns with the others (docs/decisions/0017, docs/decisions/0019).
 */
import type { BulkLoad, BulkLoadEnd } from '../database.ts';
import { runTranslated } from './connection.ts';
import { deferIndexes, restoreIndexes } from './deferred-indexes.ts';
import { openSqlite } from './index.ts';
import { leaveLog } from './journal-mode.ts';

/**
 * The length of a transaction: short, so that the writes of a running service get their turn; longer if none runs,
 * since each COMMIT has a cost and leaves a piece of the search index.
 */
const [sharedMs, aloneMs] = [80, 500];
/** The pause after each transaction, in which other processes can write: they try every few milliseconds. */
const turnMs = 6;
/** How often there is a pause while no other process has the file, for a process that starts during the load. */
const turnEveryMs = 1000;
/** In seconds: no client waits for the load, and another load may hold the file for a long time on a slow machine. */
const patience = 600;
/** With this many new rows, and a tenth of the existing number, rebuilding indexes costs less than updating them. */
const manyAdded = 5000;

/**
 * A running service needs its indexes, so they are dropped only if no other process has the file open. A service that
 * starts during the load builds them, and the load continues with them.
 * @param tables whose indexes are dropped
 */
export function loadSqlite(file: string, tables: readonly string[]): BulkLoad {
  // Builds the indexes that a killed load left unbuilt. Both calls come before the database is opened, since its
  // connections would count as those of others.
  const alone = runTranslated(file, () => {
    restoreIndexes(file);
    return leaveLog(file);
  });
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
      runTranslated(file, () => deferIndexes(file, tables));
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
  // Frees what the load has left on the heap before sorting needs memory.
  Bun.gc(true);
  const indexes = runTranslated(file, () => restoreIndexes(file, alone));
  return { indexes, milliseconds: performance.now() - started };
}

/** Restores the log. If that fails, the next process that opens the file does it. @returns the error */
function tryRestoreIndexes(file: string): unknown {
  try {
    runTranslated(file, () => restoreIndexes(file, true));
    return undefined;
  } catch (error) {
    return error;
  }
}
