/**
 * The interface of a database for the rest of the service: queries are built with Kysely, compiled to text, and run
 * here. The two implementations are sqlite/index.ts and postgres/index.ts; nothing else knows which one runs.
 */
import type { CompiledQuery, Kysely, RawBuilder } from 'kysely';
import type { Bulk, BulkInsert } from './bulk.ts';
import type { Changes } from './changes/change.ts';
import type { Tables } from './tables.ts';

/** Ids are 32-bit integers on both databases. */
export const maxId = 2_147_483_647;

export type Builder = Kysely<Tables>;

export interface Session {
  all<Row>(query: CompiledQuery<Row>): Promise<Row[]>;
  /** The first row, or undefined. */
  first<Row>(query: CompiledQuery<Row>): Promise<Row | undefined>;
  /** Runs a statement that returns no rows. @returns the number of rows that it changed */
  run(query: CompiledQuery<unknown>): Promise<number>;
}

/** A number in the database that many transactions add to. */
export interface Counter {
  /** Identifies the counter. Counters are written in the order of their keys; keys of one table share a prefix. */
  readonly key: string;
  /** The statement that adds to counters of this kind; `row` returns the row that it takes for this counter. */
  readonly statement: Bulk;
  row(amount: number): readonly unknown[];
}

/** How rows are read by a unique key. */
export interface Lookup<Key extends string | number, Row> {
  /** Takes at most `maxAtOnce` keys (batched-lookups.ts). If it locks rows, it does so in the order of their keys. */
  statement(keys: readonly Key[]): CompiledQuery<Row>;
  keyOf(row: Row): Key;
}

/** Work that transactions leave for their end, where it is done together: see Transaction.atEnd. */
export interface Ending {
  run(session: Session, items: ReadonlySet<string>): Promise<void>;
}

export interface Transaction extends Session {
  /**
   * Shares no commit with the transactions before and after it: it sees what those before it have left for their end
   * (`increment`, `writeDeferred`), and those after it see what it leaves. On PostgreSQL that holds for every
   * transaction without `touches`. On SQLite the work may begin again.
   */
  separate(): void;
  /**
   * Runs an INSERT of one row into a table with an `id`, and returns that id. The query must have no RETURNING: on
   * SQLite, where a RETURNING costs half as much as the insert, the id is read in another way.
   */
  insert(query: CompiledQuery<unknown>): Promise<number>;
  /** As `insert`, for many rows. @returns their ids, in the order of the rows */
  insertMany(into: BulkInsert, rows: readonly (readonly unknown[])[]): Promise<number[]>;
  /** The row with a key; on PostgreSQL it is read together with the rows that other transactions of the group pick. */
  pick<Key extends string | number, Row>(lookup: Lookup<Key, Row>, key: Key): Promise<Row | undefined>;
  /** Writes rows now, on PostgreSQL by COPY if they are very many. */
  writeMany(statement: Bulk, rows: readonly (readonly unknown[])[]): Promise<void>;
  /**
   * Adds to a counter just before the commit, in the order of the counters' keys, so that no deadlock arises.
   * Transactions that are committed together add their sum once.
   */
  increment(counter: Counter, amount: number): void;
  /**
   * Writes rows just before the commit, if the transaction does not read their effects. Transactions that are committed
   * together write these rows together: table by table, and as many as fit in each statement. If that fails, all fail.
   */
  writeDeferred(statement: Bulk, rows: readonly (readonly unknown[])[]): void;
  /**
   * Runs `ending` before the commit, after the rows of `writeDeferred` and before the counters of `increment`: once for
   * all items that the transactions that are committed together leave for it. If it fails, all of them fail.
   */
  atEnd(ending: Ending, item: string): void;
  /** Runs `effect` in this process once the transaction is durable, and not at all if it is undone. */
  onCommit(effect: () => void): void;
}

export interface WriteOptions {
  /** Two writes with the same lock never run at once: the second fails with StorageError `locked`. */
  readonly lock?: string;
  /** With `lock`: the second write waits instead, for as long as a statement may wait for a lock. */
  readonly waitForLock?: boolean;
  /**
   * The existing things that the work locks or changes, such as `product 5`. Given only if the work relies on nothing
   * else that another such transaction may change: PostgreSQL may then run them together, as one transaction.
   */
  readonly touches?: readonly string[] | undefined;
  /** Uses, on PostgreSQL, the connection that is reserved for counting requests, and waits for no other writer. */
  readonly reservedConnection?: boolean;
}

