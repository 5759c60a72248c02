/** Facets of lists: which are shown and which refused. test/campaigns/lists/facets.test.ts checks their counts. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('facets on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('at most a hundred values are shown, with the number of further values', async () => {
    for (let index = 0; index < 103; index++)
      await addProduct(service, { attributes: { many: `v${index}`, long: 'x'.repeat(300) } });
    await addProduct(service, { attributes: { many: ['v102', 'v7'] } });
    const path = '/v1/products?facets=attr.many,attr.long&perPage=1';
    const { body } = await call(service, { path, as: 'user' });
    const many = body.meta.facets['attr.many'];
    expect([many.length, many[0], many[1], many[2]]).toEqual([
      100,
      { value: 'v102', count: 2 },
      { value: 'v7', count: 2 },
      { value: 'v0', count: 1 },
    ]);
    expect(body.meta.moreValues).toEqual({ 'attr.many': 3 });
    // A text of that length makes no useful choice.
    expect(body.meta.facets['attr.long']).toEqual([]);
  });

  test('every price is in a bucket, however close or large the prices are', async () => {
    for (const [brand, prices] of Object.entries({
      usual: [0, 7, 99.99],
      rounded: [0.3, 0.1 + 0.2],
      close: [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER],
      large: [0, Number.MAX_VALUE],
      small: [0, Number.MIN_VALUE],
    })) {
      for (const price of prices) await addProduct(service, { brand, price });
      const path = `/v1/products?brand=${brand}&facets=price`;
      const { min, max, buckets } = (await call(service, { path, as: 'user' })).body.meta.facets.price;
      expect([brand, min, max]).toEqual([brand, Math.min(...prices), Math.max(...prices)]);
      const counts: number[] = buckets.map(({ from, to }: { from: number; to: number }) => {
        expect(from).toBeLessThan(to);
        const isLast = to === buckets.at(-1).to;
        return prices.filter(price => price >= from && (isLast ? price <= to : price < to)).length;
      });
      expect([brand, buckets.map(({ count }: { count: number }) => count)]).toEqual([brand, counts]);
      expect([brand, counts.reduce((sum, count) => sum + count, 0)]).toEqual([brand, prices.length]);
    }
  });

  test('are also in HAL and in cursor pages', async () => {
    await addProduct(service, { brand: 'Hal' });
    const headers = { Accept: 'application/hal+json' };
    const hal = await call(service, { path: '/v1/products?facets=brand&brand=Hal', as: 'user', headers });
    expect(hal.body.meta.facets.brand).toContainEqual({ value: 'Hal', count: 1 });
    const paged = await call(service, { path: '/v1/products?facets=brand&limit=1', as: 'user' });
    expect(paged.body.meta.facets.brand).toEqual(hal.body.meta.facets.brand);
  });

  test('are refused by name when they do not exist', async () => {
    const hidden = { key: 'hidden', type: 'text', facet: false };
    await call(service, { method: 'POST', path: '/v1/attributes', as: 'admin', body: hidden });
    const defined = { key: 'defined', type: 'text' };
    await call(service, { method: 'POST', path: '/v1/attributes', as: 'admin', body: defined });
    await addProduct(service, { attributes: { hidden: 'x' } });
    for (const [facets, rule] of [
      ['colours', 'enum'],
      ['brand,attr.', 'enum'],
      ['attr.Red', 'enum'],
      ['name', 'enum'],
      ['constructor', 'enum'],
      ['attr.nobody.has.it', 'unknown'],
      ['attr.hidden', 'facet'],
      [',', 'minItems'],
      ['', 'minItems'],
      [Array.from({ length: 21 }, (_, index) => `attr.k${index}`).join(), 'maxItems'],
    ] as const) {
      const path = `/v1/products?facets=${facets}`;
      await play(service, { name: facets, path, as: 'user', status: 400, problems: [['facets', rule]] });
    }
    const path = '/v1/products?facets=attr.defined';
    expect((await call(service, { path, as: 'user' })).body.meta.facets).toEqual({ 'attr.defined': [] });
  });
});
