/** Scenarios that run on both databases; without PostgreSQL, its half is skipped and counted as skipped. */
import { describe } from 'bun:test';
import { hasPostgres } from './postgres.ts';
import { type DatabaseKind, databaseKinds } from './service.ts';

/** @param title with `%s` for the name of the database */
export function describeOnDatabases(title: string, body: (kind: DatabaseKind) => void): void {
  for (const kind of databaseKinds)
    describe.skipIf(kind === 'postgresql' && !hasPostgres)(title.replace('%s', kind), () => body(kind));
}
