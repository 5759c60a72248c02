/**
 * SQLite through bun:sqlite. One connection writes, behind a queue that commits waiting transactions in groups (one
 * fsync for many, durability unchanged). Other connections read, so that no read ever sees an open transaction. All
 * code that is specific to SQLite is in this folder.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { createSqliteBuilder } from '../builder.ts';
import { createChanges } from '../changes/index.ts';
import {
  type Database,
  type Dialect,
  ignoreStorageError,
  StorageError,
  type Transaction,
  type WriteOptions,
} from '../database.ts';
import { buildEventsSince, buildIdsSince } from './changes.ts';
import type { Connected } from './connected.ts';
import { connect, connectReader, createSharedReader } from './connection.ts';
import { sqliteChecks } from './files/checks.ts';
import { createFileIdentity, type InPlaceListener } from './files/identity.ts';
import { createGroupCommit } from './group-commit.ts';
import { createCheckpoints } from './threads/checkpoint.ts';
import { createLogFlusher, type Flush } from './threads/flush.ts';
import { createBackgroundReader } from './threads/reader.ts';

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
  column: (table, name) => sql`select 1 as found from pragma_table_info(${table}) where name = ${name}`,
  slot: sql<number>`0`,
  changes: { prepare: [] },
  dependents: parent => sql`select m.name as child, f."from" as "column", f.on_delete as action
    from sqlite_schema as m join pragma_foreign_key_list(m.name) as f
    where m.type = 'table' and f."table" = ${parent} and f.on_delete in ('CASCADE', 'SET NULL')`,
  lastIds: sql`select name as "table", seq as last from sqlite_sequence`,
  lock: undefined,
  json: text => sql`json_quote(${text})`,
  joined: (number, order) =>
    sql`group_concat(${number}, ',' ${order === undefined ? sql`` : sql`order by ${order}`})`,
  position: (text, part) => sql`instr(${text}, ${part})`,
  forUpdate: sql``,
  isStaleRead: undefined,
  forKeyShare: sql``,
  skipLocked: sql``,
  checks: sqliteChecks,
};

export interface SqliteOptions {
  readonly onMoved?: InPlaceListener;
  /** Flushes the log; the default is the system's fdatasync. */
  readonly flush?: Flush;
  /** Seconds that a transaction waits for other processes that write. */
  readonly patience?: number;
  /** Whether transactions merge the pieces of the search index that they add; the default is that all do. */
  readonly mergesPieces?: () => boolean;
}

/** @param file the path of the database file; the file and its folder are created when missing */
export function openSqlite(
  file: string,
  { onMoved, flush, patience = 10, mergesPieces }: SqliteOptions = {},
): Database {
  mkdirSync(dirname(file), { recursive: true });
  const writer = connect(file);
  // The flusher flushes the log after each COMMIT.
  writer.execute('PRAGMA synchronous = NORMAL');
  // An import appends rows, and reads few pages twice. A COMMIT after pages were sorted looks through the whole cache.
  writer.execute('PRAGMA cache_size = -6000');
  const checkpoint = createCheckpoints(writer, file);
  const reader = createSharedReader(connectReader(file), file);
  const background = createBackgroundReader(file, reader.end);
  const parts = createBackgroundReader(file, reader.end);
  const pool: Connected[] = [];
  const identity = createFileIdentity(writer, file, onMoved);
  const flusher = createLogFlusher(file, flush);
  const committed = reader.end;
  const enqueue = createGroupCommit({
    connected: writer,
    patience,
    mergesPieces,
    checkpoint,
    identity,
    flusher,
    committed,
  });
  /** Opens the same file that the other connections have open; throws if another file has taken its place. */
  const connectAnotherReader = (): Connected => {
    identity.check();
    return connectReader(file);
  };
  const locks = new Set<string>();
  const build = createSqliteBuilder();

  return {
    dialect,
    build,
    read: reader.session,
    refresh: reader.refresh,

    async snapshot(work, options = {}) {
      if (options.background === true) return background.snapshot(work);
      if (options.background === 'part') return parts.snapshot(work);
      const lent = pool.pop() ?? connectAnotherReader();
      try {
        lent.execute('BEGIN');
        return await work(lent.session);
      } finally {
        if (lent.connection.inTransaction) lent.execute('ROLLBACK');
        if (pool.length < idleReaders) pool.push(lent);
        else lent.close();
        // The snapshot may have seen a newer state than the shared reader in this turn.
        reader.end();
      }
    },

    async write<T>(work: (session: Transaction) => Promise<T>, options: WriteOptions = {}) {
      const { lock, waitForLock } = options;
      // Transactions run one after another anyway.
      if (lock === undefined || waitForLock === true) return enqueue(work);
      if (locks.has(lock)) throw new StorageError('locked', `${lock} is held by a running transaction`);
      locks.add(lock);
      try {
        return await enqueue(work);
      } finally {
        locks.delete(lock);
      }
    },

    // The lock of the writer keeps other processes out while the transaction runs.
    exclusively: work => enqueue(work),

    state: reader.state,

    changes: createChanges({
      state: reader.state,
      read: reader.session,
      events: buildEventsSince(build),
      ids: buildIdsSince(build),
      renew: reader.end,
    }),

    async ping() {
      identity.check();
      flusher.check();
      await reader.session.all(sql`select 1`.compile(build));
    },

    size() {
      const readSize = (path: string) => (existsSync(path) ? statSync(path).size : 0);
      return { bytes: readSize(file), walBytes: readSize(`${file}-wal`) };
    },

    async close() {
      // Waits for the transactions in the queue; if the database can no longer be written to, they have been rejected.
      await enqueue(async () => undefined).catch(ignoreStorageError);
      reader.close();
      for (const connected of pool) connected.close();
      await Promise.all([background.close(), parts.close()]);
      await checkpoint.close();
      flusher.close();
      // The last connection to close copies the log into the database file and removes it.
      writer.close();
    },
  };
}
