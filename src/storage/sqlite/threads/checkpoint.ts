/**
 * Checkpoints of SQLite's write-ahead log in the background: copying the log into the database file and flushing it
 * takes a seventh of the time of sustained writing, during which the event loop would serve no request.
 *
 * A thread with a separate connection copies while the writer continues. SQLite reuses the log from its beginning only
 * when all of it has been copied and nothing is writing. So the thread then copies the little that was added during the
 * copy, and the next transaction waits for that. The log stays bounded even if the thread is slow or fails: a writer
 * that outruns it waits, and without the thread SQLite's own checkpoint inside COMMIT takes over.
 */
import { Worker } from 'node:worker_threads';
import { requireSpareFiles } from '../../../open-files.ts';
import type { Connected } from '../connected.ts';
import { endThread } from './end.ts';

/** The thread copies the log when it has this many bytes. */
const wanted = 32 * 1024 * 1024;
/** After a copy of all of it that a reader kept from being reused, it is copied again when it has this many more. */
const wantedAgain = 4 * 1024 * 1024;
/** Maximum number of bytes whose copying a transaction waits for: some milliseconds. */
const left = 1024 * 1024;
/** With more bytes than this in the log, writing waits for the thread. */
const full = 48 * 1024 * 1024;
/**
 * With more bytes than this, COMMIT copies the log, in case the thread does not. Far more than the largest transaction
 * adds to an almost full log, 500 products with texts of 100,000 characters and their events: copying blocks the event
 * loop for milliseconds per megabyte.
 */
const backStop = 32 * wanted;

interface Log {
  readonly log: number;
  readonly checkpointed: number;
}

export type Checkpoints = ReturnType<typeof createCheckpoints>;

/** @param file the database; while its log is empty, or for a database in memory, the thread is not started */
export function createCheckpoints(writer: Connected, file: string) {
  const pageSize = Number(writer.connection.prepare('PRAGMA page_size').values()[0]?.[0]);
  const readLog = writer.connection.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  let thread: Worker | undefined;
  let copying: PromiseWithResolvers<void> | undefined;
  /** Whether the thread has made a copy, but may have to copy what was added during it. */
  let copied = false;
  /** Whether the writer waits, so that nothing is added during the copy. */
  let isLast = false;
  /** Bytes that the last copy left, since readers still needed the former content of their pages; undefined if unknown. */
  let notCopied: number | undefined;
  // SQLite before 3.51 does not know NOOP, and would run a checkpoint instead.
  let broken = !canReadLog(writer);

  /** The bytes in the log, and how many of them have not been copied. */
  const readLogBytes = () => {
    const { log = 0, checkpointed = 0 } = readLog.get() ?? {};
    return { log: log * pageSize, waiting: (log - checkpointed) * pageSize };
  };
  const settle = () => {
    copying?.resolve();
    copying = undefined;
  };
  const giveUp = () => {
    broken = true;
    copied = false;
    writer.execute(`PRAGMA wal_autocheckpoint = ${wanted / pageSize}`);
    settle();
  };
  /** @throws Error when too few files can be opened */
  function start(): Worker {
    requireSpareFiles();
    const made = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: file });
    made.unref();
    made.on('message', () => {
      copied = !isLast;
      settle();
    });
    made.on('error', giveUp);
    return made;
  }

  /** @param last whether the writer waits, so that nothing is added during the copy */
  function begin(last: boolean): void {
    copied = false;
    isLast = last;
    notCopied = undefined;
    try {
      thread ??= start();
    } catch {
      // Too few files can be opened: the log grows until they can, or up to the limit at which SQLite copies it itself.
      return;
    }
    copying = Promise.withResolvers();
    thread.postMessage('checkpoint');
  }

  function waitForRoom(): Promise<void> | undefined {
    // If a large transaction was added during the copy, waiting would take too long.
    if (copied) begin(readLogBytes().waiting <= left);
    if (copying === undefined) return undefined;
    if (isLast) return copying.promise;
    return readLogBytes().log <= full ? undefined : copying.promise.then(copyRest);
  }

  /** Waits for one more copy only: pages that a long read needs are not copied before it ends. */
  function copyRest(): Promise<void> | undefined {
    if (copied) begin(true);
    return copying?.promise;
  }

  writer.execute(`PRAGMA wal_autocheckpoint = ${(broken ? wanted : backStop) / pageSize}`);
  return {
    /** Must be called and awaited before each write transaction. */
    before: waitForRoom,
    /** Must be called after each commit. */
    after(): void {
      if (broken || copying !== undefined) return;
      const { log, waiting } = readLogBytes();
      notCopied ??= waiting;
      // Nothing of a log that was reused from its beginning has been copied.
      if (waiting >= (waiting === log ? wanted : notCopied + wantedAgain)) begin(false);
    },
    /** Ends the thread and its connection. */
    async close(): Promise<void> {
      readLog.finalize();
      if (thread !== undefined && !broken) await endThread(thread);
    },
  };
}

/** Whether `wal_checkpoint(NOOP)`, which only measures the log, is known: on macOS, Bun uses the system's SQLite. */
function canReadLog(writer: Connected): boolean {
  const version = String(writer.connection.prepare('select sqlite_version()').values()[0]?.[0]);
  return Bun.semver.satisfies(version, '>=3.51.0');
}
