/** Forward-only migrations: each runs once, in order, in one transaction, under a lock that one process holds. */
import { sql } from 'kysely';
import type { Database, Dialect, Session } from '../database.ts';
import { migrations } from './index.ts';

/**
 * @returns the names of the migrations that ran, in order; none when the database was up to date
 * @throws Error when a newer program has migrated the database further than this one knows
 */
export async function migrate(database: Database, now: () => number): Promise<string[]> {
  const { build } = database;
  return database.exclusively(async session => {
    await session.run(migrationsTable(database.dialect).compile(build));
    const done = await appliedIn(session, database);
    refuseNewer([...done]);
    const missing = migrations.filter(migration => !done.has(migration.name));
    for (const migration of missing) {
      await migration.up(session, database);
      const row = { name: migration.name, applied_at: now() };
      await session.run(build.insertInto('migrations').values(row).compile());
    }
    return missing.map(migration => migration.name);
  });
}

/** @param names of the migrations that a database has had @throws Error when this program does not know one */
export function refuseNewer(names: readonly string[]): void {
  const later = [...new Set(names).difference(new Set(migrations.map(({ name }) => name)))];
  if (later.length > 0) throw new Error(newerDatabase(later));
}

const newerDatabase = (names: readonly string[]) =>
  `The database is newer than this program, which does not know its migration ${names.toSorted().join(', ')}: start the release that made it, or restore a backup made before.`;

/** The migrations this program knows and the database lacks. Rejects when there is no database to ask. */
export async function pendingMigrations(database: Database): Promise<string[]> {
  const done = await appliedIn(database.read, database);
  return migrations.map(migration => migration.name).filter(name => !done.has(name));
}

async function appliedIn(session: Session, { build }: Pick<Database, 'build'>): Promise<Set<string>> {
  const rows = await session.all(build.selectFrom('migrations').select('name').compile());
  return new Set(rows.map(row => row.name));
}

function migrationsTable({ types }: Dialect) {
  return sql`create table if not exists migrations (name ${types.text} primary key, applied_at ${types.moment} not null)`;
}
