/**
 * Drops secondary indexes on PostgreSQL while very many rows are loaded into empty tables, and builds them afterwards.
 *
 * Each inserted row must find its place in every index. Building an index sorts all rows at once, which takes a fifth
 * of the work and is shared by several processors. Primary keys and unique indexes stay, so the data remains correct
 * without the others. The transaction that drops an index notes that in the database: the next start builds it after
 * a crash.
 */
import { sql } from 'kysely';
import type { Database, Session } from '../../database.ts';

type Servable = Pick<Database, 'build' | 'read' | 'exclusively'>;

const noted = sql<{ isNoted: boolean }>`select to_regclass('deferred_indexes') is not null as "isNoted"`;
/** The kind of a session may be hidden if it belongs to another role; the server's own workers have no user. */
const buildOtherSessions = (application: string) => sql<{ others: boolean }>`select exists (
  select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend'
    and application_name is distinct from ${application}) as others`;
const buildSecondaryIndexes = (tables: readonly string[]) => sql<{ name: string; statement: string }>`
  select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as statement from pg_index
    where indrelid::regclass::text in (${sql.join(tables)}) and not indisunique`;

/** Whether indexes that a load dropped have not been built yet. */
export async function isDeferred({ build, read }: Servable): Promise<boolean> {
  return (await read.first(noted.compile(build)))?.isNoted === true;
}

/**
 * Drops the secondary indexes of the tables and notes how to build them, if only sessions of this application are
 * connected: a running service needs its indexes. A service that starts later builds them.
 * @returns whether the indexes were dropped
 */
export function deferIndexes(
  { build, exclusively }: Servable,
  tables: readonly string[],
  application: string,
): Promise<boolean> {
  return exclusively(async session => {
    if ((await session.first(buildOtherSessions(application).compile(build)))?.others !== false) return false;
    await session.run(
      sql`create table deferred_indexes (name text primary key, statement text not null)`.compile(build),
    );
    const found = await session.all(buildSecondaryIndexes(tables).compile(build));
    for (const { name, statement } of found) {
      await session.run(sql`insert into deferred_indexes values (${name}, ${statement})`.compile(build));
      await session.run(sql.raw(`drop index ${name}`).compile(build));
    }
    return true;
  });
}

/**
 * Builds the indexes that were dropped, each in a separate transaction. The first waits for a load that is just dropping
 * them and has not seen this session.
 * @returns how many it built
 */
export async function restoreIndexes(database: Servable): Promise<number> {
  for (let built = 0; ; built++) {
    if (!(await database.exclusively(session => restoreOne(session, database)))) return built;
  }
}

/** @returns false when no index was left to build */
async function restoreOne(session: Session, { build }: Servable): Promise<boolean> {
  // Another process may have been here first.
  if ((await session.first(noted.compile(build)))?.isNoted !== true) return false;
  const next = sql<{ name: string; statement: string }>`select name, statement from deferred_indexes
    order by name limit 1`;
  const found = await session.first(next.compile(build));
  if (found === undefined) {
    await session.run(sql`drop table deferred_indexes`.compile(build));
    return false;
  }
  const { name, statement } = found;
  await session.run(sql.raw(statement.replace(/^create index/i, '$& if not exists')).compile(build));
  await session.run(sql`delete from deferred_indexes where name = ${name}`.compile(build));
  return true;
}
