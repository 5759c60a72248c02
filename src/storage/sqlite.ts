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
/** How much of the file a reader maps into memory at most; the kernel drops what is not used. */
const mappedBytes = 1_073_741_824;

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
  writer.execute('PRAGMA synchronous = FULL');
  writer.execute('PRAGMA wal_autocheckpoint = 1000');
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

/** A connection with its prepared statements, each kept for as long as the connection lives. */
interface Connected {
  readonly connection: Connection;
  readonly session: Session;
  /** Runs a statement without parameters or rows. */
  execute(text: string): void;
  close(): void;
}

function connect(file: string): Connected {
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

  const statements = new Map<string, Statement>();
  const prepare = (text: string): Statement => {
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = connection.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
  return {
    connection,
    session: session(prepare),
    execute: text => void prepare(text).run(),
    close() {
      // A connection with statements left would live on, and its log would not be copied.
      for (const statement of statements.values()) statement.finalize();
      connection.close(true);
    },
  };
}

function connectReader(file: string): Connected {
  const connected = connect(file);
  // Pages that the system has in memory are read in place. Readers only: writing goes through the log.
  connected.connection.run(`PRAGMA mmap_size = ${mappedBytes}`);
  return connected;
}

/**
 * A reader whose reads share one transaction for a turn of the event loop: taking and leaving SQLite's locks
 * costs more than a read by key. `end` is called when this process has committed, so that what it has
 * acknowledged is always seen; what other processes commit is seen from the next turn on.
 */
function sharedReader(connected: Connected) {
  let open = false;
  let state = 0;
  const dataVersion = connected.connection.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const end = (): void => {
    if (!open) return;
    open = false;
    connected.execute('COMMIT');
  };
  const begin = (): void => {
    if (open) return;
    connected.execute('BEGIN');
    open = true;
    setImmediate(end);
    // Differs when another connection, of this process or any other, has committed since it was last asked.
    state = dataVersion.get()?.data_version ?? state;
  };
  const { all, first, run } = connected.session;
  const shared: Session = {
    all(query) {
      begin();
      return all(query);
    },
    first(query) {
      begin();
      return first(query);
    },
    run(query) {
      begin();
      return run(query);
    },
  };
  return {
    session: shared,
    end,
    state(): number {
      begin();
      return state;
    },
    close() {
      end();
      dataVersion.finalize();
      connected.close();
    },
  };
}

function session(prepare: (text: string) => Statement): Session {
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
  const settle: (() => void)[] = [];
  for (const job of group) {
    let open = true;
    writer.execute('SAVEPOINT job');
    try {
      const value = await job.work(guarded(writer.session, () => open));
      settle.push(() => job.resolve(value));
    } catch (error) {
      // A full disk may have rolled the whole transaction back: then no job of the group can succeed.
      if (!writer.connection.inTransaction) throw error;
      writer.execute('ROLLBACK TO job');
      settle.push(() => job.reject(error));
    } finally {
      open = false;
    }
    writer.execute('RELEASE job');
  }
  return settle;
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
