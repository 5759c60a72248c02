/**
 * What the rest of the service knows of a database: queries are built with Kysely, compiled to text,
 * and run here. The two implementations are sqlite/index.ts and postgres/index.ts; nothing else knows which one runs.
 */
import type { CompiledQuery, Kysely, RawBuilder } from 'kysely';
import type { Bulk, BulkInsert } from './bulk.ts';
import type { Changes } from './changes/change.ts';
import type { Tables } from './tables.ts';

/** Ids are 32-bit integers on both databases. */
export const largestId = 2_147_483_647;

export type Builder = Kysely<Tables>;

/** Somewhere a query can be run. */
export interface Session {
  /** All rows of a query that returns rows. */
  all<Row>(query: CompiledQuery<Row>): Promise<Row[]>;
  /** The first row, or undefined. */
  first<Row>(query: CompiledQuery<Row>): Promise<Row | undefined>;
  /** Runs a statement that returns no rows; gives the number of rows it changed. */
  run(query: CompiledQuery<unknown>): Promise<number>;
}

/** A number kept in the database to which many transactions add. */
export interface Counter {
  /** Distinguishes counters; those of one table begin alike, since they are written in the order of their keys. */
  readonly key: string;
  /** The statement that adds to counters of its kind, and what it takes to add to this one. */
  readonly statement: Bulk;
  row(amount: number): readonly unknown[];
}

/** How rows are read by a key that each has alone. */
export interface Lookup<Key extends string | number, Row> {
  /** For so many keys, `mostAtOnce` of batched-lookups.ts at most; it locks rows in the order of their keys. */
  statement(keys: readonly Key[]): CompiledQuery<Row>;
  keyOf(row: Row): Key;
}

/** What transactions leave to be done together before their commit: see Transaction.atEnd. */
export interface Ending {
  run(session: Session, items: ReadonlySet<string>): Promise<void>;
}

/** What a write transaction can do besides. */
export interface Transaction extends Session {
  /**
   * Runs an INSERT of one row into a table with an `id` and gives that id. The query has no RETURNING: the
   * database adds its own way to return it, since on SQLite a RETURNING costs half as much as the insert.
   */
  insert(query: CompiledQuery<unknown>): Promise<number>;
  /** The same for many rows: their ids, in the order of the rows. */
  insertMany(into: BulkInsert, rows: readonly (readonly unknown[])[]): Promise<number[]>;
  /** The row with a key: on PostgreSQL read with those that transactions want which share this one. */
  pick<Key extends string | number, Row>(lookup: Lookup<Key, Row>, key: Key): Promise<Row | undefined>;
  /** Writes rows now, by COPY where they are very many and the database has it. */
  writeMany(statement: Bulk, rows: readonly (readonly unknown[])[]): Promise<void>;
  /**
   * Adds to a counter as the last thing before the commit, in the order of the counters' keys, so that no
   * deadlock arises. On SQLite, transactions that are committed together add once together.
   */
  increment(counter: Counter, amount: number): void;
  /**
   * Writes rows whose effects the transaction does not read before its commit: transactions that are committed
   * together write theirs together, table by table, as many as go into one statement. If that fails, they fail.
   */
  writeDeferred(statement: Bulk, rows: readonly (readonly unknown[])[]): void;
  /**
   * Has `ending` run before the commit, after the rows of `writeDeferred` and before the counters of `increment`: once for all
   * items that the transaction leaves for it; on SQLite once for all transactions that are committed together. If it
   * fails, they fail.
   */
  atEnd(ending: Ending, item: string): void;
  /** Does something in this process once the transaction is durable, and never when it is not. */
  onCommit(effect: () => void): void;
}

export interface WriteOptions {
  /** Two writes with the same lock never run at once: the second fails with StorageError `locked`. */
  readonly lock?: string;
  /** With `lock`: the second waits instead, as long as a statement may wait for a lock. */
  readonly waitForLock?: boolean;
  /**
   * What it locks or changes of what exists already: `product 5`. Given by work that relies on nothing else that another
   * such transaction may change: on PostgreSQL it may run beside those that touch other things, in one transaction.
   */
  readonly touches?: readonly string[] | undefined;
  /** On PostgreSQL it uses the connection reserved for counting requests, and waits for no other writer. */
  readonly reservedConnection?: boolean;
}

interface SnapshotOptions {
  /**
   * The reads may take long: on SQLite they run in a thread beside the one that serves, one snapshot at a time. With `part`
   * it is one short read of the many that load something into memory: these have a thread of their own, since each would
   * wait for all long reads that came before it.
   */
  readonly background?: boolean | 'part';
}

