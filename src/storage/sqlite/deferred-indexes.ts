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
 */
import { Database as Connection } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { hastyMerging, tidyMerging } from '../search/sqlite.ts';
import { useLog } from './journal-mode.ts';

/** How long a statement waits for the transaction of another process. */
const busyTimeoutMs = 10_000;
/** In KiB: sorting parts that fit a processor's cache, and merging them, is faster than sorting all rows at once. */
const sortMemory = 1000;
/** Threads that sort one part while the next is being read. */
const sortThreads = 2;
/** An index is small if it has fewer than one row in this many. */
const smallShare = 10;
/** In pages: large, since building waits whenever the log is copied into the database. */
const logPages = 100_000;

/** Drops the secondary indexes of the tables, except unique and small ones, and notes how to build them. */
export function deferIndexes(file: string, tables: readonly string[]): void {
  using connection = connect(file);
  connection
    .transaction(() => {
      connection.run(
        'create table if not exists deferred_indexes (name text primary key, statement text not null)',
      );
      for (const table of tables) {
        for (const { name, statement } of readSecondaryIndexes(connection, table)) {
          if (isSmall(connection, table, name, statement)) continue;
          connection.run('insert or replace into deferred_indexes values (?, ?)', [name, statement]);
        }
      }
      for (const { name } of readDeferred(connection)) connection.run(`drop index if exists "${name}"`);
      for (const statement of hastyMerging) connection.run(statement);
      for (const [index, statement] of tidyMerging.entries()) {
        const note = `search_index ${index}`;
        connection.run('insert or replace into deferred_indexes values (?, ?)', [note, statement]);
      }
    })
    .immediate();
}

/**
 * Builds the indexes that were dropped and tidies the search index, each in a separate transaction; after that the
 * database has a write-ahead log.
 * @param file an SQLite database, which need not exist
 * @param alone whether this process has the file to itself, and needs no log to build them: see journal-mode.ts
 * @returns how many indexes were built
 */
export function restoreIndexes(file: string, alone = false): number {
  if (!existsSync(file)) return 0;
  using connection = connect(file);
  if (!alone) useLog(connection);
  const built = restore(connection);
  if (alone) useLog(connection);
  return built;
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

function restore(connection: Connection): number {
  const hasTable = connection.query("select 1 from sqlite_master where name = 'deferred_indexes'");
  if (hasTable.get() === null) return 0;
  const indexes = readDeferred(connection);
  for (const { name, statement } of indexes) {
    connection
      .transaction(() => {
        // Another process may have been here first.
        connection.run(statement.replace(/^create index/i, 'create index if not exists'));
        connection.run('delete from deferred_indexes where name = ?', [name]);
      })
      .immediate();
  }
  return indexes.filter(({ statement }) => /^create index/i.test(statement)).length;
}

function connect(file: string): Connection {
  const connection = new Connection(file, { readwrite: true, strict: true });
  connection.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  connection.run('PRAGMA synchronous = FULL');
  connection.run('PRAGMA temp_store = FILE');
  connection.run(`PRAGMA cache_size = -${sortMemory}`);
  connection.run(`PRAGMA threads = ${sortThreads}`);
  connection.run(`PRAGMA wal_autocheckpoint = ${logPages}`);
  return connection;
}

function readDeferred(connection: Connection): Index[] {
  return connection.query<Index, []>('select name, statement from deferred_indexes order by name').all();
}
