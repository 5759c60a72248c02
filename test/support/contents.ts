/** Everything a database holds, so that a test can say that nothing was written. */
import { expect } from 'bun:test';
import { sql } from 'kysely';
import type { TestService } from './service.ts';

/** Counting requests is not a write that a refused request must not make. */
const bookkeeping = ['quotas', 'failed_attempts'];

const tables = new WeakMap<TestService['database'], readonly string[]>();

async function tablesOf({
  database,
  kind,
}: Pick<TestService, 'database' | 'kind'>): Promise<readonly string[]> {
  const known = tables.get(database);
  if (known !== undefined) return known;
  const catalog =
    kind === 'sqlite'
      ? sql<{
          name: string;
        }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`;
  const rows = await database.read.all(catalog.compile(database.build));
  const names = rows.map(({ name }) => name).filter(name => !bookkeeping.includes(name));
  tables.set(database, names);
  return names;
}

type Observed = Pick<TestService, 'database' | 'kind' | 'settle'>;

/** What was read last, and when: read again only when something has been written since. */
const latest = new WeakMap<TestService['database'], { readonly mark: string; readonly lines: string[] }>();

/** Differs when a transaction of anybody's has written, or on PostgreSQL locked, anything. */
async function markOf({ database }: Observed): Promise<string> {
  const state = database.state();
  if (state !== undefined) return String(state);
  const newest = sql<{ mark: string }>`select pg_snapshot_xmax(pg_current_snapshot())::text as mark`;
  return (await database.read.first(newest.compile(database.build)))?.mark ?? '';
}

/** Every row of every table, as sorted JSON lines. */
export async function contentsOf(service: Observed): Promise<string[]> {
  const { database } = service;
  // What earlier requests have left to be done is not what this one writes.
  await service.settle();
  const mark = await markOf(service);
  const known = latest.get(database);
  if (known?.mark === mark) return known.lines;
  const names = await tablesOf(service);
  const linesOf = async (name: string) => {
    const rows = await database.read.all(sql`select * from ${sql.table(name)}`.compile(database.build));
    return rows.map(row => `${name} ${JSON.stringify(row)}`);
  };
  const lines = (await Promise.all(names.map(linesOf))).flat().sort();
  latest.set(database, { mark, lines });
  return lines;
}

/**
 * Takes note of what the database holds.
 * @returns asserts that it still does. On SQLite that nothing has been committed says so, without reading it all.
 */
export async function unchanged(service: Observed): Promise<() => Promise<void>> {
  await service.settle();
  if (service.kind === 'sqlite') {
    const before = service.database.state();
    return async () => expect({ commits: service.database.state() }).toEqual({ commits: before });
  }
  const before = await contentsOf(service);
  return async () => expect(await contentsOf(service)).toEqual(before);
}

/** Runs `work` and asserts that the database holds afterwards what it held before. */
export async function writesNothing<T>(service: TestService, work: () => Promise<T>): Promise<T> {
  const check = await unchanged(service);
  const result = await work();
  await check();
  return result;
}