export interface Database {
  readonly dialect: Dialect;
  /** Builds queries for this database's dialect; runs none. */
  readonly build: Builder;
  /** Reads, each statement by itself. */
  readonly read: Session;
  /** To be called when a request has come: what is read from then on is as new as all that was committed before it. */
  refresh(): void;
  /** Runs several reads that see one state of the data. */
  snapshot<T>(work: (session: Session) => Promise<T>, options?: SnapshotOptions): Promise<T>;
  /**
   * Runs one transaction: it is durable when the promise resolves, and left no trace when it rejects.
   * `work` must wait for nothing but its session: on SQLite it holds the only writer. It may be run again, from
   * the beginning and with all that it has written undone: after a deadlock, or because another one has failed.
   */
  write<T>(work: (session: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Runs statements one by one under a lock that only one process can hold: for migrations. */
  exclusively<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** What any process has committed since the last check: for caches. */
  readonly changes: Changes;
  /**
   * A number that is another whenever anything at all has been committed, by anyone; undefined where that
   * is unknown without a query.
   */
  state(): number | undefined;
  /**
   * Rejects with StorageError `unavailable` when the database does not respond, `read-only` when it takes no writes,
   * `moved` when its file is no longer in its place.
   */
  ping(): Promise<void>;
  /** Bytes on disk and waiting in the write-ahead log, where this process can see them. */
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

/** A column that the database itself deletes or empties with the row that it refers to. */
interface Dependent {
  readonly child: string;
  readonly column: string;
  readonly action: 'CASCADE' | 'SET NULL';
}

/** What a check of a database queries in the words of its dialect. */
export interface DialectChecks {
  /** What a session does first whose statements may take long. */
  readonly allowLongStatements: readonly RawBuilder<unknown>[];
  /**
   * Reads everything. @param quick leaves out what takes longest: whether indexes have all rows
   * @returns a line for each part that is damaged, a few at most
   */
  damage(session: Session, build: Builder, quick: boolean): Promise<string[]>;
  /** All references that the schema declares. */
  readonly references: RawBuilder<Reference>;
  /** What a repair does first: others may not write meanwhile. */
  readonly beforeRepair: readonly RawBuilder<unknown>[];
  /** Builds all indexes again; none where that is the business of the server's own tools. */
  readonly rebuildIndexes: readonly RawBuilder<unknown>[];
}

/** A long series of transactions that adds very many rows, made as cheap as the database allows. */
export interface BulkLoad {
  readonly database: Database;
  /** How long a transaction may take now, since others may wait for it. */
  transactionMs(): number;
  /** One of the transactions. Other processes that wait to write get their turn between them. */
  write<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** To be called after a transaction: how many rows are new since the beginning, and how many there were then. */
  added(rows: number, existing: number): Promise<void>;
  /** Closes the database, and builds the indexes that were not kept meanwhile. */
  close(): Promise<BulkLoadEnd>;
}

export interface BulkLoadEnd {
  /** How many indexes were built, and how long it took. */
  readonly indexes: number;
  readonly milliseconds: number;
  /** Why the database is not yet as it was before the load; the next process that opens it repairs that. */
  readonly problem?: unknown;
}

/** The places where the two databases need different words. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgresql';
  /** Column types by meaning. */
  readonly types: {
    readonly id: RawBuilder<unknown>;
    readonly text: RawBuilder<unknown>;
    readonly integer: RawBuilder<unknown>;
    readonly real: RawBuilder<unknown>;
    readonly moment: RawBuilder<unknown>;
  };
  /** Gives a row where there is a table of this name. */
  readonly table: (name: string) => RawBuilder<unknown>;
  /** In which encoding texts are stored; undefined where it is always one that has all characters. */
  readonly encoding?: RawBuilder<{ encoding: string }>;
  /** Which of a counter's rows this connection adds to, so that concurrent writers do not wait for one row. */
  readonly slot: RawBuilder<number>;
  /** What a migration does so that new events are found by storage/changes/. */
  readonly changes: { readonly prepare: readonly RawBuilder<unknown>[] };
  /** For tables that are read by cursor as they grow; undefined where rows are committed in the order of their ids. */
  readonly followed?: {
    /** What a migration does to a table. */
    prepare(table: string): readonly RawBuilder<unknown>[];
    /** Of such a table: the last id up to which no row will be added any more. Rows are to be read after this. */
    last(table: string): RawBuilder<{ id: number }>;
  };
  /** All that refers to the rows of a table and goes with them; undefined where that holds up no event loop. */
  readonly dependents?: (parent: string) => RawBuilder<Dependent>;
  /** The last ids that have been given, so that none is given twice; undefined where nothing is copied from. */
  readonly lastIds?: RawBuilder<{ table: string; last: number }>;
  /** Has the ids of a table go on after this one; undefined where nothing is copied to. */
  readonly continueIds?: (table: string, last: number) => RawBuilder<unknown>;
  /**
   * Takes a lock until the transaction ends, together with others that take it `shared`, or alone; undefined where
   * only one transaction writes at a time.
   */
  readonly lock: ((name: string, mode: 'shared' | 'exclusive') => RawBuilder<unknown>) | undefined;
  /** A text as JSON, as JSON.stringify writes it. */
  readonly json: (text: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** The numbers of a group as one text, with commas between them; in an order where one is given. */
  readonly joined: (number: RawBuilder<unknown>, order?: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Where a text first has another in it, from 1; 0 where it has not. */
  readonly position: (text: RawBuilder<unknown>, part: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Ends a SELECT whose rows the transaction is about to change. */
  readonly forUpdate: RawBuilder<unknown>;
  /**
   * Whether a row that a statement locks was changed after the statement began, so that what it reads of other tables
   * is older than the row; undefined where nothing is.
   */
  readonly isStaleRead: ((table: string) => RawBuilder<boolean>) | undefined;
  /** Ends a SELECT whose rows must not be deleted before the transaction ends. */
  readonly forKeyShare: RawBuilder<unknown>;
  /** As forUpdate, for a queue: rows that another transaction is about to change are passed over. */
  readonly skipLocked: RawBuilder<unknown>;
  readonly checks: DialectChecks;
}

/**
 * `read-only`: the server is there, but is a standby or set to take no writes. `moved`: the file was removed or
 * replaced while it was open. `damaged`: what is stored cannot be read as what was written.
 */
export type StorageErrorKind =
  | 'unique'
  | 'unavailable'
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
  /** For `unavailable`: the database is there, but another has held a lock for longer than is waited. */
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
