/** Checks of a PostgreSQL database: see ../database.ts. The server has its own tool for indexes, pg_amcheck. */
import { sql } from 'kysely';
import { getErrorMessage } from '../../error-text.ts';
import {
  type Builder,
  type Database,
  type DialectChecks,
  type Reference,
  type Session,
  StorageError,
} from '../database.ts';

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

/** The name of a schema may need quotation marks. */
const schema = sql`quote_ident(current_schema())::regnamespace`;

const toTrigger = (name: string): string => `trigger ${name}`;

/**
 * Where the service's role does not own the tables, which rights it lacks; on SQLite none.
 * @returns a line for each table or sequence of the catalog
 */
export async function findMissingRights({ read, build, dialect }: Database): Promise<string[]> {
  if (dialect.name !== 'postgresql') return [];
  const rows = await read.all(
    sql<{ line: string }>`with own as (select oid, relname as name, relkind as kind from pg_class
        where relnamespace = ${schema} and relname <> 'migrations'
          and relowner = (select relowner from pg_class where oid = to_regclass('migrations'))),
      lacking as (select name, wanted
        from own, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'USAGE']) as wanted
        where case when kind = 'r' and wanted <> 'USAGE' then not has_table_privilege(oid, wanted)
          when kind = 'S' and wanted = 'USAGE' then not has_sequence_privilege(oid, wanted) else false end)
      select string_agg(wanted, ', ') || ' on ' || name as line from lacking group by name order by name`.compile(
      build,
    ),
  );
  return rows.map(({ line }) => line);
}

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
    where keys.contype = 'f' and keys.connamespace = ${schema} order by 1, 2`,
  declared: sql<{ line: string }>`with columns as (select keys.oid as key, own.attname as name
        from pg_constraint as keys join pg_attribute as own
          on own.attrelid = keys.conrelid and own.attnum = any(keys.conkey)
        where keys.connamespace = ${schema}),
      keys as (select keys.oid, keys.contype as kind, child.relname as "table", parent.relname as parent,
          (select string_agg(name, ', ' order by name) from columns where key = keys.oid) as names
        from pg_constraint as keys join pg_class as child on child.oid = keys.conrelid
          left join pg_class as parent on parent.oid = keys.confrelid
        where keys.connamespace = ${schema})
    select 'index ' || class.relname as line from pg_index as own join pg_class as class on class.oid = own.indexrelid
      where class.relnamespace = ${schema}
        and not exists (select 1 from pg_constraint where conindid = own.indexrelid and contype in ('p', 'u'))
    union all select case kind when 'p' then 'primary' else 'unique' end || ' key (' || names || ') of ' || "table"
      from keys where kind in ('p', 'u')
    union all select 'reference ' || names || ' of ' || "table" || ' to ' || parent from keys where kind = 'f'
    union all select 'trigger ' || tgname from pg_trigger join pg_class as class on class.oid = tgrelid
      where class.relnamespace = ${schema} and not tgisinternal`,
  ownDeclared: [
    'index events_by_transaction',
    'index search_index_by_word',
    'primary key (position) of search_index',
    ...['begin_events', 'claim_variant_sku_on_insert', 'claim_variant_sku_on_update'].map(toTrigger),
    ...['refuse_variant_sku_on_insert', 'refuse_variant_sku_on_update'].map(toTrigger),
  ],
  sequences: {
    tables: sql<{ table: string }>`select class.relname as "table" from pg_attribute as own
    join pg_class as class on class.oid = own.attrelid
    where own.attname = 'id' and own.attidentity <> '' and class.relnamespace = ${schema}
    order by 1`,
    lastIds: table => sql<{ largest: number; given: number }>`select coalesce(max(id), 0) as largest,
      coalesce(pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass), 0)::integer as given
    from ${sql.table(table)}`,
  },
  beforeRepair: [sql.raw(`lock table ${derivedFrom} in share row exclusive mode`)],
  rebuildIndexes: [],
};
