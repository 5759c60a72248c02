/**
 * Checks that an SQLite database is still at the path where it was opened. If its file is removed or replaced while it
 * is open, everything seems to work, but all writes are lost (https://sqlite.org/howtocorrupt.html, section 4).
 */
import { constants } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { getErrorCode, getErrorMessage } from '../../../error-text.ts';
import { StorageError } from '../../database.ts';
import type { Connected } from '../connected.ts';

/** Called with false when the file is found to be gone, and with true when it is back. */
export type InPlaceListener = (inPlace: boolean) => void;

export type FileIdentity = ReturnType<typeof createFileIdentity>;

/** Milliseconds between checks of the log while it is in its place. */
const logEvery = 1000;
/** The size of the buffer that bun:sqlite needs for the result of a file control, in 32-bit words. */
const resultWords = 2;

export function createFileIdentity(
  { connection }: Connected,
  file: string,
  listener: InPlaceListener = () => undefined,
) {
  const result = new Int32Array(resultWords);
  const logFile = `${file}-wal`;
  let known: string | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let logIsOther = false;
  let wasInPlace = true;

  /** SQLite compares the inode of its descriptor with that of the path; a database in memory never moves. */
  function isOtherFile(): boolean {
    result[0] = 0;
    connection.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, result);
    return result[0] !== 0;
  }

  /** The log stays one file while any process has the database open; without it, what was not copied yet is lost. */
  function checkLog(): void {
    const now = performance.now();
    // A missing log is looked for at every check, so that writes succeed again as soon as it is back.
    if (!logIsOther && now - lookedAt < logEvery) return;
    const found = readIdentity(logFile);
    lookedAt = now;
    known ??= found;
    logIsOther = found !== known;
  }

  return {
    /**
     * Takes 2 microseconds.
     * @throws StorageError `moved` when the path leads to another file, or to none; `unavailable` when it cannot be
     *   followed, such as for a folder without permission
     */
    check(): void {
      checkLog();
      const inPlace = !isOtherFile() && !logIsOther;
      // To SQLite, a path that it cannot follow leads to no file.
      if (!inPlace) readIdentity(file);
      if (inPlace !== wasInPlace) {
        wasInPlace = inPlace;
        listener(inPlace);
      }
      if (!inPlace) {
        throw new StorageError('moved', `${file} or its log was removed or replaced while it was open.`);
      }
    },
  };
}

/** @returns undefined if there is no file @throws StorageError `unavailable` when the path cannot be followed */
function readIdentity(path: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && `${stat.dev} ${stat.ino}`;
  } catch (error) {
    if (getErrorCode(error) === 'ENOTDIR') return undefined;
    throw new StorageError('unavailable', `The database cannot be reached: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}
