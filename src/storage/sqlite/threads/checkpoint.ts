/**
 * Checkpoints of SQLite's write-ahead log beside the thread that serves: copying the log into the database file
 * and flushing it takes a seventh of the time of sustained writing, in which no request would be served.
 *
 * A thread with a connection of its own copies while the writer goes on. SQLite uses the log from its beginning
 * again only when all of it has been copied and there is no writer, so the writer copies the little that was added
 * meanwhile itself, between two transactions. Whatever happens to the thread, the log stays bounded: a writer
 * that outruns it waits for it, and without it SQLite's own checkpoint inside COMMIT takes over.
 */
import { Worker } from 'node:worker_threads';
import type { Connected } from '../connected.ts';

/** Bytes in the log at which the thread is to copy them. */
const wanted = 32 * 1024 * 1024;
/** Bytes that the writer copies itself, in some milliseconds. */
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

export interface Checkpoints {
  /** To be called, and waited for, before each write transaction. */
  before(): Promise<void> | undefined;
  /** To be called after each commit. */
  after(): void;
  /** Ends the thread and its connection. */
  close(): Promise<void>;
}

/** @param file the database; an empty log, or none as in memory, never starts the thread */
export function createCheckpoints(writer: Connected, file: string): Checkpoints {
  const pageSize = Number(writer.connection.prepare('PRAGMA page_size').values()[0]?.[0]);
  const readLog = writer.connection.prepare<Log, []>('PRAGMA wal_checkpoint(NOOP)');
  let thread: Worker | undefined;
  let copying: PromiseWithResolvers<void> | undefined;
  let copied = false;
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
    writer.execute(`PRAGMA wal_autocheckpoint = ${wanted / pageSize}`);
    settle();
  };
  function start(): Worker {
    const made = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: file });
    made.unref();
    made.on('message', () => {
      copied = true;
      settle();
    });
    made.on('error', giveUp);
    return made;
  }

  function begin(): void {
    copying = Promise.withResolvers();
    thread ??= start();
    thread.postMessage('checkpoint');
  }

  function finish(): void {
    copied = false;
    try {
      writer.execute('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // As when it runs inside COMMIT: the log still holds everything, and the next checkpoint tries again.
    }
  }

  writer.execute(`PRAGMA wal_autocheckpoint = ${(broken ? wanted : backStop) / pageSize}`);
  return {
    before() {
      if (copied) {
        // What a large transaction has added meanwhile is the thread's work too.
        if (broken || readLogBytes().waiting <= left) finish();
        else begin();
      }
      if (copying === undefined || readLogBytes().log <= full) return undefined;
      // Nothing is added while the writer waits: there is little left for it to copy.
      return copying.promise.then(finish);
    },
    after() {
      if (broken || copying !== undefined || readLogBytes().waiting < wanted) return;
      begin();
    },
    async close() {
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
