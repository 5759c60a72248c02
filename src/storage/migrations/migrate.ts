/**
 * Forward-only migrations: each runs once, in order, in one transaction, under a lock that one process holds. Long work
 * is prepared before that transaction.
 */
import { sql } from 'kysely';
import { getErrorCode, getErrorMessage } from '../../error-text.ts';
import { type Database, type Dialect, type Session, StorageError, type Transaction } from '../database.ts';
import { migrations } from './index.ts';
import type { Migration } from './migration.ts';

/**
 * @param begin is called once with the name of each migration, before it begins; not for a database without users and
 * products, which is quick
 * @returns the names of the migrations that ran, in order; none when the database was up to date
 * @throws Error when a newer program has migrated the database further than this one knows, or when the database is not
 * a catalog and cannot become one
 */
export async function migrate(
  database: Database,
  now: () => number,
  begin: (name: string) => void = () => undefined,
): Promise<string[]> {
  const ran: string[] = [];
  const begun = new Set<string>();
  // A migration that waits for a table is retried.
  const beginOnce = (name: string) => {
    if (begun.has(name)) return;
    begun.add(name);
    begin(name);
  };
  for (let prepared: Migration | undefined; ; ) {
    const { names, next } = await database
      .exclusively(session => runMissing(database, session, { prepared, ran, now, begin: beginOnce }))
      .catch(async error => {
        throw await toCreationError(error, database);
      });
    ran.push(...names);
    if (next === undefined) return ran;
    await next.prepare?.(database);
    prepared = next;
  }
}

/**
 * What the operator must still do after migrations that index existing data, in one line; undefined for nothing.
 * Replicas of the previous release write in their own form, and only the operator knows when the last has stopped.
 * @param names the migrations that `migrate` passed to `begin`
 */
export function describeRest(
  names: readonly string[],
  { dialect }: Pick<Database, 'dialect'>,
): string | undefined {
  const prepared = migrations.filter(({ name, prepare }) => prepare !== undefined && names.includes(name));
  // Only one process serves a database file.
  if (prepared.length === 0 || dialect.name === 'sqlite') return undefined;
  const list = prepared.map(({ name }) => name).join(', ');
  return `${list}: what replicas of the release before write from now on is in their form; when the last has stopped, run catalog check, and catalog check --repair if it reports the search index, attributes or variants of products`;
}

interface Run {
  readonly prepared: Migration | undefined;
  /** What this process ran before this transaction. */
  readonly ran: readonly string[];
  now(): number;
  begin(name: string): void;
}

/** @returns what ran, and the first migration that must be prepared before it and those after it can run */
async function runMissing(
  database: Database,
  session: Transaction,
  { prepared, ran, now, begin }: Run,
): Promise<{ readonly names: readonly string[]; readonly next: Migration | undefined }> {
  const { build, dialect } = database;
  // Only where it is missing: PostgreSQL lets no role without CREATE run the statement, even if it has nothing to do.
  const table = await session.first(buildMigrationsLookup(dialect).compile(build));
  if (table === undefined) await session.run(buildMigrationsTable(dialect).compile(build));
  const done = await readApplied(session, database);
  refuseNewer(done);
  if (done.length === 0) await requireServer(session, database);
  const names: string[] = [];
  const missing = migrations.filter(({ name }) => !done.includes(name));
  const isUsed = done.length > ran.length && missing.length > 0 && (await hasContents(session, done, build));
  for (const migration of missing) {
    if (isUsed) begin(migration.name);
    if (migration.prepare !== undefined && migration !== prepared) return { names, next: migration };
    await migration.up(session, database);
    const row = { name: migration.name, applied_at: now() };
    await session.run(build.insertInto('migrations').values(row).compile());
    names.push(migration.name);
  }
  return { names, next: undefined };
}

/**
 * Whether there are users or products. Replicas that start at once on an empty database share its migrations, so what
 * others have run does not mean that it is in use.
 */
