/**
 * Whether anything has been committed to an SQLite database since the last check, by any process.
 *
 * `PRAGMA data_version` says so, and takes 3 microseconds with the transaction that it needs. It compares the header of
 * the wal-index (https://sqlite.org/walformat.html, "The WAL-Index Header"), and to read that directly takes a quarter of
 * a microsecond (docs/decisions/0016).
 */
import { existsSync, readdirSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import type { Connected } from './connected.ts';

export interface CommitState {
  /** A number that is another than all before when something has been committed since. */
  current(): number;
}

/**
 * @param connected for as long as it is open, the wal-index stays the one that is there now
 * @param changed called before a new number is given: what is read afterwards must be at least as new as that
 */
export function createCommitState(connected: Connected, file: string, changed: () => void): CommitState {
  const descriptor = findWalIndex(connected, file);
  return descriptor === undefined
    ? createQueriedState(connected, changed)
    : createMappedState(descriptor, changed);
}

/**
 * The descriptor by which SQLite itself has the wal-index open; undefined where the system does not say. One of
 * our own would be dangerous: closing it cancels all locks that this process holds on the file, SQLite's among
 * them (https://sqlite.org/howtocorrupt.html, "Posix advisory locks canceled").
 */
function findWalIndex(connected: Connected, file: string): number | undefined {
  // The wal-index is open once something has been read.
  connected.execute('select 1 from sqlite_schema');
  // A database in memory has none.
  if (!existsSync(`${file}-shm`)) return undefined;
  const name = `${realpathSync(file)}-shm`;
  const found = readOpenDescriptors().find(descriptor => readTarget(descriptor) === name);
  return found === undefined ? undefined : Number(found);
}

const descriptors = '/proc/self/fd';

function readOpenDescriptors(): readonly string[] {
  try {
    return readdirSync(descriptors);
  } catch {
    return [];
  }
}

function readTarget(descriptor: string): string | undefined {
  try {
    return readlinkSync(`${descriptors}/${descriptor}`);
  } catch {
    // Closed since the list was made, as the one that the list was read by.
    return undefined;
  }
}

/** Those 32-bit words of the header that a commit, or the log's beginning again, changes. */
const changeCounter = 2;
const lastFrame = 4;
const salt = 8;
const checksum = 10;
const headerWords = 12;

function createMappedState(descriptor: number, changed: () => void): CommitState {
  const header = new Uint32Array(headerWords);
  const bytes = new Uint8Array(header.buffer);
  const getWord = (index: number): number => header[index] ?? 0;
  let state = 0;
  let [counter, frame, salt0, salt1, sum0, sum1] = [0, 0, 0, 0, 0, 0];

  // A commit writes these words last of all, one by one, after the header's second copy. Anyone who sees some of
  // them sees a change, and SQLite's own reading waits until both copies agree; anyone who sees none is before it.
  return {
    current() {
      readSync(descriptor, bytes, 0, bytes.length, 0);
      const same =
        getWord(checksum) === sum0 &&
        getWord(checksum + 1) === sum1 &&
        getWord(lastFrame) === frame &&
        getWord(changeCounter) === counter &&
        getWord(salt) === salt0 &&
        getWord(salt + 1) === salt1;
      if (same) return state;
      counter = getWord(changeCounter);
      frame = getWord(lastFrame);
      salt0 = getWord(salt);
      salt1 = getWord(salt + 1);
      sum0 = getWord(checksum);
      sum1 = getWord(checksum + 1);
      state += 1;
      changed();
      return state;
    },
  };
}

/** By SQLite's own means, which work everywhere. */
export function createQueriedState({ connection }: Connected, changed: () => void): CommitState {
  const dataVersion = connection.query<{ data_version: number }, []>('PRAGMA data_version');
  let state = 0;
  return {
    current() {
      // Inside a transaction a connection does not see what others have committed since it began.
      changed();
      state = dataVersion.get()?.data_version ?? state + 1;
      return state;
    },
  };
}
