/** Data is loaded into memory once for concurrent requests, and includes changes made during the load. */
import { expect, test } from 'bun:test';
import { products } from '../../src/resources/products/row.ts';
import { createLoads } from '../../src/storage/changes/loads.ts';
import { addProduct } from '../support/data/catalog.ts';
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
});
