/**
 * Connections to SQLite: how they are set up, their prepared statements, and the errors they throw. With
 * index.ts, which says who may use which connection when, and the other files of this folder, this is all that is particular to SQLite.
 */
import {
  Database as Connection,
  constants,
  SQLiteError,
  type SQLQueryBindings,
  type Statement,
} from 'bun:sqlite';
import type { CompiledQuery } from 'kysely';
import { createBoundedMap } from '../../bounded-map.ts';
import { type Session, StorageError } from '../database.ts';
import { createCommitState } from './change-counter.ts';
import type { Connected } from './connected.ts';
import { useLog } from './journal-mode.ts';

/** How much of the file a reader maps into memory at most; the kernel drops what is not used. */
const mappedBytes = 1_073_741_824;

/**
 * The page size of a new database. A create changes a page of each index and writes it whole, twice: small pages write less,
 * while rows of the usual 400 to 700 bytes still fill them.
 */
const pageBytes = 2048;

/** For another import that began at the same moment. */
const waitAloneMs = 10_000;

/** Prepared statements of a connection at most: those of the commonest requests are a few hundred. */
const keptStatements = 1000;

/**
 * @param alone keeps the journal that the database has: see journal-mode.ts
 * @param create makes the file where there is none
 */
export function connect(file: string, alone = false, create = true): Connected {
  try {
    return setUp(new Connection(file, { create, readwrite: true, strict: true }), file, alone);
  } catch (error) {
    throw translate(error, file);
  }
}

function setUp(connection: Connection, file: string, alone: boolean): Connected {
  connection.run(`PRAGMA page_size = ${pageBytes}`);
  if (!alone) useLog(connection);
  connection.run('PRAGMA foreign_keys = ON');
  connection.run('PRAGMA temp_store = MEMORY');
  connection.run('PRAGMA cache_size = -16000');
  // Waiting for another process must not stop the event loop of a service: BEGIN is retried instead (see
  // group-commit.ts). Without the log a reader waits for a writer as well, and no service runs.
  connection.run(`PRAGMA busy_timeout = ${alone ? waitAloneMs : 0}`);
  // A log that grew during a burst is cut back when it is next reused.
  connection.run('PRAGMA journal_size_limit = 67108864');
  connection.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 0);

  const statements = createBoundedMap<string, Statement>(
    keptStatements,
    () => 1,
    statement => statement.finalize(),
  );
  const prepareNew = (text: string): Statement => connection.prepare(text);
  const prepare = (text: string): Statement => statements.getOrCreate(text, prepareNew);
  const own = createSession(prepare, file);
  return {
    connection,
    session: own,
    rows: own.all,
    insert(query) {
      try {
        return Number(prepare(query.sql).run(...toBindings(query)).lastInsertRowid);
      } catch (error) {
        throw translate(error, file);
      }
    },
    execute: text => void prepare(text).run(),
    close() {
      // A connection with statements left would live on, and its log would not be copied.
      statements.clear();
      connection.close(true);
    },
  };
}

export function connectReader(file: string, alone = false): Connected {
  const connected = connect(file, alone, false);
  // Pages that the system has in memory are read in place. Readers only: writing goes through the log.
  connected.connection.run(`PRAGMA mmap_size = ${mappedBytes}`);
  return connected;
}

/**
 * A reader whose reads share one transaction, and one read of the state, for a turn of the event loop: taking and
 * leaving SQLite's locks costs more than a read by key. `end` is called when this process has committed, and `refresh`
 * when a request has come: a transaction that was begun late in a turn would last until the next one's requests, and
 * hide from them what other processes have acknowledged in between.
 */
export function createSharedReader(connected: Connected, file: string) {
  let open = false;
  let state: number | undefined;
  let endsSoon = false;
  /** Whether the transaction, if any, was begun after the requests of this turn had come. */
  let isFresh = false;
  const end = (): void => {
    state = undefined;
    if (!open) return;
    open = false;
    try {
      connected.execute('COMMIT');
    } catch {
      // A read has met damage, and failed by it; nothing was written that could be lost.
      if (connected.connection.inTransaction) connected.execute('ROLLBACK');
    }
  };
  const onTurnEnd = (): void => {
    endsSoon = false;
    isFresh = false;
    end();
  };
  const endSoon = (): void => {
    if (endsSoon) return;
    endsSoon = true;
    setImmediate(onTurnEnd);
  };
  const begin = (): void => {
    if (open) return;
    connected.execute('BEGIN');
    open = true;
    // What is read may be newer: the next check asks again.
    state = undefined;
    endSoon();
  };
  const { current } = createCommitState(connected, file, end);
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
    refresh(): void {
      if (isFresh) return;
      isFresh = true;
      end();
      endSoon();
    },
    state(): number {
      if (state === undefined) {
        state = current();
        endSoon();
      }
      return state;
    },
    close() {
      end();
      connected.close();
    },
  };
}

function createSession(prepare: (text: string) => Statement, file: string) {
  // .all steps a statement to its end: a half-stepped one would keep the log from being checkpointed.
  const runQuery = <Row>(query: Pick<CompiledQuery<Row>, 'sql' | 'parameters'>): Row[] => {
    try {
      // Boundary to bun:sqlite, which types no rows: Kysely has derived Row from the query and the tables.
      return prepare(query.sql).all(...toBindings(query)) as Row[];
    } catch (error) {
      throw translate(error, file);
    }
  };
  return {
    all: async <Row>(query: Pick<CompiledQuery<Row>, 'sql' | 'parameters'>) => runQuery(query),
    first: async <Row>(query: CompiledQuery<Row>) => runQuery<Row>(query)[0],
    async run(query: CompiledQuery<unknown>) {
      try {
        return prepare(query.sql).run(...toBindings(query)).changes;
      } catch (error) {
        throw translate(error, file);
      }
    },
  };
}

/** Boundary to bun:sqlite: Kysely types parameters as unknown; the column types have checked them. */
function toBindings(query: Pick<CompiledQuery<unknown>, 'parameters'>): SQLQueryBindings[] {
  return query.parameters as SQLQueryBindings[];
}

/**
 * Errors that callers can act on, as StorageError; any other as it is.
 * @param file of the database: what is full, damaged or cannot be written is named
 */
export function translate(error: unknown, file: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|TRIGGER)$/.test(code)) {
    // "UNIQUE constraint failed: products.sku"
    const column = /: \w+\.(\w+)/.exec(error.message)?.[1] ?? 'id';
    return new StorageError('unique', error.message, { column, cause: error });
  }
  // SQLITE_FULL is ENOSPC only: a used-up disk quota and a file that may not grow are failed writes to SQLite.
  if (/^SQLITE_(FULL|IOERR_WRITE|IOERR_SHMSIZE)$/.test(code)) {
    return new StorageError('full', `The disk of ${file} is full.`, { cause: error });
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return createDamaged(error, file);
  if (/^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY|LOCKED)/.test(code)) {
    return new StorageError('unavailable', `${file}: ${error.message}`, { cause: error });
  }
  return error;
}

const createDamaged = (error: SQLiteError, file: string) =>
  new StorageError('damaged', `${file}: ${error.message}`, { cause: error });
