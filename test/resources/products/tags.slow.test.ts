/** Products by tag: after any kind of write, the list of a tag is correct, even if very many products have it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import { createProductImporter } from '../../../src/resources/products/import/index.ts';
import { createRecordCheck, prepareRecord } from '../../../src/resources/products/import/prepared.ts';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('tags on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  async function tagged(tag: string, query = ''): Promise<Product[]> {
    const path = `/v1/products?tag=${encodeURIComponent(tag)}${query}`;
    const { body } = await call(service, { path, as: 'user' });
    return body.data;
  }
  const idsOf = async (tag: string) => (await tagged(tag)).map(({ id }) => id);
  const send = (method: string, path: string, body?: unknown, type = 'application/json') =>
    call(service, { method, path, as: 'editor', body, headers: { 'Content-Type': type } });

  test('every way to write a product keeps its tags', async () => {
    const first = await addProduct(service, { tags: ['a', 'b', 'a'] });
    const second = await addProduct(service, { tags: ['b'] });
    expect(await Promise.all(['a', 'b', 'c'].map(idsOf))).toEqual([[first.id], [first.id, second.id], []]);
    await send('PATCH', pathOf(first), { tags: ['c', 'b'] });
    expect(await Promise.all(['a', 'b', 'c'].map(idsOf))).toEqual([[], [first.id, second.id], [first.id]]);
    const patch = [{ op: 'add', path: '/tags/0', value: 'a' }];
    await send('PATCH', pathOf(second), patch, 'application/json-patch+json');
    expect(await idsOf('a')).toEqual([second.id]);
    await send('PUT', pathOf(second), { name: 'Lamp', price: 1 });
    expect(await Promise.all(['a', 'b'].map(idsOf))).toEqual([[], [first.id]]);
    const ids = [first.id, second.id];
    await send('PATCH', '/v1/products', { ids, update: { tags: ['a', 'd'] } });
    expect(await Promise.all(['a', 'b', 'd'].map(idsOf))).toEqual([ids, [], ids]);
    await call(service, { method: 'DELETE', path: pathOf(first), as: 'editor' });
    expect(await Promise.all(['a', 'c', 'd'].map(idsOf))).toEqual([[second.id], [], [second.id]]);
    // A refused change leaves the tags as they were.
    const refused = await send('PATCH', pathOf(second), { tags: ['e'], price: -1 });
    expect([refused.status, await idsOf('e'), await idsOf('a')]).toEqual([400, [], [second.id]]);
  });

  test('a tag of more products than are sorted has right totals, orders and cursors, alone and with filters', async () => {
    const count = 5200;
    const records = Array.from({ length: count }, (_, index) => {
      const tags = index % 100 === 0 ? ['common', 'rare'] : ['common'];
      // Most expensive first, so that the order of the list differs from that of ids.
      const record = createRecordCheck()({
        name: `Thing ${index}`,
        price: count - index,
        sku: `C-${index}`,
        tags,
      });
      if (Array.isArray(record)) throw new Error(JSON.stringify(record));
      return prepareRecord({ ...record, name: `Thing ${index}`, price: count - index }, 'EUR', 0);
    });
    const { database } = service;
    const importer = createProductImporter(database, createCommandOutbox(database));
    await database.write(async session => {
      const plan = await importer.plan(session, records, 'lock');
      await importer.apply(session, plan, [], createCause('import', 0));
    });
    for (const [tag, query, total] of [
      ['common', '', count],
      ['common', '&sort=price', count],
      ['common', '&sort=price&order=desc', count],
      ['common', '&sort=price&maxPrice=3000', 3000],
      ['common', '&status=archived', 0],
      ['common', '&sort=name&status=archived', 0],
      ['rare', '&sort=price&minPrice=200', 51],
    ] as const) {
      const path = `/v1/products?tag=${tag}${query}&perPage=100`;
      const { body } = await call(service, { path, as: 'user' });
      expect([query, body.meta.total]).toEqual([query, total]);
      const last = await call(service, { path: `${path}&page=${body.meta.lastPage}`, as: 'user' });
      const pages: Product[] = [...body.data, ...last.body.data];
      expect(pages.every(({ tags }) => tags.includes(tag))).toBe(true);
      const prices = body.data.map(({ price }: Product) => price);
      const direction = query.includes('desc') ? -1 : 1;
      if (query.includes('sort=price')) {
        expect(prices).toEqual(prices.toSorted((a: number, b: number) => direction * (a - b)));
        expect(last.body.data.at(-1)?.price).toBe(direction === -1 ? 1 : query.includes('max') ? 3000 : 5200);
      }
    }
    const seen: number[] = [];
    let cursor = '';
    do {
      const path = `/v1/products?tag=common&sort=price&minPrice=5000&limit=70${cursor}`;
      const { body } = await call(service, { path, as: 'user' });
      seen.push(...body.data.map(({ price }: Product) => price));
      cursor = body.meta.nextCursor === null ? '' : `&cursor=${body.meta.nextCursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(Array.from({ length: 201 }, (_, index) => 5000 + index));
  });
});
