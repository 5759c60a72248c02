/**
 * SQLite through bun:sqlite. One connection writes, behind a queue that commits waiting transactions in
 * groups (one fsync for many, durability unchanged); others read, so that no read ever sees a transaction
 * that is still open. With sqlite-connection.ts this is all that is particular to SQLite.
 */
import { SQLiteError } from 'bun:sqlite';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { sqliteBuilder } from './builder.ts';
import { type Database, type Dialect, type Session, StorageError, type WriteOptions } from './database.ts';
import { type Connected, connect, connectReader, sharedReader, translate } from './sqlite-connection.ts';

const groupSize = 256;
const busyRetryMs = 5;
const busyLimitMs = 10_000;
const idleReaders = 4;

const dialect: Dialect = {
  name: 'sqlite',
  types: {
    // AUTOINCREMENT: an id is never used twice, so an old link never shows another resource.
    id: sql`integer primary key autoincrement`,
    text: sql`text`,
    integer: sql`integer`,
    real: sql`real`,
    moment: sql`integer`,
  },
  slot: sql<number>`0`,
  forUpdate: sql``,
  skipLocked: sql``,
};

interface Job {
  readonly work: (session: Session) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** @param file path of the database file; it and its folder are created when missing */
export function openSqlite(file: string): Database {
  mkdirSync(dirname(file), { recursive: true });
  const writer = connect(file);
  writer.execute('PRAGMA synchronous = FULL');
  writer.execute('PRAGMA wal_autocheckpoint = 8000');
  const reader = sharedReader(connectReader(file));
  const pool: Connected[] = [];
  const enqueue = groupCommit(writer, reader.end);
  const locks = new Set<string>();
  const build = sqliteBuilder();

  return {
    dialect,
    build,
    read: reader.session,

    async snapshot(work) {
      const lent = pool.pop() ?? connectReader(file);
      try {
        lent.execute('BEGIN');
        return await work(lent.session);
      } finally {
        if (lent.connection.inTransaction) lent.execute('ROLLBACK');
        if (pool.length < idleReaders) pool.push(lent);
        else lent.close();
      }
    },

    async write<T>(work: (session: Session) => Promise<T>, options: WriteOptions = {}) {
      const { lock } = options;
      if (lock === undefined) return enqueue(work);
      if (locks.has(lock)) throw new StorageError('locked', `${lock} is held by a running transaction`);
      locks.add(lock);
      try {
        return await enqueue(work);
      } finally {
        locks.delete(lock);
      }
    },

    // The writer's own lock keeps other processes out for as long as the transaction runs.
    exclusively: work => enqueue(work),

    state: reader.state,

    async ping() {
      await reader.session.all(sql`select 1`.compile(build));
    },

    size() {
      const bytesOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);
      return { bytes: bytesOf(file), walBytes: bytesOf(`${file}-wal`) };
    },

    async close() {
      await enqueue(async () => undefined);
      reader.close();
      for (const connected of pool) connected.close();
      // The last connection to close copies the log into the database file and removes it.
      writer.close();
    },
  };
}

/** The same session, refusing to work once its transaction has ended. */
function guarded(inner: Session, isOpen: () => boolean): Session {
  const check = () => {
    if (!isOpen()) throw new Error('A session was used after its transaction had ended.');
  };
  return {
    async all(query) {
      check();
      return inner.all(query);
    },
    async first(query) {
      check();
      return inner.first(query);
    },
    async run(query) {
      check();
      return inner.run(query);
    },
  };
}

/**
 * Runs transactions one after another on one connection. Those that wait while one group commits form the
 * next group: each has its own savepoint, so a failed one is undone alone, and all share one COMMIT.
 */
function groupCommit(writer: Connected, committed: () => void) {
  const waiting: Job[] = [];
  let draining = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, groupSize);
      try {
        await begin(writer);
        const settle = await runGroup(writer, group);
        writer.execute('COMMIT');
        committed();
        for (const resolve of settle) resolve();
      } catch (error) {
        if (writer.connection.inTransaction) writer.execute('ROLLBACK');
        for (const job of group) job.reject(translate(error));
      }
    }
    draining = false;
  }

  return <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // Boundary: the queue forgets each job's result type; the promise above still knows it.
    waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
    if (!draining) {
      draining = true;
      // One turn of the event loop: requests that arrived together are committed together.
      setImmediate(drain);
    }
    return promise;
  };
}

/** Runs each job in a savepoint; gives the resolutions to call once the group is durable. */
async function runGroup(writer: Connected, group: readonly Job[]): Promise<(() => void)[]> {
  const [only] = group;
  // Alone, a job is undone with its transaction; a savepoint would only make long ones slower.
  if (group.length === 1 && only !== undefined) return [await runJob(writer, only)];
  const settle: (() => void)[] = [];
  for (const job of group) {
    writer.execute('SAVEPOINT job');
    try {
      settle.push(await runJob(writer, job));
    } catch (error) {
      // A full disk may have rolled the whole transaction back: then no job of the group can succeed.
      if (!writer.connection.inTransaction) throw error;
      writer.execute('ROLLBACK TO job');
      settle.push(() => job.reject(error));
    }
    writer.execute('RELEASE job');
  }
  return settle;
}

async function runJob(writer: Connected, job: Job): Promise<() => void> {
  let open = true;
  try {
    const value = await job.work(guarded(writer.session, () => open));
    return () => job.resolve(value);
  } finally {
    open = false;
  }
}

async function begin(writer: Connected): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      writer.execute('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      const busy = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true;
      if (!busy) throw error;
      if (performance.now() - start > busyLimitMs) {
        throw new StorageError('unavailable', 'Another process has held the database for too long.', {
          cause: error,
        });
      }
      await Bun.sleep(busyRetryMs);
    }
  }
}
