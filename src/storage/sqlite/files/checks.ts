/** Checks of an SQLite database: the `DialectChecks` of ../../database.ts. */
import { sql } from 'kysely';
import type { DialectChecks, Reference } from '../../database.ts';
import { StorageError } from '../../database.ts';

/** Maximum number of lines about a damaged database: there might be one for each page. */
const maxLines = 20;

export const sqliteChecks: DialectChecks = {
  async damage(session, build, quick) {
    const pragma = quick ? 'quick_check' : 'integrity_check';
    const query = sql<Record<string, string>>`${sql.raw(`PRAGMA ${pragma}(${maxLines})`)}`;
    const rows = await session.all(query.compile(build)).catch(createFailureHandler(pragma));
    const lines = rows.map(row => row[pragma] ?? '');
    return lines.filter(line => line !== 'ok').map(line => line.replaceAll(/\s+/g, ' '));
  },
  references: sql<Reference>`select tables.name as child, keys."from" as "column", keys."table" as parent,
      coalesce(keys."to", 'id') as target
    from sqlite_schema as tables join pragma_foreign_key_list(tables.name) as keys
    where tables.type = 'table' order by 1, 2`,
  // The search index has tables of its own.
  declared: sql<{ line: string }>`with tables as (
      select name from sqlite_schema where type = 'table' and name not like 'search_index_%')
    select 'index ' || name as line from sqlite_schema where type = 'index' and sql is not null
    union all select 'unique key (' || (select group_concat(name, ', ')
        from (select name from pragma_index_info(keys.name) order by name)) || ') of ' || tables.name
      from tables join pragma_index_list(tables.name) as keys where keys.origin = 'u'
    union all select 'primary key (' || (select group_concat(name, ', ')
        from (select name from pragma_table_info(tables.name) where pk > 0 order by name)) || ') of ' || tables.name
      from tables where exists (select 1 from pragma_table_info(tables.name) where pk > 0)
    union all select 'reference ' || keys."from" || ' of ' || tables.name || ' to ' || keys."table"
      from tables join pragma_foreign_key_list(tables.name) as keys`,
  ownDeclared: [],
  // A write transaction excludes all other writers.
  beforeRepair: [],
  rebuildIndexes: [sql`reindex`],
};

/** The search index has tables of its own; if one of them is damaged, the check itself fails. */
const createFailureHandler = (pragma: string) => (error: unknown) => {
  if (error instanceof StorageError && error.kind === 'damaged') return [{ [pragma]: error.message }];
  throw error;
};
