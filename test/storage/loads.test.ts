/** Data is loaded into memory once for concurrent requests, and includes changes made during the load. */
import { expect, test } from 'bun:test';
import { products } from '../../src/resources/products/row.ts';
import { createLoads } from '../../src/storage/changes/loads.ts';
import { createColumns } from '../../src/storage/columns/index.ts';
import { findSource } from '../../src/storage/columns/source.ts';
import type { Database } from '../../src/storage/database.ts';
import { addProduct } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { importProducts } from '../support/samples/imported.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

describeOnDatabases('reading into memory on %s', kind => {
  test('happens once for concurrent callers, and misses no change', async () => {
    await using service = await startTestService(kind);
    const kept = { clear: () => undefined, apply: () => undefined };
    const loads = createLoads(service.database.changes, products, kept);
    const [begun, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reads = 0;
    const replays: number[][] = [];
    const read = async () => {
      reads += 1;
      begun.resolve();
      await changed.promise;
    };
    const load = () =>
      loads.load('all', read, (_, replayed) => void replays.push(replayed.map(({ id }) => id)));
    const both = [load(), load()];
    expect(loads.has('all')).toBe(true);
    await begun.promise;
    const { id } = await addProduct(service, { name: 'Meanwhile' });
    changed.resolve();
    await Promise.all(both);
    expect([reads, replays]).toEqual([1, [[id]]]);
    expect(loads.has('all')).toBe(false);
  });

  test('misses no row that moves to the part that has been read, since its price changes', async () => {
    await using service = await startTestService(kind);
    const { database } = service;
    // More than one statement reads.
    const count = 4010;
    await importProducts(
      service,
      Array.from({ length: count }, (_, index) => ({ name: 'Lamp', price: 10 + index })),
    );
    const [begun, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let parts = 0;
    const snapshot: Database['snapshot'] = async (work, options) => {
      const part = await database.snapshot(work, options);
      parts += 1;
      if (parts === 1) {
        begun.resolve();
        await changed.promise;
      }
      return part;
    };
    const columns = createColumns({ ...database, snapshot }, products);
    const sources = ['status'].flatMap(name => findSource(name) ?? []);
    const found = columns.use(
      sources,
      read => read.get('status')?.rows({ of: 'equal', texts: ['active'] }).count,
    );
    await begun.promise;
    const body = { price: 1 };
    await call(service, { method: 'PATCH', path: `/v1/products/${count}`, as: 'editor', body });
    changed.resolve();
    expect(await found).toBe(count);
    expect(parts).toBe(2);
  });
});
