/** Copies the rows of all tables from one database into another that has no rows. */
import { sql } from 'kysely';
import type { Bulk } from '../../storage/bulk.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import { readTable } from '../check/check.ts';

type TableName = keyof Tables;
/** Tables that are not copied, because each database has its own contents in them. */
type OwnTable = 'migrations' | 'collection_versions';
type Row = Readonly<Record<string, unknown>>;

/**
 * The tables, parents before the tables that refer to them. Each has the columns of a key, in whose order its rows are
 * read: categories by their depth, since they refer to each other.
 */
const keys: Readonly<Record<Exclude<TableName, OwnTable>, readonly string[]>> = {
  users: ['id'],
  sessions: ['id'],
  ended_sessions: ['user_id'],
  user_tokens: ['token_hash'],
  address_tokens: ['token_hash'],
  known_addresses: ['hash'],
  failed_attempts: ['hash'],
  api_keys: ['id'],
  idempotency_keys: ['caller', 'key'],
  quotas: ['subject', 'window_start'],
  attributes: ['id'],
  search_synonyms: ['id'],
  products: ['id'],
  categories: ['depth', 'id'],
  product_categories: ['product_id', 'category_id'],
  product_totals: ['category_id', 'status', 'slot'],
  product_tags: ['tag', 'product_id'],
  product_attributes: ['key', 'value', 'product_id'],
  product_variants: ['id'],
  media: ['hash'],
  media_uses: ['hash', 'product_id'],
  media_unused: ['hash'],
  reviews: ['id'],
  articles: ['id'],
  article_tags: ['tag', 'article_id'],
  posts: ['id'],
  comments: ['id'],
  orders: ['id'],
  order_items: ['id'],
  payments: ['id'],
  stock_adjustments: ['id'],
  invoices: ['id'],
  counters: ['name'],
  todos: ['id'],
  events: ['id'],
  deliveries: ['id'],
  notifications: ['id'],
};

/** From 200 rows on, PostgreSQL is written to with COPY. Not many more: a row may take a megabyte. */
const rowsAtOnce = 250;

type Queryable = Pick<Database, 'build' | 'dialect'>;

/** A side of the copy: a database, and the transaction in which it is read or written. */
interface Side<S extends Session> {
  readonly database: Queryable;
  readonly session: S;
}

/** @returns the first table that has rows; undefined if all are empty */
export async function findFilled({ build }: Queryable, session: Session): Promise<string | undefined> {
  for (const table of Object.keys(keys)) {
    const found = sql<Row>`select 1 as found from ${sql.id(table)} limit 1`;
    if ((await session.first(found.compile(build))) !== undefined) return table;
  }
  return undefined;
}

/**
 * Copies all rows and the sequences of ids, but not the search index, which the caller must build.
 * @param to has no rows, and the same migrations
 * @returns the number of rows of each table
 */
export async function copyTables(
  from: Side<Session>,
  to: Side<Transaction>,
): Promise<ReadonlyMap<string, number>> {
  const copied = new Map<string, number>();
  for (const [table, key] of Object.entries(keys)) copied.set(table, await copyTable(table, key, from, to));
  const { lastIds } = from.database.dialect;
  const last = lastIds === undefined ? [] : await from.session.all(lastIds.compile(from.database.build));
  for (const row of last.filter(({ table }) => Object.hasOwn(keys, table))) {
    const statement = to.database.dialect.continueIds?.(row.table, row.last);
    if (statement !== undefined) await to.session.all(statement.compile(to.database.build));
  }
  await markAsChanged(from, to);
  return copied;
}

/** Makes a service that already runs on the empty database discard its caches. */
async function markAsChanged(from: Side<Session>, to: Side<Transaction>): Promise<void> {
  const changed = sql<{ collection: string }>`select distinct collection from collection_versions`;
  const versions = createCollectionVersions(to.database);
  for (const { collection } of await from.session.all(changed.compile(from.database.build)))
    versions.advance(to.session, collection);
}

async function copyTable(
  table: string,
  key: readonly string[],
  from: Side<Session>,
  to: Side<Transaction>,
): Promise<number> {
  const { build } = from.database;
  let total = 0;
  let insert: Bulk | undefined;
  for await (const rows of readTable<Row>(from.session, build, { table, key, limit: rowsAtOnce })) {
    const columns = Object.keys(rows[0] ?? {});
    insert ??= createInsert(to.database, table, columns);
    await to.session.writeMany(
      insert,
      rows.map(row => columns.map(column => row[column])),
    );
    total += rows.length;
  }
  return total;
}

/** An INSERT of all columns, including the id. */
function createInsert({ build }: Queryable, table: string, columns: readonly string[]): Bulk {
  const names = sql.join(columns.map(name => sql.ref(name)));
  return {
    table,
    columns,
    *statements(rows) {
      const values = rows.map(row => sql`(${sql.join([...row])})`);
      yield sql`insert into ${sql.id(table)} (${names}) values ${sql.join(values)}`.compile(build);
    },
  };
}
