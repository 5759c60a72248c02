/**
 * The journal mode of SQLite. Connections usually request the write-ahead log, which lets others read while one writes,
 * but writes each page twice. A process that has the file to itself for some time can change to the rollback journal,
 * which only keeps the former content of pages: a new page is written directly to the file (docs/decisions/0019).
 */
import { Database as Connection, SQLiteError } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { StorageError } from '../database.ts';

/** Often enough to hit the pauses of an import that has the file to itself: see bulk-load.ts. */
const askEveryMs = 2;
const limitMs = 10_000;

/** The reason why SQLite returns another mode: https://sqlite.org/wal.html, "Overview", disadvantage 2. */
const noLog =
  'The database is on a file system without shared memory, such as a network share: DATA_DIR must be on a local disk.';

/**
 * Switches the database to a write-ahead log; one in memory has none.
 * @throws StorageError `unavailable` when another process holds the file too long, or the file system allows no log
 */
export function useLog(connection: Connection): void {
  const started = performance.now();
  for (;;) {
    const mode = setJournal(connection, 'WAL');
    if (mode === 'wal' || mode === 'memory') return;
    if (mode !== undefined) throw new StorageError('unavailable', noLog);
    if (performance.now() - started > limitMs) {
      throw new StorageError(
        'unavailable',
        `Another process has locked the database for ${limitMs / 1000} s.`,
      );
    }
    Bun.sleepSync(askEveryMs);
  }
}

/**
 * Switches the database to the rollback journal until a process needs the log. SQLite allows that to a sole user only.
 * @returns whether no other connection has the file open
 */
export function leaveLog(file: string): boolean {
  if (!existsSync(file)) return true;
  const connection = new Connection(file, { readwrite: true, strict: true });
  try {
    return setJournal(connection, 'DELETE') === 'delete';
  } finally {
    connection.close();
  }
}

/** Whether the connection's last transaction found the log in use. */
export function isLogInUse(connection: Connection): boolean {
  return readMode(connection, 'PRAGMA journal_mode') === 'wal';
}

/** @returns the mode that the database now has; undefined when another connection is in the way */
function setJournal(connection: Connection, mode: 'WAL' | 'DELETE'): string | undefined {
  try {
    return readMode(connection, `PRAGMA journal_mode = ${mode}`);
  } catch (error) {
    if (error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true) return undefined;
    throw error;
  }
}

function readMode(connection: Connection, pragma: string): string | undefined {
  const statement = connection.prepare<{ journal_mode: string }, []>(pragma);
  try {
    return statement.get()?.journal_mode;
  } finally {
    statement.finalize();
  }
}
