/**
 * Detects whether any process has committed to an SQLite database since the last check.
 *
 * `PRAGMA data_version` shows that, but takes 3 microseconds with the transaction that it needs. It compares the header
 * of the wal-index (https://sqlite.org/walformat.html, "The WAL-Index Header"); reading that directly takes a quarter
 * of a microsecond (docs/decisions/0016).
 */
import { existsSync, readSync, realpathSync } from 'node:fs';
import type { Connected } from './connected.ts';
import { findDescriptor } from './files/descriptors.ts';

/** Returns a number that differs from all former ones if anything was committed since the last call. */
export type CommitState = () => number;

/**
 * @param connected while it is open, the wal-index stays the same file
 * @param changed called before a new number is returned, so that later reads see a state at least as new
 */
export function createCommitState(connected: Connected, file: string, changed: () => void): CommitState {
  const descriptor = findWalIndex(connected, file);
  return descriptor === undefined
    ? createQueriedState(connected, changed)
    : createMappedState(descriptor, changed);
}

/**
 * The descriptor with which SQLite itself has the wal-index open; undefined where /proc does not show it. A second
 * descriptor would be dangerous: closing it cancels all locks that this process holds on the file, including SQLite's
 * (https://sqlite.org/howtocorrupt.html, "Posix advisory locks canceled").
 */
function findWalIndex(connected: Connected, file: string): number | undefined {
  // SQLite opens the wal-index with the first read.
  connected.execute('select 1 from sqlite_schema');
  // A database in memory has none.
  if (!existsSync(`${file}-shm`)) return undefined;
  const found = findDescriptor('self', `${realpathSync(file)}-shm`);
  return found === undefined ? undefined : Number(found);
}

/** The size of the first copy of the header. */
const headerBytes = 48;

function createMappedState(descriptor: number, changed: () => void): CommitState {
  const [header, seen] = [Buffer.alloc(headerBytes), Buffer.alloc(headerBytes)];
  let state = 0;

  // A commit writes this copy last, word by word, after the second one. A reader that sees some of the words sees a
  // change, and SQLite's own read then waits until both copies agree. One that sees none precedes the commit.
  return () => {
    readSync(descriptor, header, 0, headerBytes, 0);
    if (header.equals(seen)) return state;
    header.copy(seen);
    state += 1;
    changed();
    return state;
  };
}

/** Uses `PRAGMA data_version`, which works on every system. */
export function createQueriedState({ connection }: Connected, changed: () => void): CommitState {
  const dataVersion = connection.query<{ data_version: number }, []>('PRAGMA data_version');
  let state = 0;
  return () => {
    // In a transaction, a connection does not see later commits of others: `changed` ends it.
    changed();
    state = dataVersion.get()?.data_version ?? state + 1;
    return state;
  };
}
