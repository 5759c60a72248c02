/** Checks of an SQLite database: the `DialectChecks` of ../../database.ts. */
import { sql } from 'kysely';
import type { DialectChecks, Reference } from '../../database.ts';
import { StorageError } from '../../database.ts';

/** Lines of a damaged database: there may be as many as it has pages. */
const mostLines = 20;

export const sqliteChecks: DialectChecks = {
  allowLongStatements: [],
  async damage(session, build, quick) {
    const pragma = quick ? 'quick_check' : 'integrity_check';
    const query = sql<Record<string, string>>`${sql.raw(`PRAGMA ${pragma}(${mostLines})`)}`;
    const rows = await session.all(query.compile(build)).catch(createFailureHandler(pragma));
    const lines = rows.map(row => row[pragma] ?? '');
    return lines.filter(line => line !== 'ok').map(line => line.replaceAll(/\s+/g, ' '));
  },
  references: sql<Reference>`select tables.name as child, keys."from" as "column", keys."table" as parent,
      coalesce(keys."to", 'id') as target
    from sqlite_schema as tables join pragma_foreign_key_list(tables.name) as keys
    where tables.type = 'table' order by 1, 2`,
  // Anyone who writes has the database alone.
  beforeRepair: [],
  rebuildIndexes: [sql`reindex`],
};

/** The search index is read by means of its own tables: where one of those is damaged the check itself fails. */
const createFailureHandler = (pragma: string) => (error: unknown) => {
  if (error instanceof StorageError && error.kind === 'damaged') return [{ [pragma]: error.message }];
  throw error;
};
