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
  // A write transaction excludes all other writers.
  beforeRepair: [],
  rebuildIndexes: [sql`reindex`],
};

/** The search index has tables of its own; if one of them is damaged, the check itself fails. */
const createFailureHandler = (pragma: string) => (error: unknown) => {
  if (error instanceof StorageError && error.kind === 'damaged') return [{ [pragma]: error.message }];
  throw error;
};
