/**
 * SQLite through bun:sqlite. One connection writes, behind a queue that commits waiting transactions in
 * groups (one fsync for many, durability unchanged); others read, so that no read ever sees a transaction
 * that is still open. Everything that is particular to SQLite is in this file.
 */
import {
  Database as Connection,
  constants,
  SQLiteError,
  type SQLQueryBindings,
  type Statement,
} from 'bun:sqlite';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CompiledQuery, sql } from 'kysely';
import { sqliteBuilder } from './builder.ts';
import { type Database, type Dialect, type Session, StorageError, type WriteOptions } from './database.ts';

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
  writer.run('PRAGMA synchronous = FULL');
  writer.run('PRAGMA wal_autocheckpoint = 1000');
  const reader = connect(file);
  const readSession = session(reader);
  const pool: { connection: Connection; session: Session }[] = [];
  const enqueue = groupCommit(writer);
  const locks = new Set<string>();
  const build = sqliteBuilder();

  return {
    dialect,
    build,
    read: readSession,

    async snapshot(work) {
      const lent = pool.pop() ?? openReader(file);
      try {
        lent.connection.run('BEGIN');
        return await work(lent.session);
      } finally {
        if (lent.connection.inTransaction) lent.connection.run('ROLLBACK');
        if (pool.length < idleReaders) pool.push(lent);
        else lent.connection.close();
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

    async ping() {
      await readSession.all(sql`select 1`.compile(build));
    },

    size() {
      const bytesOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);
      return { bytes: bytesOf(file), walBytes: bytesOf(`${file}-wal`) };
    },

    async close() {
      await enqueue(async () => undefined);
      for (const connection of [...pool.map(lent => lent.connection), reader]) connection.close();
      // The last connection to close copies the log into the database file and removes it.
      writer.close();
    },
  };
}

function openReader(file: string) {
  const connection = connect(file);
  return { connection, session: session(connection) };
}

function connect(file: string): Connection {
  const connection = new Connection(file, { create: true, readwrite: true, strict: true });
  connection.run('PRAGMA busy_timeout = 5000');
  connection.run('PRAGMA journal_mode = WAL');
  connection.run('PRAGMA foreign_keys = ON');
  connection.run('PRAGMA temp_store = MEMORY');
  connection.run('PRAGMA cache_size = -16000');
  // Waiting for another process must not stop the event loop: BEGIN is retried instead (see below).
  connection.run('PRAGMA busy_timeout = 0');
  // A log that grew during a burst is cut back when it is next reused.
  connection.run('PRAGMA journal_size_limit = 67108864');
  connection.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 0);
  return connection;
}

/** A session on a connection; it keeps each statement's prepared form for as long as the connection lives. */
function session(connection: Connection): Session {
  const statements = new Map<string, Statement>();
  const prepare = (text: string): Statement => {
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = connection.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
  // .all steps a statement to its end: a half-stepped one would keep the log from being checkpointed.
  const all = <Row>(query: CompiledQuery<Row>): Row[] => {
    try {
      return prepare(query.sql).all(...bindings(query)) as Row[];
    } catch (error) {
      throw translate(error);
    }
  };
  return {
    all: async query => all(query),
    first: async query => all(query)[0],
    async run(query) {
      try {
        return prepare(query.sql).run(...bindings(query)).changes;
      } catch (error) {
        throw translate(error);
      }
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

/** Boundary to bun:sqlite: Kysely types parameters as unknown; the column types have checked them. */
function bindings(query: CompiledQuery<unknown>): SQLQueryBindings[] {
  return query.parameters as SQLQueryBindings[];
}

/**
 * Runs transactions one after another on one connection. Those that wait while one group commits form the
 * next group: each has its own savepoint, so a failed one is undone alone, and all share one COMMIT.
 */
function groupCommit(connection: Connection) {
  const writerSession = session(connection);
  const waiting: Job[] = [];
  let draining = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, groupSize);
      try {
        await begin(connection);
        const settle = await runGroup(connection, writerSession, group);
        connection.run('COMMIT');
        for (const resolve of settle) resolve();
      } catch (error) {
        if (connection.inTransaction) connection.run('ROLLBACK');
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
async function runGroup(
  connection: Connection,
  writerSession: Session,
  group: readonly Job[],
): Promise<(() => void)[]> {
  const settle: (() => void)[] = [];
  for (const job of group) {
    let open = true;
    connection.run('SAVEPOINT job');
    try {
      const value = await job.work(guarded(writerSession, () => open));
      settle.push(() => job.resolve(value));
    } catch (error) {
      // A full disk may have rolled the whole transaction back: then no job of the group can succeed.
      if (!connection.inTransaction) throw error;
      connection.run('ROLLBACK TO job');
      settle.push(() => job.reject(error));
    } finally {
      open = false;
    }
    connection.run('RELEASE job');
  }
  return settle;
}

async function begin(connection: Connection): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      connection.run('BEGIN IMMEDIATE');
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

function translate(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') {
    // "UNIQUE constraint failed: products.sku"
    const column = /: \w+\.(\w+)/.exec(error.message)?.[1] ?? 'id';
    return new StorageError('unique', error.message, { column, cause: error });
  }
  if (code === 'SQLITE_FULL') return new StorageError('full', 'The disk is full.', { cause: error });
  if (/^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY|LOCKED)/.test(code)) {
    return new StorageError('unavailable', error.message, { cause: error });
  }
  return error;
}
