/**
 * Whether an SQLite database is still where it was opened. Its file may be removed or replaced while it is open: all
 * goes on as before then, and what is written is lost (https://sqlite.org/howtocorrupt.html, section 4).
 */
import { constants } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { StorageError } from '../../database.ts';
import type { Connected } from '../connected.ts';

/** Called once when the file is found to be gone, and once when it is back. */
export type InPlaceListener = (inPlace: boolean) => void;

/** Of the file that was opened, and its log. */
export type FileIdentity = ReturnType<typeof createFileIdentity>;

/** How often the log is looked at too, in milliseconds, while it is in its place. */
const logEvery = 1000;
/** What an inode is found by, and the room that bun:sqlite needs for a result. */
const resultWords = 2;

/** @param log whether the database keeps a write-ahead log for as long as it is open */
export function createFileIdentity(
  { connection }: Connected,
  file: string,
  log: boolean,
  listener: InPlaceListener = () => undefined,
) {
  const result = new Int32Array(resultWords);
  const logFile = `${file}-wal`;
  let known: string | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let logIsOther = false;
  let wasInPlace = true;

  /** SQLite compares the inode of its descriptor with that of the path. A database in memory never moves. */
  function isOtherFile(): boolean {
    result[0] = 0;
    connection.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, result);
    return result[0] !== 0;
  }

  /** It stays one file while any process has the database open; without it, what has yet to be copied is lost. */
  function checkLog(): void {
    const now = performance.now();
    // What was found to be gone is looked for each time, so that it is taken again as soon as it is back.
    if (!log || (!logIsOther && now - lookedAt < logEvery)) return;
    lookedAt = now;
    const found = readIdentity(logFile);
    known ??= found;
    logIsOther = found !== known;
  }

  return {
    /** @throws StorageError `moved` when the path leads to another file, or to none; costs 2 microseconds */
    check(): void {
      checkLog();
      const inPlace = !isOtherFile() && !logIsOther;
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

function readIdentity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino}`;
}
