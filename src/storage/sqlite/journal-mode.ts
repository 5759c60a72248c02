/**
 * The journal mode of SQLite: the write-ahead log, which lets others read while one writes. Only a process that has the
 * file to itself can leave the log, which shows whether a file is in use.
 */
import { Database as Connection, SQLiteError } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { StorageError } from '../database.ts';

/** Often enough to hit the pauses between the transactions of an import: see bulk-load.ts. */
const retryMs = 2;
/** In seconds: clients may wait. */
const shortPatience = 10;

/** The reason why SQLite returns another mode: https://sqlite.org/wal.html, "Overview", disadvantage 2. */
const noLog =
  'The database is on a file system without shared memory, such as a network share: DATA_DIR must be on a local disk.';

/**
 * Switches the database to a write-ahead log; one in memory has none.
 * @throws StorageError `unavailable` when another process holds the file too long, or the file system allows no log
 */
export function useLog(connection: Connection): void {
  const mode = runWhenFree(() => setJournal(connection, 'WAL'));
  if (mode !== 'wal' && mode !== 'memory') throw new StorageError('unavailable', noLog);
}

/**
 * Runs work again and again until no other process is in the way. Blocks its thread.
 * @param patience seconds for which it tries
 * @throws StorageError `unavailable` when another process holds the file too long
 */
export function runWhenFree<Result>(work: () => Result, patience = shortPatience): Result {
  const started = performance.now();
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() - started > patience * 1000)
        throw new StorageError('unavailable', `Another process has locked the database for ${patience} s.`);
    }
    Bun.sleepSync(retryMs);
  }
}

/**
 * Whether no connection has the file open; the next one that opens it uses the log again.
 * @throws SQLiteError for a file that is no database
 */
export function isUnused(file: string): boolean {
  if (!existsSync(file)) return true;
  using connection = new Connection(file, { readwrite: true, strict: true });
  try {
    return setJournal(connection, 'DELETE') === 'delete';
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true;

/** @returns the mode that the database now has */
function setJournal(connection: Connection, mode: 'WAL' | 'DELETE'): string | undefined {
  const statement = connection.prepare<{ journal_mode: string }, []>(`PRAGMA journal_mode = ${mode}`);
  try {
    return statement.get()?.journal_mode;
  } finally {
    statement.finalize();
  }
}
