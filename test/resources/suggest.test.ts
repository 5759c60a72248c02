/** Which products are suggested to somebody who is still typing, through the front door. */
import { expect, test } from 'bun:test';
import { addProduct, pathOf } from '../support/catalog.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

/** Requests at most until the names of products are in memory. */
const mostTries = 100;

describeOnDatabases('suggestions on %s', kind => {
  test('are products with all words in name or brand, others only without such, and as they are now', async () => {
    await using service = await startTestService(kind);
    const lamp = await addProduct(service, { name: 'Oak lamp', brand: 'Glimmer' });
    await addProduct(service, { name: 'Pine table', description: 'Goes with a lamp by Glimmer' });
    let tries = 0;
    const suggested = async (query: string): Promise<string[]> => {
      // Another address each time: a response is cached until something changes.
      const spaces = '%20'.repeat(tries++ % 100);
      const path = `/v1/search/suggest?q=${encodeURIComponent(query)}${spaces}`;
      const { body } = await call(service, { path, as: 'user' });
      return body.products.map(({ title }: { title: string }) => title);
    };
    // Names are read when they are first wanted.
    while (tries < mostTries && (await suggested('glimmer la')).length > 1);
    expect(await suggested('glimmer la')).toEqual(['Oak lamp']);
    expect(await suggested('goes wi')).toEqual(['Pine table']);
    await call(service, { method: 'PATCH', path: pathOf(lamp), as: 'editor', body: { name: 'Oak lantern' } });
    expect(await suggested('glimmer lan')).toEqual(['Oak lantern']);
    expect(await suggested('glimmer lam')).toEqual(['Pine table']);
    const chair = await addProduct(service, { name: 'Glimmer lamp chair' });
    expect(await suggested('glimmer lam')).toEqual(['Glimmer lamp chair']);
    await call(service, { method: 'DELETE', path: pathOf(chair), as: 'admin' });
    expect(await suggested('glimmer lam')).toEqual(['Pine table']);
  });
});
