/** Everything a database holds, so that a test can say that nothing was written. */
import { expect } from 'bun:test';
import { type CompiledQuery, sql } from 'kysely';
import type { TestService } from './service.ts';

/** Counting requests is not a write that a refused request must not make. */
const bookkeeping = ['quotas', 'failed_attempts'];

type Observed = Pick<TestService, 'database' | 'kind' | 'settle' | 'clock'>;
type Query = CompiledQuery<{ readonly line: string }>;

/** Every row of every table, as JSON. */
const readers = {
  async sqlite({ read, build }: TestService['database']) {
    const catalog = sql<{
      name: string;
    }>`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%'`;
    const tables = (await read.all(catalog.compile(build)))
      .filter(({ name }) => !bookkeeping.includes(name))
      .map(({ name }) => ({ name, query: sql`select * from ${sql.table(name)}`.compile(build) }));
    return async () => {
      const lines: string[] = [];
      for (const { name, query } of tables)
        for (const row of await read.all(query)) lines.push(`${name} ${JSON.stringify(row)}`);
      return lines;
    };
  },
  /** In one statement: to ask for each table by itself costs many times as much. */
  async postgresql({ read, build }: TestService['database']) {
    const catalog = sql<{
      name: string;
    }>`select tablename as name from pg_tables where schemaname = 'public'`;
    const selects = (await read.all(catalog.compile(build)))
      .filter(({ name }) => !bookkeeping.includes(name))
      .map(
        ({ name }) =>
          sql`select ${sql.lit(`${name} `)} || row_to_json(t)::text as line from ${sql.table(name)} t`,
      );
    const query: Query = sql<{ line: string }>`${sql.join(selects, sql` union all `)}`.compile(build);
    return async () => (await read.all(query)).map(({ line }) => line);
  },
};

const known = new WeakMap<TestService['database'], Promise<() => Promise<string[]>>>();

async function linesOf({ database, kind }: Observed): Promise<string[]> {
  const reader = known.get(database) ?? readers[kind](database);
  known.set(database, reader);
  return (await (await reader)()).sort();
}

/** What was there, and when, at the last moment when nothing was left to be done. */
const settled = new WeakMap<TestService['database'], { readonly at: number; readonly state: string }>();

/** @param look at what is another when something has been written */
async function whenSettled<T>(observed: Observed, look: () => Promise<T>): Promise<T> {
  const { database, clock, settle } = observed;
  const found = await look();
  const last = settled.get(database);
  if (last?.at === clock.now() && last.state === JSON.stringify(found)) return found;
  // What earlier requests have left to be done is not what the next one writes.
  await settle();
  const state = await look();
  settled.set(database, { at: clock.now(), state: JSON.stringify(state) });
  return state;
}

/** Every row of every table, as sorted JSON lines. */
export async function contentsOf(service: Observed): Promise<string[]> {
  await service.settle();
  return linesOf(service);
}

/**
 * Takes note of what the database holds.
 * @returns asserts that it still does. On SQLite that nothing has been committed says so, without reading it all.
 */
export async function unchanged(service: Observed): Promise<() => Promise<void>> {
  if (service.kind === 'sqlite') {
    const commits = () => service.database.state();
    const before = await whenSettled(service, async () => commits());
    return async () => expect({ commits: commits() }).toEqual({ commits: before });
  }
  const before = await whenSettled(service, () => linesOf(service));
  return async () => expect(await whenSettled(service, () => linesOf(service))).toEqual(before);
}

/** Runs `work` and asserts that the database holds afterwards what it held before. */
export async function writesNothing<T>(service: TestService, work: () => Promise<T>): Promise<T> {
  const check = await unchanged(service);
  const result = await work();
  await check();
  return result;
}
