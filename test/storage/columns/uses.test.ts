/** Several requests that use columns at once, while products change: each sees one state, and the next the newest. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { products } from '../../../src/resources/products/row.ts';
import { createFacetCounter } from '../../../src/storage/columns/facet-counter.ts';
import { createColumns } from '../../../src/storage/columns/index.ts';
import { findSource } from '../../../src/storage/columns/source.ts';
import { addProduct, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('columns that several requests use at once on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const sources = [findSource('brand')].filter(source => source !== undefined);
  const open = () => {
    const columns = createColumns(service.database, products);
    const countIn: Parameters<typeof columns.use<number | undefined>>[1] = found =>
      found.get('brand')?.rows({ of: 'equal', texts: ['A'] }).count;
    /** Uses the columns until `end` is called. */
    const hold = async () => {
      const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const done = columns.use(sources, async (found, version) => {
        begun.resolve();
        await ended.promise;
        return countIn(found, version);
      });
      await begun.promise;
      return {
        end: () => {
          ended.resolve();
          return done;
        },
      };
    };
    return { columns, hold, count: () => columns.use(sources, countIn) };
  };

  test('stay the same until the last of them ends, each time', async () => {
    const { columns, hold, count } = open();
    for (let round = 0; round < 2; round++) {
      const before = (await count()) ?? 0;
      const [first, second] = [await hold(), await hold()];
      await addProduct(service, { brand: 'A' });
      await service.database.changes.check();
      const later = count();
      expect(await first.end()).toBe(before);
      expect(columns.peek(sources)).toBeUndefined();
      expect(await second.end()).toBe(before);
      expect(await later).toBe(before + 1);
    }
  });

  test('do not go back to deferred changes after they have been read again', async () => {
    const { columns, hold, count } = open();
    const { id } = await addProduct(service, { brand: 'A' });
    const before = (await count()) ?? 0;
    const held = await hold();
    const patch = { method: 'PATCH', path: pathOf({ id }), as: 'admin', body: { brand: 'B' } } as const;
    expect((await call(service, patch)).status).toBe(200);
    const { build, changes, write } = service.database;
    await changes.check();
    // A change without an event: everything may have changed.
    await write(async session => {
      await session.run(sql`update products set brand = 'A' where id = ${id}`.compile(build));
      const marks = sql`update collection_versions set version = version + 1 where collection = 'products'`;
      await session.run(marks.compile(build));
    });
    await changes.check();
    for (let time = 0; columns.peek(sources) === undefined && time < 300; time++) await Bun.sleep(10);
    expect(columns.peek(sources)).toBeDefined();
    await held.end();
    expect(await count()).toBe(before);
  });

  test('facets that are counted later show the rows as they were', async () => {
    const { columns } = open();
    const counter = createFacetCounter(service.database, columns);
    const ids: number[] = [];
    for (const brand of ['C', 'C', 'D']) ids.push((await addProduct(service, { brand })).id);
    ids.push((await addProduct(service, { brand: 'C', status: 'archived' })).id);
    const isActive = { column: 'status', operator: '=', value: 'active' } as const;
    const conditions = [{ column: 'brand', operator: 'in', values: ['C', 'D'], value: 'both' } as const];
    const kept = await counter.keep({ facets: ['brand', 'status'], conditions }, isActive);
    // Of most rows, those that are not among them are subtracted from all.
    const all = { facets: ['brand'], conditions: [] };
    const [before, keptOfAll] = [
      await counter.count({ ...all, conditions: [isActive] }),
      await counter.keep(all, isActive),
    ];
    for (const id of ids) {
      const patch = { method: 'PATCH', path: pathOf({ id }), as: 'admin', body: { brand: 'E' } } as const;
      expect((await call(service, patch)).status).toBe(200);
    }
    await columns.use(sources, () => undefined);
    const every = Array.from({ length: Math.max(...ids) }, (_, index) => index + 1);
    expect((await keptOfAll.count(every)).values).toEqual(before.values);
    const { total, values } = await kept.count(ids);
    expect([total, values.brand?.values, values.status?.values]).toEqual([
      3,
      [
        { value: 'C', count: 2 },
        { value: 'D', count: 1 },
      ],
      [{ value: 'active', count: 3 }],
    ]);
  });
});
