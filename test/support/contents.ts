/** Everything a database holds, so that a test can say that nothing was written. */
import { expect } from 'bun:test';
import { sql } from 'kysely';
import type { TestService } from './service.ts';

/** Counting requests is not a write that a refused request must not make. */
const bookkeeping = ['quotas'];

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

/** Every row of every table, as sorted JSON lines. */
export async function contentsOf(
  service: Pick<TestService, 'database' | 'kind' | 'settle'>,
): Promise<string[]> {
  const { database } = service;
  // What earlier requests have left to be done is not what this one writes.
  await service.settle();
  const names = await tablesOf(service);
  const linesOf = async (name: string) => {
    const rows = await database.read.all(sql`select * from ${sql.table(name)}`.compile(database.build));
    return rows.map(row => `${name} ${JSON.stringify(row)}`);
  };
  return (await Promise.all(names.map(linesOf))).flat().sort();
}

/** Runs `work` and asserts that the database holds afterwards what it held before. */
export async function writesNothing<T>(service: TestService, work: () => Promise<T>): Promise<T> {
  const before = await contentsOf(service);
  const result = await work();
  expect(await contentsOf(service)).toEqual(before);
  return result;
}
