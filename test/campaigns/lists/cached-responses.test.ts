/**
 * At every request, whatever is cached is as new as the database: immediately after each write of any kind, by this
 * process or another, both replicas return what the tables hold.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { random } from '../../../bench/load/random.ts';
import { productOf } from '../../../src/resources/products/row.ts';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { addPerson, type Person } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { expectedList, type ListQuery, searchOf } from '../../support/samples/expected-list.ts';
import { importProducts } from '../../support/samples/imported.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const steps = 50;
const categories = ['lighting', 'chairs', null] as const;
const tags = ['used', 'wood', 'desk'] as const;

describeOnDatabases('cached responses on %s', kind => {
  const draw = random(20_261_122);
  const some = <Item>(items: readonly Item[]): Item => {
    const item = items[draw.integer(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  };
  let first: TestService;
  let replicas: readonly TestService[];
  let people: Person[];
  beforeAll(async () => {
    first = await startTestService(kind);
    replicas = [first, await first.replica()];
    people = await Promise.all(
      Array.from({ length: 6 }, (_, n) => addPerson(first, 'user', { name: `Person ${n}` })),
    );
    for (let index = 0; index < 30; index++) await addProduct(first, fields());
  });
  afterAll(() => first.stop());

  const fields = () => ({
    name: `Product ${draw.integer(1, 12)}`,
    price: draw.integer(0, 8) * 5,
    category: some(categories),
    status: some(['active', 'active', 'archived'] as const),
    tags: tags.filter(() => draw.integer(0, 2) === 0),
  });

  async function stored(): Promise<Product[]> {
    const query = sql<{ id: number; document: string }>`select id, document from products`;
    return (await first.database.read.all(query.compile(first.database.build))).map(productOf);
  }

  /** Makes one write of any kind, through any replica. */
  async function write(products: readonly Product[]): Promise<void> {
    const service = some(replicas);
    const product = some(products);
    const send = async (method: string, path: string, body?: unknown, headers = {}) => {
      const as = { as: 'admin' as const };
      const response = await call(service, {
        method,
        path,
        body,
        headers,
        ...('Authorization' in headers ? {} : as),
      });
      expect([method, path, response.status < 300 || response.status === 409]).toEqual([method, path, true]);
    };
    const kinds: readonly (() => Promise<unknown>)[] = [
      () => addProduct(service, { ...fields(), sku: `SKU ${draw.integer(1, 1_000_000)}` }),
      () => send('PUT', pathOf(product), fields()),
      () => send('PATCH', pathOf(product), { price: draw.integer(0, 8) * 5 }),
      () => send('PATCH', pathOf(product), { description: 'x'.repeat(draw.integer(1, 50)) }),
      () => send('PATCH', pathOf(product), { category: some(categories), sku: null }),
      () => send('DELETE', pathOf(product)),
      () =>
        send('PATCH', '/v1/products', {
          ids: products.slice(0, draw.integer(2, 12)).map(({ id }) => id),
          update: some<object>([{ status: 'archived' }, { price: 7 }, { tags: ['wood'] }, { name: 'Same' }]),
        }),
      () => send('POST', `${pathOf(product)}/reviews`, { rating: draw.integer(1, 5) }, some(people).headers),
      () => importSome(service, products),
      // Several at once: they are committed together or conflict with each other.
      () =>
        Promise.all(
          products
            .slice(0, 4)
            .map(({ id }) => send('PATCH', pathOf({ id }), { price: draw.integer(0, 8) * 5 })),
        ),
    ];
    await some(kinds)();
  }

  /** Writes as `catalog import` does: some existing products and some new ones, sometimes very many. */
  async function importSome(service: TestService, products: readonly Product[]): Promise<void> {
    const known = products.flatMap(({ sku, name }) => (sku === null ? [] : [{ sku, name }])).slice(0, 3);
    const count = draw.integer(1, 8) === 1 ? 270 : 3;
    const run = draw.integer(1, 1_000_000);
    const fresh = Array.from({ length: count }, (_, n) => ({ ...fields(), sku: `NEW ${run} ${n}` }));
    const changed = known.map(({ sku, name }) => ({ sku, name, price: draw.integer(0, 8) * 5 }));
    await importProducts(service, [...fresh, ...changed], first.clock.now());
  }

  const someList = (): ListQuery => ({
    ...some<ListQuery>([
      {},
      { category: 'lighting' },
      { category: 'chairs', status: 'active' },
      { status: 'archived' },
      { tag: 'wood' },
      { tag: 'desk', category: 'lighting' },
      { minPrice: 10, maxPrice: 25 },
      { category: 'lighting', minPrice: 20 },
    ]),
    ...some<ListQuery>([
      {},
      { sort: 'price' },
      { sort: 'price', order: 'desc' },
      { sort: 'name' },
      { sort: 'createdAt' },
    ]),
  });
  /** Cursors of pages that were seen, each with the product before it as it was then. */
  const cursors: { query: ListQuery; cursor: string; after: Product }[] = [];

  async function checkOne(service: TestService, products: readonly Product[]): Promise<void> {
    const id = draw.integer(1, Math.max(...products.map(product => product.id)));
    const { status, body } = await call(service, { path: pathOf({ id }), as: 'user' });
    const product = products.find(product => product.id === id);
    expect(product === undefined ? status : body).toEqual(product ?? 404);
  }

  async function checkPage(service: TestService, products: readonly Product[]): Promise<void> {
    const query = someList();
    const all = expectedList(products, query);
    const page = draw.integer(1, 4);
    const path = `/v1/products?${searchOf({ ...query, page, perPage: 4 })}`;
    // A list is cached on its second request.
    await call(service, { path, as: 'user' });
    const { body } = await call(service, { path, as: 'user' });
    expect([path, body.meta.total, body.data]).toEqual([path, all.length, all.slice(page * 4 - 4, page * 4)]);
    expect([path, body.links.next !== null]).toEqual([path, all.length > page * 4]);
  }

  async function checkCursor(service: TestService, products: readonly Product[]): Promise<void> {
    const known = draw.integer(0, 1) === 0 ? undefined : cursors[draw.integer(0, 20)];
    const query = known?.query ?? someList();
    const all = expectedList(products, query);
    const { sort = 'id', order = 'asc' } = query;
    const isAfter = (product: Product) =>
      known === undefined ||
      ((product.id !== known.after.id || product[sort as 'price'] !== known.after[sort as 'price']) &&
        expectedList([product, known.after], { sort, order })[0] === known.after);
    const rest = all.filter(isAfter);
    const at = known === undefined ? {} : { cursor: known.cursor };
    const path = `/v1/products?${searchOf({ ...query, limit: 4, count: 'exact', ...at })}`;
    const { body } = await call(service, { path, as: 'user' });
    expect([path, body.meta.total, body.data]).toEqual([path, all.length, rest.slice(0, 4)]);
    expect([path, body.meta.nextCursor !== null]).toEqual([path, rest.length > 4]);
    const after = body.data.at(-1);
    if (body.meta.nextCursor !== null) cursors.unshift({ query, cursor: body.meta.nextCursor, after });
  }

  test('match the tables on every replica right after any write', async () => {
    for (let step = 0; step < steps; step++) {
      first.clock.advance(draw.integer(0, 1) * 1500);
      await write(await stored());
      const now = await stored();
      const checks = [checkOne, checkOne, checkPage, checkPage, checkPage, checkCursor];
      await Promise.all(replicas.flatMap(service => checks.map(check => check(service, now))));
    }
  });

  test('are dropped only where a change shows', async () => {
    const [shown, other] = [
      await addProduct(first, { name: 'Shown', price: 500, category: 'here', tags: ['here'] }),
      await addProduct(first, { name: 'Other', price: 900, category: 'there' }),
    ];
    const reader = replicas[1] ?? first;
    const { lists } = reader.database.changes.uses;
    /** Whether the request had to build its list, instead of finding it in the cache. */
    const isMade = async (filter: string) => {
      const before = lists.misses;
      const { status } = await call(reader, { path: `/v1/products?${filter}`, as: 'user' });
      expect(status).toBe(200);
      return lists.misses > before;
    };
    const change = (changes: object) =>
      call(first, { method: 'PATCH', path: pathOf(shown), as: 'admin', body: changes });
    const filters = {
      category: 'category=here',
      tag: 'tag=here&sort=price',
      range: 'minPrice=400&maxPrice=600',
      cursor: 'category=here&limit=5',
      elsewhere: 'category=there',
      dearer: 'minPrice=800',
      nobody: 'tag=nobody',
      left: 'sort=id&perPage=2',
    };
    for (const filter of Object.values(filters)) await isMade(filter);
    for (const [what, made] of [
      [{}, []],
      [{ description: 'Another' }, ['category', 'tag', 'range', 'cursor']],
      [{ price: 550 }, ['category', 'tag', 'range', 'cursor']],
      [{ price: 850 }, ['category', 'tag', 'range', 'cursor', 'dearer']],
      [{ category: 'there' }, ['category', 'tag', 'cursor', 'elsewhere', 'dearer']],
    ] as const) {
      for (const filter of Object.values(filters)) await isMade(filter);
      if (Object.keys(what).length > 0) expect((await change(what)).status).toBe(200);
      const remade: string[] = [];
      for (const [name, filter] of Object.entries(filters)) if (await isMade(filter)) remade.push(name);
      expect([what, remade]).toEqual([what, [...made]]);
    }
    const { resources } = reader.database.changes.uses;
    const misses = resources.misses;
    for (const { id } of [shown, other, shown]) await call(reader, { path: pathOf({ id }), as: 'user' });
    // Both products are known from lists, and the change from its event.
    expect(resources.misses).toBe(misses);
  });

  test('are never older than the writes acknowledged before the request', async () => {
    const category = 'counted';
    const made = await Promise.all(
      [1, 2, 3, 4].map(price => addProduct(first, { name: 'Counter', price, category })),
    );
    const acknowledged = new Map(made.map(({ id, price }) => [id, price]));
    let isWriting = true;
    const write = async ({ id }: Product, index: number) => {
      for (let price = 10; price < 30; price++) {
        const service = replicas[(index + price) % 2] ?? first;
        const { status } = await call(service, {
          method: 'PATCH',
          path: pathOf({ id }),
          as: 'admin',
          body: { price },
        });
        expect(status).toBe(200);
        acknowledged.set(id, price);
      }
    };
    const watch = async (service: TestService, path: string) => {
      let isLast = false;
      while (!isLast) {
        isLast = !isWriting;
        const before = new Map(acknowledged);
        const { body } = await call(service, { path, as: 'user' });
        const shown: readonly Product[] = body.data ?? [body];
        for (const { id, price } of shown) expect(price).toBeGreaterThanOrEqual(before.get(id) ?? 0);
        if (body.data === undefined) continue;
        expect([shown.length, body.meta.total]).toEqual([4, 4]);
        expect(shown.map(({ price }) => price)).toEqual(
          shown.map(({ price }) => price).toSorted((a, b) => a - b),
        );
      }
    };
    const lists = [
      `/v1/products?category=${category}&sort=price`,
      `/v1/products?category=${category}&sort=price&minPrice=1`,
    ];
    const watching = replicas.flatMap(service =>
      [...lists, ...made.map(pathOf)].map(path => watch(service, path)),
    );
    await Promise.all(made.map(write));
    isWriting = false;
    await Promise.all(watching);
  });
});
