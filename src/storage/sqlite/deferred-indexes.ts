/**
 * Drops the secondary indexes of an SQLite database for a large import, and builds them again afterwards.
 *
 * Each inserted row changes a page of every index, and usually another page than the row before: with 500,000 products
 * a short transaction writes some 10 KB a row, twice. Building an index from all rows writes it once, in order. Small
 * indexes stay.
 *
 * These indexes only make reads fast, so the data remains correct without them. The transaction that drops an index
 * notes that in the database: after a crash the next start builds it. The search index is written during the import,
 * since in sorted batches that costs no more than later, but its pieces are merged less often, and all at the end.
 *
 * A running service needs its indexes. An import creates the table of dropped indexes before it looks whether the file
 * is in use, and a service that has opened the file drops this table: without it, the import drops no index.
 */
import { Database as Connection } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { hastyMerging, tidyMerging } from '../search/sqlite.ts';
import { pageBytes, runTranslated } from './connection.ts';
import { isUnused, runWhenFree, useLog } from './journal-mode.ts';

/** In KiB: sorting parts that fit a processor's cache, and merging them, is faster than sorting all rows at once. */
const sortMemory = 1000;
/** Threads that sort one part while the next is being read. */
const sortThreads = 2;
/** An index is small if it has fewer than one row in this many. */
const smallShare = 10;
/** The pause after each transaction, in which other processes can write: they try every few milliseconds. */
export const turnMs = 6;
/** In seconds: see runTransaction. */
const patience = 600;
/** In pages: large, since building waits whenever the log is copied into the database. */
const logPages = 100_000;

/**
 * Lets this process drop indexes later, unless another process has the file open or opens it until then. Must be called
 * before this process opens the file; creates it if there is none.
 * @returns false if another process has the file open
 */
export function prepareLoad(file: string): boolean {
  if (!isUnused(file)) return false;
  restoreIndexes(file);
  runOn(file, connection =>
    runTransaction(connection, () => {
      if (!isOfAnotherProgram(connection))
        connection.run(
          'create table if not exists deferred_indexes (name text primary key, statement text not null)',
        );
    }),
  );
  if (isUnused(file)) return true;
  restoreIndexes(file);
  return false;
}

/**
 * Drops the secondary indexes of the tables, except unique and small ones, and notes how to build them.
 * @returns whether it did: not if another process has the file open, or has opened it since the load began, or loads too
 *   and has dropped them already
 */
export const deferIndexes = (file: string, tables: readonly string[]): boolean =>
  runOn(file, connection => runTransaction(connection, () => defer(connection, tables)));

/**
 * Builds the indexes that were dropped and tidies the search index, each in a separate transaction.
 * @param file an SQLite database, which need not exist
 * @returns how many indexes were built
 */
export function restoreIndexes(file: string): number {
  if (!existsSync(file)) return 0;
  return runOn(file, connection => {
    for (let built = 0; ; ) {
      const restored = runTransaction(connection, () => restoreOne(connection));
      if (restored === undefined) return built;
      if (isIndex(restored)) built++;
      Bun.sleepSync(turnMs);
    }
  });
}

interface Index {
  readonly name: string;
  readonly statement: string;
}

function readSecondaryIndexes(connection: Connection, table: string): Index[] {
  const query = `select name, sql as statement from sqlite_master
    where type = 'index' and tbl_name = ? and sql is not null and sql not like 'create unique%'`;
  return connection.query<Index, [string]>(query).all(table);
}

/**
 * Whether an index is partial, and so far has fewer than a tenth of the rows: building it would read all rows, while
 * keeping it costs few writes.
 */
function isSmall(connection: Connection, table: string, name: string, statement: string): boolean {
  const [, condition] = statement.split(/\swhere\s/i);
  if (condition === undefined) return false;
  const inIndex = `select 1 from "${table}" indexed by "${name}" where ${condition}`;
  const query = connection.prepare<{ small: number }, []>(`select not exists (${inIndex} limit 1
    offset (select count(*) from "${table}") / ${smallShare}) as small`);
  try {
    return query.get()?.small === 1;
  } finally {
    query.finalize();
  }
}

const isIndex = ({ statement }: Index): boolean => /^create index/i.test(statement);

/** @returns false without the table that prepareLoad has created, or if another load has used it */
function defer(connection: Connection, tables: readonly string[]): boolean {
  if (!hasTable(connection) || readNext(connection) !== null) return false;
  const note = connection.prepare('insert into deferred_indexes values (?, ?)');
  for (const table of tables) {
    for (const { name, statement } of readSecondaryIndexes(connection, table)) {
      if (isSmall(connection, table, name, statement)) continue;
      note.run(name, statement);
      connection.run(`drop index "${name}"`);
    }
  }
  for (const statement of hastyMerging) connection.run(statement);
  for (const [index, statement] of tidyMerging.entries()) note.run(`search_index ${index}`, statement);
  note.finalize();
  return true;
}

/** @returns what was restored; undefined when nothing was left, and the table of dropped indexes was dropped itself */
function restoreOne(connection: Connection): Index | undefined {
  // Another process may have been here first.
  if (!hasTable(connection)) return undefined;
  const next = readNext(connection);
  if (next === null) {
    connection.run('drop table deferred_indexes');
    return undefined;
  }
  connection.run(next.statement.replace(/^create index/i, '$& if not exists'));
  connection.run('delete from deferred_indexes where name = ?', [next.name]);
  return next;
}

const readNext = (connection: Connection): Index | null =>
  connection.query<Index, []>('select name, statement from deferred_indexes order by name limit 1').get();

const hasTable = (connection: Connection): boolean =>
  connection.query("select 1 from sqlite_master where name = 'deferred_indexes'").get() !== null;

/** Whether the file has tables, but not those of a catalog: the migrations then refuse it, and it must stay as it is. */
const isOfAnotherProgram = (connection: Connection): boolean =>
  connection
    .query(`select 1 from sqlite_master
      where not exists (select 1 from sqlite_master where name = 'migrations') limit 1`)
    .get() !== null;

/** Waits for the transactions of other processes: tidying a large search index is one, and takes minutes. */
const runTransaction = <Result>(connection: Connection, work: () => Result): Result =>
  runWhenFree(() => connection.transaction(work).immediate(), patience);

function runOn<Result>(file: string, work: (connection: Connection) => Result): Result {
  return runTranslated(file, () => {
    using connection = new Connection(file, { create: true, readwrite: true, strict: true });
    connection.run(`PRAGMA page_size = ${pageBytes}`);
    useLog(connection);
    connection.run('PRAGMA synchronous = FULL');
    connection.run('PRAGMA temp_store = FILE');
    connection.run(`PRAGMA cache_size = -${sortMemory}`);
    connection.run(`PRAGMA threads = ${sortThreads}`);
    connection.run(`PRAGMA wal_autocheckpoint = ${logPages}`);
    return work(connection);
  });
}
