/** The list of products by cursor: both directions, what a cursor is bound to, and which cursors are refused. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import {
  addVariety,
  expectedList,
  filters,
  orderings,
  searchOf,
} from '../../support/samples/expected-list.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, signIn, startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('cursors on %s', kind => {
  let service: TestService;
  let products: Product[];
  beforeAll(async () => {
    service = await startTestService(kind);
    products = await addVariety(service, 40);
  });
  afterAll(() => service.stop());
  const list = async (query: object) =>
    (await call(service, { path: `/v1/products?${searchOf(query)}`, as: 'user' })).body;

  // The walks see every product, so the other tests remove theirs.
  test.each(filters.map(filter => [searchOf(filter) || 'no filter', filter] as const))(
    'walks every order of %s forwards and back',
    async (_, filter) => {
      for (const ordering of orderings) {
        const query = { ...filter, ...ordering, limit: 11 };
        const expected = expectedList(products, query);
        const pages: Product[][] = [];
        let page = await list(query);
        pages.push(page.data);
        while (page.meta.nextCursor !== null) {
          page = await list({ ...query, cursor: page.meta.nextCursor });
          pages.push(page.data);
        }
        expect(pages.flat()).toEqual(expected);
        expect(pages.length).toBe(Math.max(1, Math.ceil(expected.length / 11)));
        const back: Product[][] = [page.data];
        while (page.meta.prevCursor !== null) {
          page = await list({ ...query, cursor: page.meta.prevCursor });
          back.unshift(page.data);
        }
        expect(back).toEqual(pages);
      }
    },
  );

  test('meta and links are exactly as documented', async () => {
    const at = (search: string) => `${service.url}/v1/products?${search}`;
    const first = await list({ sort: 'price', limit: 10 });
    const { nextCursor } = first.meta;
    expect(first.meta).toEqual({
      perPage: 10,
      nextCursor: expect.stringMatching(/^[\w-]+$/),
      prevCursor: null,
    });
    expect(first.links).toEqual({
      first: at('sort=price&limit=10'),
      last: null,
      prev: null,
      next: at(`sort=price&limit=10&cursor=${nextCursor}`),
    });
    const second = await list({ cursor: nextCursor, sort: 'price', limit: 10, count: 'exact' });
    const { prevCursor } = second.meta;
    expect(second.meta).toEqual({
      perPage: 10,
      nextCursor: expect.any(String),
      prevCursor: expect.any(String),
      total: 40,
    });
    expect(second.links.prev).toBe(at(`sort=price&count=exact&limit=10&cursor=${prevCursor}`));
    expect(second.links.first).toBe(at('sort=price&count=exact&limit=10'));
    // The size may differ from page to page: the cursor does not hold it.
    const larger = await list({ sort: 'price', limit: 30, cursor: nextCursor });
    expect(larger.data).toEqual(expectedList(products, { sort: 'price' }).slice(10, 40));
    const unsized = await list({ sort: 'price', cursor: nextCursor });
    expect(unsized.data).toEqual(expectedList(products, { sort: 'price' }).slice(10, 30));
  });

  test('a cursor of another list, order or filter is refused, and so is an altered cursor', async () => {
    const { nextCursor } = (await list({ sort: 'price', status: 'active', limit: 3 })).meta as {
      nextCursor: string;
    };
    const valid = { sort: 'price', status: 'active', limit: '3', cursor: nextCursor };
    expect((await list(valid)).data).toHaveLength(3);
    const flipped = `${nextCursor.slice(0, -1)}${nextCursor.endsWith('A') ? 'B' : 'A'}`;
    const { status: _, ...unfiltered } = valid;
    const { sort: __, ...unsorted } = valid;
    const wrong: object[] = [
      { ...valid, sort: 'name' },
      { ...valid, order: 'desc' },
      { ...valid, status: 'archived' },
      { ...valid, minPrice: 1 },
      { ...valid, category: 'lighting' },
      unfiltered,
      unsorted,
      { ...valid, cursor: flipped },
      { ...valid, cursor: `${nextCursor.startsWith('A') ? 'B' : 'A'}${nextCursor.slice(1)}` },
      { ...valid, cursor: nextCursor.slice(0, 16) },
      { ...valid, cursor: nextCursor.slice(0, 10) },
      { ...valid, cursor: `${nextCursor}A` },
      { ...valid, cursor: `${nextCursor}=` },
      { ...valid, cursor: '' },
      { ...valid, cursor: 'garbage' },
      { ...valid, cursor: "' or 1=1 --" },
      { ...valid, cursor: '💡'.repeat(100) },
      { ...valid, cursor: Buffer.from('{"id":1}').toString('base64') },
    ];
    for (const query of wrong) {
      const path = `/v1/products?${searchOf(query)}`;
      await play(service, { name: path, path, as: 'user', status: 400, error: 'INVALID_CURSOR' });
    }
    // A cursor of another list of the same service, and one signed with another service's secret.
    const path = `/v1/keys?limit=3&cursor=${(await list({ limit: 3 })).meta.nextCursor}`;
    await play(service, { name: 'keys', path, as: 'admin', status: 400, error: 'INVALID_CURSOR' });
    await using foreign = await service.replica({
      JWT_SECRET: 'another secret for tests of another service',
    });
    const response = await call(foreign, {
      path: `/v1/products?${searchOf(valid)}`,
      headers: { Authorization: `Bearer ${await signIn(foreign.url, emailOf('user'))}` },
    });
    expect([response.status, response.body.error]).toEqual([400, 'INVALID_CURSOR']);
  });

  test('page numbers and cursors exclude each other', async () => {
    const { nextCursor } = (await list({ limit: 3 })).meta;
    const path = `/v1/products?page=2&cursor=${nextCursor}`;
    await play(service, { name: 'both', path, as: 'user', status: 400, problems: [['page', 'exclusive']] });
  });

  test('cursors work for the longest values of the sort', async () => {
    const made: Product[] = [];
    for (const character of ['💡', '\u0001', '"', '\u2028']) {
      for (const end of ['a', 'b'])
        made.push(await addProduct(service, { name: `x${character.repeat(198)}${end}`, category: 'long' }));
    }
    const seen: Product[] = [];
    let cursor: string | null = null;
    do {
      const page = await list({
        sort: 'name',
        category: 'long',
        limit: 1,
        ...(cursor === null ? {} : { cursor }),
      });
      seen.push(...page.data);
      cursor = page.meta.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(expectedList(made, { sort: 'name' }));
    for (const product of made)
      await call(service, { method: 'DELETE', path: pathOf(product), as: 'editor' });
  });

  test.each([...orderings])(
    'walking past a page that has become empty misses nothing in either direction: %j',
    async ordering => {
      const category = `empty ${JSON.stringify(ordering)}`;
      const made: Product[] = [];
      for (const price of [1, 2, 2, 3]) made.push(await addProduct(service, { price, category }));
      const remove = async (gone: readonly Product[]) => {
        for (const product of gone) {
          await call(service, { method: 'DELETE', path: pathOf(product), as: 'editor' });
          made.splice(made.indexOf(product), 1);
        }
      };
      const query = { ...ordering, category, limit: 2 };
      const expected = expectedList(made, query);
      const first = await list(query);
      const second = await list({ ...query, cursor: first.meta.nextCursor });
      await remove(made.filter(({ id }) => id === expected[2]?.id || id === expected[3]?.id));
      const end = await list({ ...query, cursor: first.meta.nextCursor });
      expect([end.data, end.meta.nextCursor]).toEqual([[], null]);
      expect((await list({ ...query, cursor: end.meta.prevCursor })).data).toEqual(expected.slice(0, 2));

      const { prevCursor } = second.meta;
      await remove([...made]);
      expect((await list({ ...query, cursor: prevCursor })).data).toEqual([]);
    },
  );

  test.each([...orderings])(
    'a page that deletions emptied at the start leads to the following products: %j',
    async ordering => {
      const category = `gone ${JSON.stringify(ordering)}`;
      const made: Product[] = [];
      for (const price of [1, 2, 2, 3]) made.push(await addProduct(service, { price, category }));
      const query = { ...ordering, category, limit: 2 };
      const expected = expectedList(made, query);
      const first = await list(query);
      const second = await list({ ...query, cursor: first.meta.nextCursor });
      const remove = (product: Product) =>
        call(service, { method: 'DELETE', path: pathOf(product), as: 'editor' });
      for (const product of expected.slice(0, 2)) await remove(product);
      const start = await list({ ...query, cursor: second.meta.prevCursor });
      expect([start.data, start.meta.prevCursor]).toEqual([[], null]);
      expect((await list({ ...query, cursor: start.meta.nextCursor })).data).toEqual(expected.slice(2));
      for (const product of expected.slice(2)) await remove(product);
    },
  );
});
