/**
 * Flushes the write-ahead log in the background. With `synchronous = NORMAL` a COMMIT writes to the log without waiting
 * for the disk (https://sqlite.org/pragma.html#pragma_synchronous). The flush that makes it durable runs on a thread of
 * the runtime, and the transaction ends only after that (docs/decisions/0021).
 */
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { getErrorCode, getErrorMessage } from '../../../error-text.ts';
import { StorageError } from '../../database.ts';
import { createWriteFailure } from '../files/write-failure.ts';

/** Makes everything durable that was written to the file of a descriptor. */
export type Flush = (descriptor: number) => Promise<void>;

export type LogFlusher = ReturnType<typeof createLogFlusher>;

const flushData: Flush = promisify(fdatasync);

/**
 * The log is flushed through a separate descriptor. SQLite's locks are on other files, so that closing it cancels none.
 * The log stays the same file while any connection is open.
 * @param file the database; for one in memory, which has no log, nothing is flushed
 */
export function createLogFlusher(file: string, flushFile: Flush = flushData) {
  const log = `${file}-wal`;
  // For any other database, a missing log is an error: writes would silently never become durable.
  if (file === ':memory:')
    return { flush: async () => undefined, check: () => undefined, close: () => undefined };
  const descriptor = openLog(file, log);
  let failure: StorageError | undefined;

  /** @throws StorageError `unavailable` once a flush has failed */
  function check(): void {
    if (failure !== undefined) throw failure;
  }

  return {
    check,
    /**
     * Resolves when everything that was committed before the call is on the disk.
     * @throws StorageError `unavailable` when the disk reports a failure, and at every later call
     */
    async flush(): Promise<void> {
      check();
      try {
        await flushFile(descriptor);
      } catch (cause) {
        // The system may have dropped pages that it could not write, and reports that only once: a later flush that
        // succeeds would prove nothing.
        const message = `${log} could not be flushed to the disk; writes are refused until the service is started again.`;
        failure = new StorageError('unavailable', message, { cause });
        throw failure;
      }
    },
    close: () => closeSync(descriptor),
  };
}

/** @returns its descriptor @throws StorageError when the disk takes no writes */
function openLog(file: string, log: string): number {
  try {
    flushFolder(dirname(file));
    return openSync(log, 'r+');
  } catch (error) {
    if (getErrorCode(error) === 'EROFS') throw createWriteFailure(file, error);
    throw new StorageError('unavailable', `${file}: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** Flushes a folder, so that the names of new files in it are durable. */
export function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
