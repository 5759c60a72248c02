/** A database with tables of another program, or one in which the role may create none, is named and left as it is. */
import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { createCatalog, createPlace, csv, type Place } from '../program.ts';

const foreign = [
  ['a table that a catalog also has', 'create table products (title text)', 'products'],
  // Laravel has this one.
  ['a table of migrations', 'create table migrations (id int, migration text, batch int)', 'migrations'],
] as const;

const statesNoCatalog = (setting: string, reason: string) =>
  `no catalog can be created in the database of ${setting}: ${reason}; name a database without tables of other programs, in which this user may create tables\n`;

/** Every command refuses the database: those that would create a catalog in it say what is in the way. */
async function expectRefusals(place: Place, setting: string, reason: string): Promise<void> {
  const file = place.file('p.csv', csv);
  for (const args of [['serve', '--port', '0'], ['migrate'], ['import', file]])
    expect([args, await place.runHere(args)]).toEqual([
      args,
      expect.objectContaining({ status: 1, err: `catalog ${args[0]}: ${statesNoCatalog(setting, reason)}` }),
    ]);
  for (const args of [['users', 'list'], ['check'], ['export']]) {
    const { status, err } = await place.runHere(args);
    expect([args, status, err]).toEqual([args, 1, expect.stringContaining('it has no table of migrations')]);
  }
}

test.each(foreign)('a file with %s of another program', async (_, statement, table) => {
  const place = await createPlace('sqlite', { HOST: '127.0.0.1' });
  const folder = place.environment.DATA_DIR ?? '';
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, 'catalog.db');
  using database = new Sqlite(file);
  database.run(statement);
  await expectRefusals(place, 'DATA_DIR', `table ${table} already exists`);
  expect(database.query('select name from sqlite_schema').all()).toEqual([{ name: table }]);
  const other = await createCatalog('sqlite');
  const { status, err } = await other.runHere(['restore', file]);
  expect([status, err]).toEqual([1, expect.stringContaining('it has no table of migrations')]);
  other.remove();
  place.remove();
});

test.skipIf(!hasPostgres).each(foreign)(
  'a PostgreSQL database with %s of another program',
  async (_, statement, table) => {
    const DATABASE_URL = await createDatabase();
    const client = new SQL(DATABASE_URL, { max: 1 });
    await client.unsafe(statement);
    const place = await createPlace('sqlite', { DATABASE_URL, HOST: '127.0.0.1' });
    await expectRefusals(place, 'DATABASE_URL', `relation "${table}" already exists`);
    const tables = await client`select tablename from pg_tables where schemaname = 'public'`;
    expect([...tables]).toEqual([{ tablename: table }]);
    await client.close();
    place.remove();
  },
);

test.skipIf(!hasPostgres)('a PostgreSQL database in which the role may create no tables', async () => {
  const owner = await createDatabase();
  const client = new SQL(owner, { max: 1 });
  const url = new URL(owner);
  const role = url.pathname.slice(1);
  await client.unsafe(`create role ${role} login password 'nothing'`);
  [url.username, url.password] = [role, 'nothing'];
  const place = await createPlace('sqlite', { DATABASE_URL: url.href, HOST: '127.0.0.1' });
  await expectRefusals(place, 'DATABASE_URL', 'permission denied for schema public');
  await client.unsafe(`drop role ${role}`);
  await client.close();
  place.remove();
});