async function hasContents(
  session: Session,
  done: readonly string[],
  build: Database['build'],
): Promise<boolean> {
  if (!done.includes('0002-products')) return false;
  for (const table of ['users', 'products'] as const)
    if ((await session.first(build.selectFrom(table).select('id').limit(1).compile())) !== undefined)
      return true;
  return false;
}

/** The oldest major version of PostgreSQL that the tests run on. */
const minVersion = 15;

/**
 * @throws Error for a new database on a server that is too old, where a migration or a later statement would fail, or
 * whose encoding lacks characters: the first text with one of these would fail
 */
async function requireServer(session: Session, { build, dialect }: Database): Promise<void> {
  if (dialect.server === undefined) return;
  const found = await session.first(dialect.server.compile(build));
  if (found === undefined) return;
  const major = Math.floor(found.version / 10_000);
  if (major < minVersion)
    throw new Error(`The server is PostgreSQL ${major}, and a catalog needs ${minVersion} or newer.`);
  if (found.encoding === 'UTF8') return;
  throw new Error(
    `The encoding of the database is ${found.encoding}, and texts of a catalog need UTF8: name one made with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
  );
}

/** @param names the migrations that a database has had @throws Error when it is newer than this program */
export function refuseNewer(names: readonly string[]): void {
  const reason = findReasonAgainst(names);
  if (reason !== undefined) throw new Error(reason);
}

/** Why this program cannot work on a database that has had migrations of these names; undefined when it can. */
function findReasonAgainst(names: readonly string[]): string | undefined {
  const known = new Set(migrations.map(({ name }) => name));
  const later = names.filter(name => !known.has(name) && !isExpansion(name));
  if (later.length === 0) return undefined;
  return `The database is newer than this program, which does not know its migration ${later.toSorted().join(', ')}: start the release that made it, or restore a backup made before.`;
}

const isExpansion = (name: string): boolean => /^\d{4}-expand-/.test(name);

/** Whether migrations have run in the database: false for a new database, or that of another program. */
export async function isCatalog({ read, build, dialect }: Database): Promise<boolean> {
  return (await read.first(buildMigrationsLookup(dialect).compile(build))) !== undefined;
}

/** Other programs have tables of this name, but with other columns. */
const buildMigrationsLookup = ({ column }: Dialect) => column('migrations', 'applied_at');

/** An error of the server or of SQLite, which says only what it refused, with what to do; others as they are. */
async function toCreationError(error: unknown, database: Database): Promise<unknown> {
  if (error instanceof StorageError || getErrorCode(error) === undefined || (await isCatalog(database)))
    return error;
  const setting = database.dialect.name === 'sqlite' ? 'DATA_DIR' : 'DATABASE_URL';
  return new Error(
    `no catalog can be created in the database of ${setting}: ${getErrorMessage(error)}; name a database without tables of other programs, in which this user may create tables`,
    { cause: error },
  );
}

/**
 * Why this program must not work on the database, in one line: migrations are missing, or another release has run one
 * that this program cannot work with. Undefined if there is no reason. Rejects when it is not a Catalog database.
 */
export async function findReasonNotToServe(database: Database): Promise<string | undefined> {
  const done = await readApplied(database.read, database);
  const pending = migrations.map(({ name }) => name).filter(name => !done.includes(name));
  if (pending.length === 0) return findReasonAgainst(done);
  const noun = pending.length === 1 ? 'migration' : 'migrations';
  return `The database lacks the ${noun} ${pending.join(', ')}; upgrade it with catalog migrate first.`;
}

async function readApplied(session: Session, { build }: Pick<Database, 'build'>): Promise<string[]> {
  const rows = await session.all(build.selectFrom('migrations').select('name').compile());
  return rows.map(row => row.name);
}

function buildMigrationsTable({ types }: Dialect) {
  return sql`create table migrations (name ${types.text} primary key, applied_at ${types.moment} not null)`;
}
