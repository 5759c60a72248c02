/**
 * Flushing the write-ahead log beside the event loop. With `synchronous = NORMAL` a COMMIT writes to the log and does
 * not wait for the disk (https://sqlite.org/pragma.html#pragma_synchronous); the flush that makes it durable runs on a
 * thread of the runtime, and anyone who waits for the transaction waits for that (docs/decisions/0021).
 */
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { StorageError } from '../../database.ts';

/** Makes durable what has been written to the file of a descriptor. */
export type Flush = (descriptor: number) => Promise<void>;

export type LogFlusher = ReturnType<typeof createLogFlusher>;

const flushData: Flush = promisify(fdatasync);

/**
 * The log is flushed through a descriptor of our own: SQLite keeps its locks on other files, so that closing this one
 * cancels none. It stays one file for as long as any connection is open.
 * @param file the database; one in memory has no log, and nothing is flushed
 */
export function createLogFlusher(file: string, flushFile: Flush = flushData) {
  const log = `${file}-wal`;
  // For any other database a missing log is an error: without it nothing would be made durable, unnoticed.
  if (file === ':memory:')
    return { flush: async () => undefined, check: () => undefined, close: () => undefined };
  flushFolder(dirname(file));
  const descriptor = openSync(log, 'r+');
  let failure: StorageError | undefined;

  /** @throws StorageError `unavailable` after a flush that has failed */
  function check(): void {
    if (failure !== undefined) throw failure;
  }

  return {
    check,
    /**
     * Resolves when everything that was committed before the call is on the disk.
     * @throws StorageError `unavailable` when the disk reports a failure, and ever after
     */
    async flush(): Promise<void> {
      check();
      try {
        await flushFile(descriptor);
      } catch (cause) {
        // The system may have dropped what it could not write, and says so only once: a later flush that succeeds
        // would prove nothing.
        const message = `${log} could not be flushed to the disk; writes are refused until the service is started again.`;
        failure = new StorageError('unavailable', message, { cause });
        throw failure;
      }
    },
    close: () => closeSync(descriptor),
  };
}

/** The log's name is durable once its folder is. */
export function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
