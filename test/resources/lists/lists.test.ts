/** The list of products by page number: filters, orders, totals and links. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import {
  addVariety,
  expectedList,
  filters,
  type ListQuery,
  orderings,
  searchOf,
} from '../../support/samples/expected-list.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const refused: [query: string, field: string, rule: string][] = [
  ['page=0', 'page', 'minimum'],
  ['page=-1', 'page', 'minimum'],
  ['page=1.5', 'page', 'pattern'],
  ['page=abc', 'page', 'pattern'],
  ['page=', 'page', 'pattern'],
  ['page=1000000001', 'page', 'maximum'],
  ['page=9007199254740993', 'page', 'maximum'],
  ['perPage=0', 'perPage', 'minimum'],
  ['perPage=101', 'perPage', 'maximum'],
  ['perPage=ten', 'perPage', 'pattern'],
  ['limit=0', 'limit', 'minimum'],
  ['limit=101', 'limit', 'maximum'],
  ['status=gone', 'status', 'enum'],
  ['status=Active', 'status', 'enum'],
  ['status=', 'status', 'enum'],
  ['category=%20', 'category', 'blank'],
  ['category=a%00b', 'category', 'characters'],
  ['sku=', 'sku', 'blank'],
  ['tag=%20', 'tag', 'blank'],
  ['name=a&name=b', 'name', 'repeated'],
  ['tag=a%00b', 'tag', 'characters'],
  ['minPrice=cheap', 'minPrice', 'pattern'],
  ['minPrice=NaN', 'minPrice', 'pattern'],
  ['maxPrice=Infinity', 'maxPrice', 'pattern'],
  ['maxPrice=1e400', 'maxPrice', 'type'],
  ['maxPrice=', 'maxPrice', 'pattern'],
  ['sort=colour', 'sort', 'enum'],
  ['sort=price;drop%20table%20products', 'sort', 'enum'],
  ['order=up', 'order', 'enum'],
  ['count=some', 'count', 'enum'],
  ['status=active&status=archived', 'status', 'repeated'],
  ['page=1&limit=5', 'page', 'exclusive'],
  ['page=1&cursor=abc', 'page', 'exclusive'],
  ['category=%zz', 'query', 'encoding'],
  ['category=%ff', 'query', 'encoding'],
];

describeOnDatabases('the list of products on %s', kind => {
  let service: TestService;
  let products: Product[];
  beforeAll(async () => {
    service = await startTestService(kind);
    products = await addVariety(service, 60);
  });
  afterAll(() => service.stop());
  const list = (query: string, at: TestService = service) =>
    call(at, { path: `/v1/products${query === '' ? '' : `?${query}`}`, as: 'user' });

  test.each(refused)('refuses %s', async (query, field, rule) => {
    const path = `/v1/products?${query}`;
    await play(service, { name: query, path, as: 'user', status: 400, problems: [[field, rule]] });
  });

  test.each(filters.map(filter => [searchOf(filter) || 'no filter', filter] as const))(
    'every order and page of %s holds the right products',
    async (_, filter) => {
      for (const ordering of orderings) {
        const query: ListQuery = { ...filter, ...ordering };
        const expected = expectedList(products, query);
        const last = Math.max(1, Math.ceil(expected.length / 13));
        // From the end, so that no earlier page helps to find a deep one.
        for (let page = last; page >= 1; page--) {
          const { body } = await list(searchOf({ ...query, perPage: 13, page }));
          expect(body.data).toEqual(expected.slice((page - 1) * 13, page * 13));
          expect(body.meta).toEqual({
            currentPage: page,
            perPage: 13,
            total: expected.length,
            lastPage: last,
          });
        }
      }
    },
  );

  const at = (search: string) => `${service.url}/v1/products?${search}`;
  test('links are exactly as documented', async () => {
    const total = products.length;
    const twenty = { perPage: 20, total, lastPage: 3 };
    const links = { first: at('page=1'), last: at('page=3') };
    expect((await list('')).body).toMatchObject({
      meta: { currentPage: 1, ...twenty },
      links: { ...links, prev: null, next: at('page=2') },
    });
    expect((await list('page=2')).body.links).toEqual({ ...links, prev: at('page=1'), next: at('page=3') });
    expect((await list('page=3')).body.links).toEqual({ ...links, prev: at('page=2'), next: null });
    const past = (await list('page=50')).body;
    expect(past).toEqual({
      data: [],
      meta: { currentPage: 50, ...twenty },
      links: { ...links, prev: at('page=3'), next: null },
    });
    expect((await list('page=1000000000&perPage=100')).body.data).toEqual([]);
    const none = { perPage: 20, total: 0, lastPage: 1 };
    const only = at('category=unknown&page=1');
    expect((await list('category=unknown')).body).toEqual({
      data: [],
      meta: { currentPage: 1, ...none },
      links: { first: only, last: only, prev: null, next: null },
    });
    const kept = (await list('sort=price&colour=r%C3%BCd&page=2&order=desc&perPage=30')).body.links;
    expect(kept.prev).toBe(at('sort=price&colour=r%C3%BCd&order=desc&perPage=30&page=1'));
  });

  test('links lead to the pages they name, and never carry a key', async () => {
    const first = (await list('perPage=25&sort=name')).body;
    const second = (await call(service, { path: first.links.next.slice(service.url.length), as: 'user' }))
      .body;
    expect([...first.data, ...second.data]).toEqual(expectedList(products, { sort: 'name' }).slice(0, 50));
    const withKey = (await list('api_key=ck_secret&perPage=5')).body.links;
    expect(withKey.next).toBe(at('perPage=5&page=2'));
  });

  test('parameters that are not known are ignored', async () => {
    const known = await list('sort=price');
    expect((await list('sort=price&colour=red&offset=3&constructor=1&__proto__=2')).body.data).toEqual(
      known.body.data,
    );
  });
});

describeOnDatabases('totals on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('totals and deep pages are right at once after every kind of write, on every replica', async () => {
    const products = new Map((await addVariety(service, 100)).map(product => [product.id, product]));
    await using replica = await service.replica();
    const queries: ListQuery[] = [
      ...filters,
      { sort: 'price', order: 'desc' },
      { sort: 'name', category: 'lighting' },
    ];

    /** Reads the first, a deep and the last page of every list. The first call fills the caches. */
    async function checkLists(): Promise<void> {
      for (const query of queries) {
        const expected = expectedList(products.values(), query);
        const last = Math.max(1, Math.ceil(expected.length / 5));
        for (const page of new Set([1, Math.ceil(last / 2), last])) {
          for (const each of [service, replica]) {
            const path = `/v1/products?${searchOf({ ...query, perPage: 5, page })}`;
            const { body } = await call(each, { path, as: 'user' });
            expect([path, body.meta.total]).toEqual([path, expected.length]);
            expect(body.data).toEqual(expected.slice((page - 1) * 5, page * 5));
          }
        }
      }
    }
    async function change(method: string, target: Product, body: object): Promise<void> {
      const path = pathOf(target);
      const { body: changed } = await call(replica, { method, path, as: 'editor', body });
      products.set(target.id, changed);
    }
    const nth = (index: number) => [...products.values()][index] ?? ([...products.values()][0] as Product);

    await checkLists();
    const added = await addProduct(replica, { category: 'lighting', status: 'archived', price: 0.5 });
    products.set(added.id, added);
    await checkLists();
    for (const index of [0, 50]) {
      const gone = nth(index);
      await call(service, { method: 'DELETE', path: pathOf(gone), as: 'editor' });
      products.delete(gone.id);
      await checkLists();
    }
    await change('PATCH', nth(3), { status: 'archived', category: 'new' });
    await checkLists();
    await change('PATCH', nth(10), { price: 9999 });
    await checkLists();
    await change('PUT', nth(20), { name: 'AAA', price: 0.2, category: 'chairs' });
    await checkLists();
    const ids = [nth(5).id, nth(6).id, nth(7).id, nth(8).id];
    const update = { category: 'lighting', status: 'active' };
    await call(service, { method: 'PATCH', path: '/v1/products', as: 'editor', body: { ids, update } });
    for (const id of ids) {
      const { body } = await call(service, { path: pathOf({ id }), as: 'user' });
      products.set(id, body);
    }
    await checkLists();
    // A write that fails leaves the totals as they are.
    const clash = { ids, update: { sku: 'ONE-FOR-ALL', status: 'archived' } };
    await call(service, { method: 'PATCH', path: '/v1/products', as: 'editor', body: clash });
    await checkLists();
  });
});
