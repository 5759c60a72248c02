/**
 * Secondary indexes of an SQLite database, left out during a large import and built again after it.
 *
 * To insert a row is to change a page of each index, another one for each row: with 500,000 products a short transaction
 * writes some 10 KB a row, twice. Building an index from all rows writes it once, in order. Small indexes stay.
 *
 * Indexes only make reading fast, so nothing is wrong while they are missing. The transaction that drops an index notes
 * that in the database: after a crash the next start builds it. The search index is written all along, since from sorted
 * batches that costs no more than later; only its pieces are merged less often meanwhile, and all of them at the end.
 */
import { Database as Connection } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { hastyMerging, tidyMerging } from '../search/sqlite.ts';
import { useLog } from './journal-mode.ts';

/** How long another process's transaction is waited for. */
const busyTimeoutMs = 10_000;
/** In KiB, for sorting: what fits a processor's cache is sorted faster than in one go, and put together at the end. */
const sortMemory = 1000;
/** They sort one part while the next is being read. */
const sortThreads = 2;
/** One row in so many. */
const smallShare = 10;
/** In pages: copying the log after each index would write it while nothing else is done. */
const logPages = 100_000;

/** Drops the tables' indexes that are not needed to keep them correct, noting how to build them. */
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
 * Builds the indexes that were left out and tidies the search index, each in a transaction of its own; after
 * that the database keeps a write-ahead log.
 * @param file an SQLite database, which need not exist
 * @param alone who has the file alone needs no log for it: see journal-mode.ts
 * @returns how many indexes there were
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
 * Whether an index is of some rows only, and so far of fewer than a tenth: building it would read all of them, and
 * keeping it writes little.
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
