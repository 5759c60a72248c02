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
    refuseNewer(done);
    const missing = migrations.filter(migration => !done.includes(migration.name));
    for (const migration of missing) {
      await migration.up(session, database);
      const row = { name: migration.name, applied_at: now() };
      await session.run(build.insertInto('migrations').values(row).compile());
    }
    return missing.map(migration => migration.name);
  });
}

/** @param names of the migrations that a database has had @throws Error when it is newer than this program */
export function refuseNewer(names: readonly string[]): void {
  const reason = reasonAgainst(names);
  if (reason !== undefined) throw new Error(reason);
}

/** Why this program cannot work on a database that has had migrations of these names; undefined when it can. */
function reasonAgainst(names: readonly string[]): string | undefined {
  const known = new Set(migrations.map(({ name }) => name));
  const later = names.filter(name => !known.has(name) && !isExpansion(name));
  if (later.length === 0) return undefined;
  return `The database is newer than this program, which does not know its migration ${later.toSorted().join(', ')}: start the release that made it, or restore a backup made before.`;
}

const isExpansion = (name: string): boolean => /^\d{4}-expand-/.test(name);

/** The migrations this program knows and the database lacks. Rejects when there is no database to ask. */
export async function pendingMigrations(database: Database): Promise<string[]> {
  return pendingIn(await appliedIn(database.read, database));
}

const pendingIn = (done: readonly string[]): string[] =>
  migrations.map(({ name }) => name).filter(name => !done.includes(name));

/**
 * Why this program must not serve, in one line: migrations are missing, or another release has since made one that
 * this program cannot work beside. Undefined when nothing is against it. Rejects when there is no database to ask.
 */
export async function reasonNotToServe(database: Database): Promise<string | undefined> {
  const done = await appliedIn(database.read, database);
  const pending = pendingIn(done);
  if (pending.length > 0)
    return `The database lacks the migrations ${pending.join(', ')}; run catalog migrate.`;
  return reasonAgainst(done);
}

async function appliedIn(session: Session, { build }: Pick<Database, 'build'>): Promise<string[]> {
  const rows = await session.all(build.selectFrom('migrations').select('name').compile());
  return rows.map(row => row.name);
}

function migrationsTable({ types }: Dialect) {
  return sql`create table if not exists migrations (name ${types.text} primary key, applied_at ${types.moment} not null)`;
}
