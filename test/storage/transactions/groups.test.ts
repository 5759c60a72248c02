/** Transactions that are committed together: each behaves as if it were alone, whether or not the others succeed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import fc from 'fast-check';
import { sql } from 'kysely';
import { loadConfig } from '../../../src/config.ts';
import { type Bulk, createBulk, createBulkInsert } from '../../../src/storage/bulk.ts';
import type { Database, Transaction, WriteOptions } from '../../../src/storage/database.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'catalog-groups-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const anotherFolder = () => ({ DATA_DIR: mkdtempSync(join(folder, 'another-')) });

async function openEmpty(settings: Record<string, string>): Promise<Database> {
  const secret = 'a secret of at least thirty-two characters';
  const database = openDatabase(loadConfig({ JWT_SECRET: secret, DATA_DIR: folder, ...settings }));
  const { id } = database.dialect.types;
  await database.write(async session => {
    const statements = [
      sql`create table written (id ${id}, name varchar(200) unique)`,
      sql`create table late (name varchar(200) not null unique)`,
      sql`create table counters (name varchar(200) primary key, total integer)`,
      sql`insert into counters values ('all', 0), ('first', 0), ('second', 0)`,
      sql`insert into written (name) values ('taken')`,
    ];
    for (const statement of statements) await session.run(statement.compile(database.build));
  });
  return database;
}

/** The actions of transactions, which each draws in some order. */
const actions = [
  'write',
  'write and return',
  'write and return one',
  'insert',
  'write together',
  'insert together',
  'late',
  'count',
  'fail',
  'break a rule',
  'insert again',
  'insert some again',
  'read',
  'increment',
] as const;
type Action = (typeof actions)[number];
interface Job {
  readonly row: 'first' | 'second';
  readonly does: readonly Action[];
}
const failing = ['fail', 'break a rule', 'insert again', 'insert some again'] as const;
const fails = ({ does }: Job) => failing.some(action => does.includes(action));

/** A statement shared by all transactions on a database, whose rows may be written together. */
const statements = new WeakMap<Database, Bulk>();
function writtenTogether(database: Database): Bulk {
  const known =
    statements.get(database) ??
    createBulk(database, 'written', { name: 'text' }, rows => sql`insert into written (name) ${rows}`);
  statements.set(database, known);
  return known;
}

async function run(database: Database, session: Transaction, name: string, job: Job): Promise<void> {
  const { build, dialect } = database;
  const compiled = (text: string) => sql.raw(text).compile(build);
  const late = createBulk(database, 'late', { name: 'text' }, rows => sql`insert into late ${rows}`);
  const counting = createBulk(
    database,
    'counters',
    { name: 'text', total: 'integer' },
    rows => sql`insert into counters select * from (${rows}) as given where true
      on conflict (name) do update set total = counters.total + excluded.total`,
  );
  for (const [index, action] of job.does.entries()) {
    const own = `${name}-${index}`;
    if (action === 'write') await session.run(compiled(`insert into written (name) values ('${own}')`));
    if (action === 'write and return') {
      await session.all(compiled(`insert into written (name) values ('${own}') returning id`));
    }
    if (action === 'write and return one') {
      await session.first(compiled(`insert into written (name) values ('${own}') returning id`));
    }
    if (action === 'insert') await session.insert(compiled(`insert into written (name) values ('${own}')`));
    if (action === 'write together') await session.writeMany(writtenTogether(database), [[own], [`${own}+`]]);
    if (action === 'insert together') {
      const into = createBulkInsert(database, 'written', { name: 'text' });
      await session.insertMany(into, [[own], [`${own}+`]]);
    }
    if (action === 'late') session.writeDeferred(late, [[own]]);
    if (action === 'count') {
      session.increment({ key: 'all', statement: counting, row: amount => ['all', amount] }, 1);
    }
    if (action === 'fail') throw new Error('told to fail');
    if (action === 'break a rule') await session.run(compiled(`insert into written (name) values ('taken')`));
    if (action === 'insert again') {
      await session.insert(compiled(`insert into written (name) values ('taken')`));
    }
    if (action === 'insert some again') {
      await session.insertMany(createBulkInsert(database, 'written', { name: 'text' }), [[own], ['taken']]);
    }
    if (action === 'read') await session.all(compiled('select * from written limit 1'));
    if (action === 'increment') {
      const query = sql<{ total: number }>`select total from counters where name = ${job.row}`;
      const row = await session.first(sql<{ total: number }>`${query} ${dialect.forUpdate}`.compile(build));
      await session.run(
        sql`update counters set total = ${(row?.total ?? 0) + 1} where name = ${job.row}`.compile(build),
      );
    }
  }
}

async function contents({ read, build }: Database) {
  const names = async (table: string) => {
    const query = sql<{ name: string }>`select name from ${sql.table(table)}`;
    return (await read.all(query.compile(build))).map(({ name }) => name).sort();
  };
  const totals = await read.all(
    sql<{ name: string; total: number }>`select name, total from counters`.compile(build),
  );
  const { all = 0, first = 0, second = 0 } = Object.fromEntries(totals.map(row => [row.name, row.total]));
  return { written: await names('written'), late: await names('late'), all, first, second };
}

