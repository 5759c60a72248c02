/**
 * Whether anything has been committed to an SQLite database since the last look, by any process.
 *
 * `PRAGMA data_version` tells it too, for 3 microseconds with the transaction that it needs. What that compares is
 * the header of the wal-index, which all connections share as mapped memory (https://sqlite.org/walformat.html,
 * "The WAL-Index Header"): looked at directly it costs nanoseconds (docs/decisions/0018).
 */
import type { Connected } from './sqlite-connection.ts';

export interface CommitState {
  /** A number that is another than all before when something has been committed since. */
  current(): number;
}

/** Those 32-bit words of the header that a commit, or the log's beginning anew, changes. */
const changeCounter = 2;
const lastFrame = 4;
const salt = 8;
const checksum = 10;
const headerWords = 12;

/**
 * @param connected for as long as it is open, the wal-index stays the one that is there now
 * @param changed called before a new number is given: what is read afterwards must be at least as new as that
 */
export function commitState(connected: Connected, file: string, changed: () => void): CommitState {
  // The wal-index is there once something has been read.
  connected.execute('select 1 from sqlite_schema');
  const mapped = Bun.mmap(`${file}-shm`, { shared: true });
  const header = new Uint32Array(mapped.buffer, mapped.byteOffset, headerWords);
  const word = (index: number): number => header[index] ?? 0;
  let state = 0;
  let [counter, frame, salt0, salt1, sum0, sum1] = [0, 0, 0, 0, 0, 0];

  // A commit writes these words last of all, one by one, after the header's second copy. Whoever sees some of
  // them sees a change, and SQLite's own reading waits until both copies agree; whoever sees none is before it.
  return {
    current() {
      const same =
        word(checksum) === sum0 &&
        word(checksum + 1) === sum1 &&
        word(lastFrame) === frame &&
        word(changeCounter) === counter &&
        word(salt) === salt0 &&
        word(salt + 1) === salt1;
      if (same) return state;
      counter = word(changeCounter);
      frame = word(lastFrame);
      salt0 = word(salt);
      salt1 = word(salt + 1);
      sum0 = word(checksum);
      sum1 = word(checksum + 1);
      state += 1;
      changed();
      return state;
    },
  };
}
