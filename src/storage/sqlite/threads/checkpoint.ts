/**
 * Checkpoints of SQLite's write-ahead log beside the thread that serves: copying the log into the database file
 * and flushing it takes a seventh of the time of sustained writing, in which no request would be served.
 *
 * A thread with a connection of its own copies while the writer goes on. SQLite uses the log from its beginning
 * again only when all of it has been copied and there is no writer, so the thread copies the little that was added
 * meanwhile once more, and the next transaction waits for that. Whatever happens to the thread, the log stays bounded:
 * a writer that outruns it waits for it, and without it SQLite's own checkpoint inside COMMIT takes over.
 */
import { Worker } from 'node:worker_threads';
import type { Connected } from '../connected.ts';

/** Bytes in the log at which the thread is to copy them. */
const wanted = 32 * 1024 * 1024;
/** Bytes that a transaction waits for, some milliseconds. */
const left = 1024 * 1024;
/** Bytes beyond which writing waits for the thread. */
const full = 48 * 1024 * 1024;
/**
 * Bytes beyond which a COMMIT copies the log, for when the thread does not. Far from what the largest transaction adds to
 * a log that is almost full, 500 products with texts of 100,000 characters and their events: copying holds up the event
 * loop for milliseconds per megabyte.
 */
const backStop = 32 * wanted;

interface Log {
  readonly log: number;
  readonly checkpointed: number;
}

export type Checkpoints = ReturnType<typeof createCheckpoints>;

/** @param file the database; an empty log, or none as in memory, never starts the thread */
export function createCheckpoints(writer: Connected, file: string) {
  const pageSize = Number(writer.connection.prepare('PRAGMA page_size').values()[0]?.[0]);
  const readLog = writer.connection.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  let thread: Worker | undefined;
  let copying: PromiseWithResolvers<void> | undefined;
  /** Whether the thread has copied what there was, and may have to copy what was added meanwhile. */
  let copied = false;
  /** Whether nothing is added to what is being copied. */
  let isLast = false;
  // What SQLite before 3.51 does not know it takes for a checkpoint to be run now.
  let broken = !canReadLog(writer);

  /** Bytes in the log, and those of them that have not been copied. */
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
  function start(): Worker {
    const made = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: file });
    made.unref();
    made.on('message', () => {
      copied = !isLast;
      settle();
    });
    made.on('error', giveUp);
    return made;
  }

  /** @param last the writer waits for it: nothing is added meanwhile */
  function begin(last: boolean): void {
    copied = false;
    isLast = last;
    copying = Promise.withResolvers();
    thread ??= start();
    thread.postMessage('checkpoint');
  }

  function waitForRoom(): Promise<void> | undefined {
    // What a large transaction has added meanwhile takes too long to wait for.
    if (copied) begin(readLogBytes().waiting <= left);
    if (copying === undefined) return undefined;
    if (isLast) return copying.promise;
    return readLogBytes().log <= full ? undefined : copying.promise.then(copyRest);
  }

  /** Once: what a long read still sees is not copied before it ends. */
  function copyRest(): Promise<void> | undefined {
    if (copied) begin(true);
    return copying?.promise;
  }

  writer.execute(`PRAGMA wal_autocheckpoint = ${(broken ? wanted : backStop) / pageSize}`);
  return {
    /** To be called, and waited for, before each write transaction. */
    before: waitForRoom,
    /** To be called after each commit. */
    after(): void {
      if (broken || copying !== undefined || readLogBytes().waiting < wanted) return;
      begin(false);
    },
    /** Ends the thread and its connection. */
    async close(): Promise<void> {
      readLog.finalize();
      if (thread === undefined || broken) return;
      const ended = Promise.withResolvers<void>();
      thread.once('exit', () => ended.resolve());
      thread.postMessage('close');
      await ended.promise;
    },
  };
}

/** Whether `wal_checkpoint(NOOP)` only says how long the log is; on macOS, Bun uses the system's SQLite. */
function canReadLog(writer: Connected): boolean {
  const version = String(writer.connection.prepare('select sqlite_version()').values()[0]?.[0]);
  return Bun.semver.satisfies(version, '>=3.51.0');
}