describeOnDatabases('transactions together on %s', kind => {
  let database: Database;
  beforeAll(async () => {
    database = await openEmpty(kind === 'sqlite' ? {} : { DATABASE_URL: await createDatabase() });
  });
  afterAll(() => database.close());

  test('leave nothing if they fail, and everything otherwise, in any order', async () => {
    const job = fc.record({
      row: fc.constantFrom('first' as const, 'second' as const),
      does: fc.array(fc.constantFrom(...actions), { maxLength: 5 }),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(job, { minLength: 1, maxLength: 12 }), async group => {
        round += 1;
        const before = await contents(database);
        const results = await Promise.allSettled(
          group.map((job, index) =>
            database.write(session => run(database, session, `${round}-${index}`, job), {
              touches: [job.row],
            }),
          ),
        );
        expect(results.map(({ status }) => status)).toEqual(
          group.map(job => (fails(job) ? 'rejected' : 'fulfilled')),
        );
        const whole = group.map((job, index) => ({ ...job, index })).filter(job => !fails(job));
        const named = (...wanted: Action[]) =>
          whole.flatMap(({ does, index }) =>
            does.flatMap((action, at) => (wanted.includes(action) ? [`${round}-${index}-${at}`] : [])),
          );
        const increments = (row: Job['row']) =>
          whole.filter(job => job.row === row).flatMap(({ does }) => does.filter(a => a === 'increment'));
        expect(await contents(database)).toEqual({
          written: [
            ...before.written,
            ...named('write', 'write and return', 'write and return one', 'insert'),
            ...named('write together', 'insert together').flatMap(name => [name, `${name}+`]),
          ].sort(),
          late: [...before.late, ...named('late')].sort(),
          all: before.all + named('count').length,
          first: before.first + increments('first').length,
          second: before.second + increments('second').length,
        });
      }),
      { numRuns: kind === 'sqlite' ? 60 : 30 },
    );
  });
});

describeOnDatabases('many rows on %s', kind => {
  // Few enough rows for statements, and enough that PostgreSQL gets them by COPY.
  test.each([30, 300])('are written as they are, and get their ids in their order: %i', async count => {
    const database = await openEmpty(
      kind === 'sqlite' ? anotherFolder() : { DATABASE_URL: await createDatabase() },
    );
    const ends = [
      '',
      '\t',
      '\n',
      '\r',
      '\\',
      '\\N',
      '\\.',
      '\\t',
      '"',
      "'",
      'é',
      '😀',
      ' ',
      '{',
      '}',
      ',',
      'NULL',
    ];
    const names = Array.from({ length: count }, (_, index) => `${index}${ends[index % ends.length]}`);
    const rows = [...names.map(name => [name]), [null], ['\\N'], ['NULL'], ['']];
    const into = createBulkInsert(database, 'written', { name: 'text' }, { sizes: [100, 1] });
    const ids = await database.write(session => session.insertMany(into, rows));
    const stored = await database.read.all(
      sql<{ id: number; name: string | null }>`select id, name from written
        where name <> 'taken' or name is null order by id`.compile(database.build),
    );
    expect(stored.map(({ name }) => [name])).toEqual(rows);
    expect(stored.map(({ id }) => id)).toEqual(ids);
    const again = database.write(async session => {
      await session.writeMany(
        createBulkInsert(database, 'late', { name: 'text' }),
        rows.slice(0, count - 10),
      );
      await session.insertMany(into, rows.slice(0, count - 10));
    });
    expect(await again.catch(error => error)).toMatchObject({ kind: 'unique', column: 'name' });
    expect((await contents(database)).late).toEqual([]);
    await database.close();
  });
});

describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
  test('concurrent writes that touch the same row share a transaction, and other writes do not', async () => {
    const database = await openEmpty({ DATABASE_URL: await createDatabase() });
    const write = (name: string, options: WriteOptions) =>
      database.write(
        session => run(database, session, name, { row: 'first', does: ['write', 'increment'] }),
        options,
      );
    await Promise.all(['a', 'b', 'c', 'd'].map(name => write(name, { touches: ['first'] })));
    await Promise.all(['x', 'y'].map(name => write(name, {})));
    const query = sql<{ names: string }>`select string_agg(name, ' ' order by name) as names from written
      where name <> 'taken' group by xmin::text order by 1`;
    const rows = await database.read.all(query.compile(database.build));
    expect(rows.map(({ names }) => names)).toEqual(['a-0 b-0 c-0 d-0', 'x-0', 'y-0']);
    await database.close();
  });

  test('a row that another session has locked delays only the writes that need it', async () => {
    const url = await createDatabase();
    const database = await openEmpty({ DATABASE_URL: url });
    const holder = new SQL(url, { max: 1 });
    try {
      await holder.unsafe(`begin; select 1 from counters where name = 'first' for update`);
      const settled: string[] = [];
      const write = (row: Job['row'], name: string) =>
        database
          .write(session => run(database, session, name, { row, does: ['increment', 'write'] }), {
            touches: [row],
          })
          .then(() => settled.push(name));
      const locked = ['a', 'b'].map(name => write('first', name));
      await Promise.all(['c', 'd', 'e'].map(name => write('second', name)));
      // Queued behind those that already wait; it must not make other transactions wait for the lock.
      locked.push(write('first', 'f'));
      await Promise.all(['g', 'h'].map(name => write('second', name)));
      expect(settled.toSorted()).toEqual(['c', 'd', 'e', 'g', 'h']);
      await holder.unsafe('rollback');
      await Promise.all(locked);
      expect(await contents(database)).toMatchObject({ first: 3, second: 5 });
    } finally {
      await holder.close({ timeout: 0 });
      await database.close();
    }
  });
});
