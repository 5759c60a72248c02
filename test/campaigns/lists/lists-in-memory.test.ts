/**
 * Lists whose order is held in memory: pages of every kind, at any depth, and totals of price ranges, while others
 * write on this replica and another.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { random } from '../../../bench/load/random.ts';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { expectedList, type ListQuery, searchOf } from '../../support/samples/expected-list.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const categories = ['lighting', 'lighting > lamps', 'chairs'] as const;
const brands = ['Ox', 'Yak', null] as const;
/** Many products at the same prices, and long stretches with none. */
const prices = [0, 0.01, 1, 9.99, 10, 10.01, 50, 99.5, 100, 5000, 99_999.99] as const;
const perPage = 5;

interface Query extends ListQuery {
  readonly brand?: string;
  readonly available?: boolean;
}

describeOnDatabases('lists held in memory on %s', kind => {
  const draw = random(20_261_121);
  const products = new Map<number, Product>();
  let service: TestService;
  let replica: TestService;

  const fields = (index: number) => ({
    name: `Product ${index}`,
    price: draw.integer(0, 2) === 0 ? draw.integer(0, 12_000) / 100 : draw.pick(prices),
    category: draw.pick(categories),
    brand: draw.pick(brands),
    status: draw.integer(0, 4) === 0 ? 'archived' : 'active',
  });
  const maybe = <Value>(name: string, value: () => Value) =>
    draw.integer(0, 2) === 0 ? { [name]: value() } : {};
  const someList = (): Query => {
    const end = () => (draw.integer(0, 1) === 0 ? draw.pick(prices) : draw.integer(0, 12_000) / 100);
    return {
      ...maybe('minPrice', end),
      ...maybe('maxPrice', end),
      ...maybe('category', () => draw.pick([...categories, 'none'])),
      ...maybe('status', () => draw.pick(['active', 'archived'])),
      ...maybe('brand', () => draw.pick(['Ox', 'Yak', 'nobody'])),
      ...maybe('available', () => draw.integer(0, 1) === 0),
      sort: draw.pick(['price', 'price', 'name', 'id', 'created_at']),
      order: draw.pick(['asc', 'desc']),
    };
  };
  function expectedIds({ category, brand, available, ...query }: Query): number[] {
    const isBelow = (path: string | null) =>
      category === undefined || path === category || path?.startsWith(`${category} > `) === true;
    const matching = [...products.values()]
      .filter(product => isBelow(product.category))
      .filter(product => brand === undefined || product.brand === brand)
      .filter(product => available === undefined || product.available === available);
    return expectedList(matching, query).map(({ id }) => id);
  }
  const idsOf = (page: { body: { data?: Product[] } }) => page.body.data?.map(({ id }) => id);

  async function checkPage(of: TestService, query: Query): Promise<void> {
    const expected = expectedIds(query);
    const page = draw.integer(1, 1 + Math.ceil(expected.length / perPage));
    const path = `/v1/products?${searchOf({ ...query, perPage, page })}`;
    const found = await call(of, { path, as: 'user' });
    expect([path, found.status, found.body.meta?.total, idsOf(found)]).toEqual([
      path,
      200,
      expected.length,
      expected.slice((page - 1) * perPage, page * perPage),
    ]);
  }
  /** Reads two pages forwards and one back. */
  async function checkCursors(of: TestService, query: Query): Promise<void> {
    const expected = expectedIds(query);
    const read = async (cursor?: string) => {
      const at = cursor === undefined ? {} : { cursor };
      const path = `/v1/products?${searchOf({ ...query, limit: perPage, count: 'exact', ...at })}`;
      const page = await call(of, { path, as: 'user' });
      expect([path, page.status, page.body.meta?.total]).toEqual([path, 200, expected.length]);
      return page;
    };
    const first = await read();
    expect([query, idsOf(first)]).toEqual([query, expected.slice(0, perPage)]);
    expect(first.body.meta.nextCursor !== null).toBe(expected.length > perPage);
    if (first.body.meta.nextCursor === null) return;
    const second = await read(first.body.meta.nextCursor);
    expect([query, idsOf(second)]).toEqual([query, expected.slice(perPage, 2 * perPage)]);
    const back = await read(second.body.meta.prevCursor);
    expect([query, idsOf(back), back.body.meta.prevCursor]).toEqual([query, idsOf(first), null]);
  }
  const checkSome = (of: TestService) =>
    draw.integer(0, 2) === 0 ? checkCursors(of, someList()) : checkPage(of, someList());

  async function change(index: number): Promise<void> {
    const id = [...products.keys()][draw.integer(0, products.size - 1)] ?? 0;
    const kind = draw.integer(0, 3);
    const at = pathOf({ id });
    if (kind === 0) {
      expect((await call(service, { method: 'DELETE', path: at, as: 'admin' })).status).toBe(204);
      products.delete(id);
    } else if (kind === 1) {
      const product = await addProduct(service, fields(1000 + index));
      products.set(product.id, product);
    } else {
      const body = { ...fields(2000 + index) };
      const written = await call(service, { method: 'PATCH', path: at, as: 'admin', body });
      expect(written.status).toBe(200);
      products.set(id, written.body);
    }
  }

  beforeAll(async () => {
    service = await startTestService(kind);
    replica = await service.replica();
    // At few moments, so that many products have the same creation time.
    for (let moment = 0; moment < 5; moment++) {
      service.clock.advance(1000);
      const made = Array.from({ length: 40 }, (_, index) => addProduct(service, fields(40 * moment + index)));
      for (const product of await Promise.all(made)) products.set(product.id, product);
    }
  });
  afterAll(() => service.stop());

  test('are exact while nothing changes, in any number and order of requests', async () => {
    for (let round = 0; round < 25; round++)
      await Promise.all(Array.from({ length: 10 }, () => checkSome(draw.pick([service, replica]))));
  });

  test('are exact after each change, on both replicas', async () => {
    for (let round = 0; round < 25; round++) {
      await change(round);
      for (let requested = 0; requested < 4; requested++) await checkSome(draw.pick([service, replica]));
    }
  });

  test('are exact after changes made while the keys were read', async () => {
    for (let round = 0; round < 3; round++) {
      const fresh = await service.replica();
      const queries = Array.from({ length: 6 }, () => ({ ...someList(), sort: 'price' }));
      const request = async (query: Query) => {
        const page = await call(fresh, { path: `/v1/products?${searchOf(query)}`, as: 'user' });
        expect(page.status).toBe(200);
      };
      let isDone = false;
      const write = async () => {
        for (let index = 0; index < 12; index++) await change(100 * round + index);
        isDone = true;
      };
      const read = async () => {
        while (!isDone) await Promise.all(queries.map(request));
      };
      await Promise.all([write(), read()]);
      for (const query of queries) await checkPage(fresh, query);
    }
  });

  test('are exact after a category has been renamed', async () => {
    const found = await call(service, { path: '/v1/categories?perPage=100', as: 'admin' });
    const lamps = found.body.data.find(({ path }: { path: string }) => path === 'lighting > lamps');
    const renamed = { method: 'PATCH', path: `/v1/categories/${lamps.id}`, as: 'admin' } as const;
    expect((await call(service, { ...renamed, body: { name: 'bulbs' } })).status).toBe(200);
    const { length } = [...products.values()].filter(({ category }) => category === 'lighting > lamps');
    const totalOf = async (of: TestService, category: string) =>
      (await call(of, { path: `/v1/products?${searchOf({ category, minPrice: 0 })}`, as: 'user' })).body.meta
        .total;
    for (const of of [service, replica]) {
      expect(await totalOf(of, 'lighting > lamps')).toBe(0);
      expect(await totalOf(of, 'lighting > bulbs')).toBe(length);
    }
    expect((await call(service, { ...renamed, body: { name: 'lamps' } })).status).toBe(200);
  });
});
