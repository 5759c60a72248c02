/** Totals of price ranges, which are put together from what earlier ranges have counted. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { random } from '../../bench/random.ts';
import { addProduct, type Product, pathOf } from '../support/catalog.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { expectedList, type ListQuery, searchOf } from '../support/expected-list.ts';
import { call } from '../support/http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const categories = ['lighting', 'chairs'] as const;
/** Many products at the same prices, and long stretches with none. */
const prices = [0, 0.01, 1, 9.99, 10, 10.01, 50, 99.5, 100, 5000, 99_999.99] as const;

describeOnDatabases('totals of price ranges on %s', kind => {
  const draw = random(20_261_121);
  const products = new Map<number, Product>();
  let service: TestService;

  const fields = (index: number) => ({
    name: `Product ${index}`,
    price: draw.integer(0, 2) === 0 ? draw.integer(0, 12_000) / 100 : draw.pick(prices),
    category: draw.pick(categories),
    status: draw.integer(0, 4) === 0 ? 'archived' : 'active',
  });
  const someRange = (): ListQuery => {
    const end = () => (draw.integer(0, 1) === 0 ? draw.pick(prices) : draw.integer(0, 12_000) / 100);
    const kinds = draw.integer(0, 3);
    return {
      ...(kinds === 0 ? {} : { minPrice: end() }),
      ...(kinds === 1 ? {} : { maxPrice: end() }),
      ...(draw.integer(0, 1) === 0 ? {} : { category: draw.pick(['lighting', 'chairs', 'none']) }),
      ...(draw.integer(0, 1) === 0 ? {} : { status: draw.pick(['active', 'archived']) }),
      sort: draw.pick(['price', 'name', 'id']),
      order: draw.pick(['asc', 'desc']),
    };
  };
  async function check(query: ListQuery): Promise<void> {
    const expected = expectedList(products.values(), query);
    const page = await call(service, {
      path: `/v1/products?${searchOf({ ...query, perPage: 5 })}`,
      as: 'user',
    });
    expect([query, page.status, page.body.meta?.total, page.body.data?.map((p: Product) => p.id)]).toEqual([
      query,
      200,
      expected.length,
      expected.slice(0, 5).map(({ id }) => id),
    ]);
  }

  beforeAll(async () => {
    service = await startTestService(kind);
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, index) => addProduct(service, fields(index))),
    );
    for (const product of made) products.set(product.id, product);
  });
  afterAll(() => service.stop());

  test('are exact while nothing changes, however often and in whichever order they are asked for', async () => {
    for (let round = 0; round < 40; round++)
      await Promise.all(Array.from({ length: 10 }, () => check(someRange())));
  });

  test('are exact after each change', async () => {
    for (let round = 0; round < 20; round++) {
      const [id] = [...products.keys()];
      const change = draw.integer(0, 2);
      if (change === 0 && id !== undefined) {
        const gone = await call(service, { method: 'DELETE', path: pathOf({ id }), as: 'admin' });
        expect(gone.status).toBe(204);
        products.delete(id);
      } else if (change === 1 && id !== undefined) {
        const body = { price: draw.pick(prices) };
        const moved = await call(service, { method: 'PATCH', path: pathOf({ id }), as: 'admin', body });
        products.set(id, moved.body);
      } else {
        const product = await addProduct(service, fields(1000 + round));
        products.set(product.id, product);
      }
      for (let asked = 0; asked < 6; asked++) await check(someRange());
    }
  });
});
