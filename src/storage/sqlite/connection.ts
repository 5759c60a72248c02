/**
 * Connections to SQLite: how they are set up, their prepared statements, and the errors that they throw. index.ts
 * decides what each connection is used for.
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
import { wrapSession } from '../../turns/session.ts';
import { StorageError } from '../database.ts';
import { createCommitState } from './change-counter.ts';
import type { Connected } from './connected.ts';
import { createWriteFailure } from './files/write-failure.ts';
import { useLog } from './journal-mode.ts';

/** Maximum number of bytes of the file that a reader maps into memory; the kernel drops unused pages. */
const mappedBytes = 1_073_741_824;

/**
 * The page size of a new database. Each new row changes a page of every index, and each page is written whole, twice:
 * small pages write less, while rows of the usual 400 to 700 bytes still fill them.
 */
export const pageBytes = 2048;

/** Maximum number of prepared statements of a connection: the commonest requests need a few hundred. */
const keptStatements = 1000;

/** @param create creates the file if there is none */
export function connect(file: string, create = true): Connected {
  return runTranslated(file, () =>
    setUp(new Connection(file, { create, readwrite: true, strict: true }), file),
  );
}

function setUp(connection: Connection, file: string): Connected {
  // First, since the next ones read the file. Waiting for another process must not block the event loop of a service:
  // BEGIN is retried instead (see group-commit.ts).
  connection.run('PRAGMA busy_timeout = 0');
  connection.run(`PRAGMA page_size = ${pageBytes}`);
  useLog(connection);
  connection.run('PRAGMA foreign_keys = ON');
  connection.run('PRAGMA temp_store = MEMORY');
  connection.run('PRAGMA cache_size = -16000');
  // A log that grew during a burst is truncated when it is next reused.
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
      // With open statements the connection would stay open, and its log would not be copied.
      statements.clear();
      connection.close(true);
    },
  };
}

export function connectReader(file: string): Connected {
  const connected = connect(file, false);
  // Readers read pages that the system has in memory in place. The writer writes to the log.
  connected.connection.run(`PRAGMA mmap_size = ${mappedBytes}`);
  return connected;
}

/**
 * A reader whose reads share one transaction, and one read of the state, for a turn of the event loop: taking and
 * releasing SQLite's locks costs more than a read by key. `end` must be called when this process has committed, and
 * `refresh` when a request arrives: a transaction that began late in a turn would otherwise last into the next turn,
 * and hide from its requests what other processes have acknowledged in between.
 */
export function createSharedReader(connected: Connected, file: string) {
  let open = false;
  let state: number | undefined;
  let endsSoon = false;
  /** Whether the transaction, if any, began after the requests of this turn had arrived. */
  let isFresh = false;
  const end = (): void => {
    state = undefined;
    if (!open) return;
    open = false;
    try {
      connected.execute('COMMIT');
    } catch {
      // A read has failed because of damage; there are no writes that could be lost.
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
    // The transaction may see a newer state: the next check reads the state again.
    state = undefined;
    endSoon();
  };
  const readState = createCommitState(connected, file, end);
  return {
    session: wrapSession(connected.session, send => {
      begin();
      return send();
    }),
    end,
    refresh(): void {
      if (isFresh) return;
      isFresh = true;
      end();
      endSoon();
    },
    state(): number {
      if (state === undefined) {
        state = readState();
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
  // .all steps a statement to its end: an unfinished one would prevent checkpoints of the log.
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

/** Runs work on the file through a connection of its own. @throws what `translate` makes of an error */
export function runTranslated<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw translate(error, file);
  }
}

/**
 * Returns errors that callers can act on as StorageError, and any other error unchanged.
 * @param file the database file, which messages name
 */
export function translate(error: unknown, file: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? '';
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|TRIGGER)$/.test(code)) {
    // "UNIQUE constraint failed: products.sku"
    const column = /: \w+\.(\w+)/.exec(error.message)?.[1] ?? 'id';
    return new StorageError('unique', error.message, { column, cause: error });
  }
  // SQLITE_FULL stands for ENOSPC only: to SQLite, an exceeded quota or file size limit is a failed write.
  if (code === 'SQLITE_FULL')
    return new StorageError('full', `The disk of ${file} is full.`, { cause: error });
  if (/^SQLITE_IOERR_(WRITE|SHMSIZE)$/.test(code)) return createWriteFailure(file, error);
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code))
    return new StorageError('damaged', `${file}: ${error.message}`, { cause: error });
  if (/^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY|LOCKED)/.test(code)) {
    return new StorageError('unavailable', `${file}: ${error.message}`, { cause: error });
  }
  return error;
}
