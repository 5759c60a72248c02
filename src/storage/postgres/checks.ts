/** Checks of a PostgreSQL database: see ../database.ts. The server has its own tool for indexes, pg_amcheck. */
import { sql } from 'kysely';
import { getErrorMessage } from '../../error-text.ts';
import { type Builder, type DialectChecks, type Reference, type Session, StorageError } from '../database.ts';

/** Reads every value of a table, including those stored out of line: an unreadable page is an error (XX001). */
async function findUnreadable(session: Session, build: Builder, table: string): Promise<string[]> {
  await session.run(sql`savepoint reading`.compile(build));
  try {
    const name = sql.id(table);
    await session.all(sql`select sum(length(${name}::text)) from ${name}`.compile(build));
    return [];
  } catch (error) {
    // A lock that was not released in time says nothing about the table.
    if (error instanceof StorageError && error.kind === 'unavailable') throw error;
    await session.run(sql`rollback to savepoint reading`.compile(build));
    return [`${table}: ${getErrorMessage(error)}`];
  }
}

/** The tables that counts, indexes and tags are derived from. */
const derivedFrom = 'products, reviews, articles, posts, orders, order_items, users, invoices, counters';

export const postgresChecks: DialectChecks = {
  async damage(session, build, quick) {
    if (quick) return [];
    const tables = await session.all(
      sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema()
        order by 1`.compile(build),
    );
    const lines: string[] = [];
    for (const { name } of tables) lines.push(...(await findUnreadable(session, build, name)));
    return lines;
  },
  references: sql<Reference>`select child.relname as child, own.attname as "column", parent.relname as parent,
      other.attname as target
    from pg_constraint as keys
    join pg_class as child on child.oid = keys.conrelid
    join pg_class as parent on parent.oid = keys.confrelid
    join pg_attribute as own on own.attrelid = keys.conrelid and own.attnum = keys.conkey[1]
    join pg_attribute as other on other.attrelid = keys.confrelid and other.attnum = keys.confkey[1]
    where keys.contype = 'f' and keys.connamespace = current_schema()::regnamespace order by 1, 2`,
  beforeRepair: [sql.raw(`lock table ${derivedFrom} in share row exclusive mode`)],
  rebuildIndexes: [],
};
