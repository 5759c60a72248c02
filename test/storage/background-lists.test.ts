/** On SQLite, only lists of many rows are read in the background: otherwise all requests would wait for them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createEventStore } from '../../src/resources/events/store.ts';
import { products } from '../../src/resources/products/row.ts';
import { createColumns } from '../../src/storage/columns/index.ts';
import { findSource } from '../../src/storage/columns/source.ts';
import type { Database } from '../../src/storage/database.ts';
import { createLister } from '../../src/storage/list/index.ts';
import type { Condition, ListRequest, Total } from '../../src/storage/list/request.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';

const rows = 20_001;
let folder: string;
let database: Database;
/** For each snapshot that was read, whether it was in the background. */
const background: boolean[] = [];
let watched: Database;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-lists-'));
  database = openSqlite(join(folder, 'catalog.db'));
  await migrate(database, Date.now);
  watched = {
    ...database,
    snapshot(work, options) {
      background.push(options?.background === true);
      return database.snapshot(work, options);
    },
  };
  await database.write(session =>
    session.run(
      sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows})
        insert into events (type, resource, resource_id, actor, created_at)
        select 'order.paid', 'order', i, 'user:1', i from n`.compile(database.build),
    ),
  );
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const byId = { column: 'id', descending: false };
const byTime = { column: 'created_at', descending: true };
const isPaid: Condition = { column: 'type', operator: '=', value: 'order.paid' };
const ofOne: Condition = { column: 'resource_id', operator: '=', value: 7 };
const offset = { kind: 'offset', page: 1, perPage: 2 } as const;
const key = { kind: 'key', limit: 2, count: false } as const;

const cases: [name: string, request: ListRequest, background: boolean[], total: number | undefined][] = [
  ['a total', { conditions: [], order: byId, page: offset }, [true], rows],
  ['a filter with a total', { conditions: [isPaid], order: byId, page: offset }, [true], rows],
  ['a filter that may match nothing', { conditions: [isPaid], order: byId, page: key }, [true], undefined],
  ['another order', { conditions: [], order: byTime, page: key }, [true], undefined],
  ['what belongs to one', { conditions: [ofOne], order: byId, page: offset }, [false], 1],
  ['the same sorted', { conditions: [ofOne], order: byTime, page: offset }, [true], 1],
  ['a total beside a key', { conditions: [], order: byId, page: { ...key, count: true } }, [true], rows],
  ['a page from a key', { conditions: [], order: byId, page: key }, [], undefined],
];
test.each(cases)('%s', async (_, request, expected, total) => {
  background.length = 0;
  const found = await createLister(watched, { table: 'events', columns: ['type'] })(request);
  expect([background, found.total] as const).toEqual([expected, total]);
});

test('events of one resource by time, even if there are few: each may be long', async () => {
  const small = openSqlite(join(folder, 'few', 'catalog.db'));
  await migrate(small, Date.now);
  const insert = sql`insert into events (type, resource, resource_id, actor, created_at) values
    ('a.b', 'a', 7, 'user:1', 2), ('a.b', 'a', 7, 'user:1', 1)`;
  await small.write(session => session.run(insert.compile(small.build)));
  const store = createEventStore({
    ...small,
    snapshot(work, options) {
      background.push(options?.background === true);
      return small.snapshot(work, options);
    },
  });
  background.length = 0;
  const { rows: found } = await store.list({ conditions: [ofOne], order: byTime, page: key });
  await small.close();
  expect([background, found.map(({ id }) => id)]).toEqual([[true], [1, 2]]);
});

test.each([
  [1, false],
  [2500, false],
  [2502, true],
])('page %i of a list whose total is kept', async (page, isDeep) => {
  const kept = () => sql<Total>`select 30000 as total, 1 as version`.compile(database.build);
  const options = { table: 'events', columns: ['type'], rangeColumn: 'created_at', keptTotal: kept } as const;
  background.length = 0;
  await createLister(watched, options)({ conditions: [], order: byId, page: { ...offset, page } });
  expect(background).toEqual([isDeep]);
});

const range: Condition = { column: 'created_at', operator: '>=', value: 1 };
test.each([
  ['a range of many', [range], 0, true],
  ['a range of many, of which another condition leaves very many', [range, isPaid], 5001, true],
  ['a range of many, of which another condition leaves few', [range, isPaid], 5000, false],
  ['a value that no total counts', [ofOne], 0, true],
  ['a value with a total', [isPaid], 5001, false],
] as const)('where totals are kept: %s', async (_, conditions, few, isLong) => {
  // All rows, or those of a condition that needs no counting.
  const kept = (others: readonly Condition[]) =>
    sql<Total>`select ${others.length === 0 ? rows : few} as total, 1 as version`.compile(database.build);
  const counted = { rangeColumn: 'created_at', countedColumns: ['resource_id'], keptTotal: kept };
  background.length = 0;
  await createLister(watched, { table: 'events', columns: ['type'], ...counted })({
    ...{ conditions, order: byId, page: offset },
  });
  expect(background).toEqual([isLong]);
});

const paid = { values: ['order.paid'], value: '["order.paid"]' };
test.each([
  ['a range, which an index has in that order', [range], []],
  [
    'values of another table, which none has in that order',
    [{ column: 'type', operator: 'in', ...paid, within: { table: 'events', key: 'id' } }],
    [true],
  ],
] as const)('in the order of the column of ranges: %s', async (_, conditions, expected) => {
  background.length = 0;
  await createLister(watched, { table: 'events', columns: ['type'], rangeColumn: 'created_at' })({
    ...{ conditions, order: byTime, page: key },
  });
  expect(background).toEqual([...expected]);
});

test('loading into memory by many short reads waits for no long read', async () => {
  const brand = findSource('brand');
  const longRead = Promise.withResolvers<void>();
  const long = database.snapshot(() => longRead.promise, { background: true });
  try {
    const columns = createColumns(database, products);
    expect(await columns.use(brand === undefined ? [] : [brand], found => found.size)).toBe(1);
  } finally {
    longRead.resolve();
    await long;
  }
});