interface SnapshotOptions {
  /**
   * For reads that may take long: on SQLite they run in the background, one snapshot at a time. `part` is for each of
   * the many short reads that load something into memory: they have a second thread, since each would otherwise wait
   * for all long reads before it.
   */
  readonly background?: boolean | 'part';
  /** For checks of all data: on PostgreSQL no statement is cancelled, however long it takes. */
  readonly unlimited?: boolean;
}

export interface Database {
  readonly dialect: Dialect;
  /** Builds queries for this database's dialect; runs none. */
  readonly build: Builder;
  /** Reads outside of transactions: each statement sees its own state of the data. */
  readonly read: Session;
  /** Must be called when a request arrives: later reads then see everything that was committed before. */
  refresh(): void;
  /** Runs several reads that see the same state of the data. */
  snapshot<T>(work: (session: Session) => Promise<T>, options?: SnapshotOptions): Promise<T>;
  /**
   * Runs one transaction: it is durable when the promise resolves, and undone when the promise rejects. `work` must
   * only wait for its session, since on SQLite it holds the only writer. After a deadlock, or when another transaction
   * of the group fails, everything that `work` wrote is undone and it is run again from the beginning.
   */
  write<T>(work: (session: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Runs statements one by one under a lock that only one process can hold: for migrations. */
  exclusively<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** What any process has committed since the last check; for caches. */
  readonly changes: Changes;
  /**
   * A number that changes whenever any process commits anything; undefined where only a query could show that.
   */
  state(): number | undefined;
  /**
   * Rejects with StorageError `unavailable` or `refused` when the database does not respond,
   * `read-only` when it takes no writes, `moved` when its file was removed or replaced.
   */
  ping(): Promise<void>;
  /** Bytes of the database file and of its write-ahead log; undefined where this process cannot see them. */
  size(): { readonly bytes: number; readonly walBytes: number } | undefined;
  close(): Promise<void>;
}

/** A column that refers to the rows of another table. */
export interface Reference {
  readonly child: string;
  readonly column: string;
  readonly parent: string;
  readonly target: string;
}

/** A column that refers to a row: with that row, the database itself deletes the referring rows, or sets it to null. */
interface Dependent {
  readonly child: string;
  readonly column: string;
  readonly action: 'CASCADE' | 'SET NULL';
}

/** The parts of checks and repairs that depend on the dialect. */
export interface DialectChecks {
  /**
   * Reads all data. @param quick leaves out what takes longest: whether the indexes have all rows
   * @returns a line for each damaged part, up to a limit
   */
  damage(session: Session, build: Builder, quick: boolean): Promise<string[]>;
  readonly references: RawBuilder<Reference>;
  /** The indexes, keys and references that the schema declares: a line each, in the same words on both databases. */
  readonly declared: RawBuilder<{ readonly line: string }>;
  /** What only this database declares: such lines, and `trigger NAME`. */
  readonly ownDeclared: readonly string[];
  /** The sequences that give ids; undefined where a table's own rows give its next id. */
  readonly sequences?: {
    readonly tables: RawBuilder<{ readonly table: string }>;
    /** The largest id of a table, and the last one that its sequence has given. */
    lastIds(table: string): RawBuilder<{ readonly largest: number; readonly given: number }>;
  };
  /** Run first in a repair, so that nothing else writes during it. */
  readonly beforeRepair: readonly RawBuilder<unknown>[];
  /** Rebuilds all indexes; empty where the server has its own tools for that. */
  readonly rebuildIndexes: readonly RawBuilder<unknown>[];
}

/** A long series of transactions that add very many rows, as cheaply as the database allows. */
export interface BulkLoad {
  readonly database: Database;
  /** How long a transaction may take: other processes may be waiting for it. */
  readonly transactionMs: number;
  /** Runs one of the transactions. Between them, other processes that wait to write get their turn. */
  write<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** Must be called after each transaction. @param rows added since the load began @param existing rows before that */
  added(rows: number, existing: number): Promise<void>;
  /** Closes the database, and builds the indexes that were dropped during the load. */
  close(): Promise<BulkLoadEnd>;
}

interface BulkLoadEnd {
  /** How many indexes were built; `milliseconds` says how long that took. */
  readonly indexes: number;
  readonly milliseconds: number;
  /** Why the indexes could not be built; the next start of a service does that. */
  readonly problem?: unknown;
}

/** The SQL that differs between the two databases. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgresql';
  readonly types: {
    readonly id: RawBuilder<unknown>;
    readonly text: RawBuilder<unknown>;
    readonly integer: RawBuilder<unknown>;
    readonly real: RawBuilder<unknown>;
    readonly moment: RawBuilder<unknown>;
  };
  /** Returns a row if there is a table of this name with this column. */
  readonly column: (table: string, name: string) => RawBuilder<unknown>;
  /** The encoding of stored texts, and the version of the server (150004 is 15.4); undefined without a server. */
  readonly server?: RawBuilder<{ encoding: string; version: number }>;
  /** Chooses which row of a counter this connection adds to, so that concurrent writers do not wait for one row. */
  readonly slot: RawBuilder<number>;
  /** Run by a migration, so that storage/changes/ finds new events. */
  readonly changes: { readonly prepare: readonly RawBuilder<unknown>[] };
  /** For tables read by cursor while they grow; undefined where rows are committed in the order of their ids. */
  readonly followed?: {
    /** Run by a migration for such a table. */
    prepare(table: string): readonly RawBuilder<unknown>[];
    /** The id up to which no more rows will be added to the table. The rows must be read after this. */
    last(table: string): RawBuilder<{ id: number }>;
  };
  /** The references that deleting a row of a table changes; undefined where that does not block the event loop. */
  readonly dependents?: (parent: string) => RawBuilder<Dependent>;
  /** The last id assigned in each table, so that a copy does not reuse it; undefined where nothing is copied from. */
  readonly lastIds?: RawBuilder<{ table: string; last: number }>;
  /** Makes the ids of a table continue after `last`; undefined where data is never copied to. */
  readonly continueIds?: (table: string, last: number) => RawBuilder<unknown>;
  /**
   * Takes a lock until the transaction ends: `shared` with other transactions, or `exclusive`. Undefined where only one
   * transaction writes at a time.
   */
  readonly lock: ((name: string, mode: 'shared' | 'exclusive') => RawBuilder<unknown>) | undefined;
  /** A text as a JSON string, as JSON.stringify writes it. */
  readonly json: (text: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** The numbers of a group as one text, separated by commas, sorted by `order` if it is given. */
  readonly joined: (number: RawBuilder<unknown>, order?: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** The position of `part` in a text, from 1; 0 if it is not there. */
  readonly position: (text: RawBuilder<unknown>, part: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Ends a SELECT whose rows the transaction is about to change. */
  readonly forUpdate: RawBuilder<unknown>;
  /**
   * Whether a row that a statement locks was changed after the statement began, so that what the statement reads from
   * other tables is older than the row; undefined where that cannot happen.
   */
  readonly isStaleRead: ((table: string) => RawBuilder<boolean>) | undefined;
  /** Ends a SELECT whose rows must not be deleted before the transaction ends. */
  readonly forKeyShare: RawBuilder<unknown>;
  /** As forUpdate, for a queue: skips rows that another transaction has locked. */
  readonly skipLocked: RawBuilder<unknown>;
  readonly checks: DialectChecks;
}

/**
 * `refused`: the server responds, but refuses connections: a wrong password, no such database, or one that is closed.
 * `read-only`: the server is a standby, or is set to take no writes. `moved`: the file was removed or replaced while it
 * was open. `damaged`: stored data was corrupted and cannot be read.
 */
export type StorageErrorKind =
  | 'unique'
  | 'unavailable'
  | 'refused'
  | 'read-only'
  | 'full'
  | 'locked'
  | 'moved'
  | 'damaged';

/** A failure of the database that callers can act on. Any other error passes through unchanged. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;
  /** For `unique`: the column whose value is taken. */
  readonly column: string | undefined;
  /** For `unavailable`: the database responds, but another process or transaction held a lock for too long. */
  readonly isLocked: boolean;

  constructor(
    kind: StorageErrorKind,
    message: string,
    options: { column?: string; isLocked?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'StorageError';
    this.kind = kind;
    this.column = options.column;
    this.isLocked = options.isLocked ?? false;
  }
}

/** Ignores a StorageError and throws any other error. */
export function ignoreStorageError(error: unknown): void {
  if (!(error instanceof StorageError)) throw error;
}
