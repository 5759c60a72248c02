/** Cached lists: kept when a change does not affect their page, rebuilt when it does or when it overtakes the read. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { expectedList } from '../../support/samples/expected-list.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Prices of six products; those with the same price are ordered by id. */
const prices = [10, 20, 20, 20, 30, 40] as const;
const perPage = 2;

/** How the second page is requested: by number, or by a cursor from the first or from the third page. */
type Way = 'number' | 'after' | 'before';

/** A product, counted from 0, that gets a new price, and the products that the page then shows. */
interface Move {
  readonly order: 'asc' | 'desc';
  readonly way: Way;
  readonly moved: number;
  readonly price: number;
  readonly shown: readonly number[];
  readonly isKept: boolean;
}

/** Before each move, the page shows products 2 and 3, or 3 and 2. */
const moves: readonly Move[] = [
  // The second one gets the price of the page's first product, and precedes it by its id.
  { order: 'asc', way: 'number', moved: 1, price: 5, shown: [2, 3], isKept: true },
  { order: 'asc', way: 'number', moved: 0, price: 20, shown: [2, 3], isKept: true },
  { order: 'asc', way: 'number', moved: 1, price: 35, shown: [3, 4], isKept: false },
  // Both get the price of the page's last product, and follow it by their ids.
  { order: 'asc', way: 'number', moved: 4, price: 20, shown: [2, 3], isKept: true },
  { order: 'asc', way: 'number', moved: 5, price: 20, shown: [2, 3], isKept: true },
  { order: 'asc', way: 'number', moved: 4, price: 15, shown: [1, 2], isKept: false },
  { order: 'desc', way: 'number', moved: 1, price: 5, shown: [3, 2], isKept: true },
  { order: 'desc', way: 'number', moved: 4, price: 20, shown: [3, 2], isKept: true },
  { order: 'desc', way: 'number', moved: 1, price: 35, shown: [4, 3], isKept: false },
  { order: 'desc', way: 'number', moved: 4, price: 15, shown: [2, 1], isKept: false },
  // A page by cursor ends at its last product: products beyond it are on another page.
  { order: 'asc', way: 'after', moved: 5, price: 35, shown: [2, 3], isKept: true },
  { order: 'asc', way: 'after', moved: 4, price: 20, shown: [2, 3], isKept: true },
  { order: 'asc', way: 'before', moved: 0, price: 5, shown: [2, 3], isKept: true },
  { order: 'asc', way: 'before', moved: 0, price: 20, shown: [2, 3], isKept: true },
  { order: 'desc', way: 'after', moved: 0, price: 5, shown: [3, 2], isKept: true },
  { order: 'desc', way: 'before', moved: 5, price: 35, shown: [3, 2], isKept: true },
  // A product between the row at which the page starts and its first product joins the page.
  { order: 'desc', way: 'after', moved: 5, price: 25, shown: [5, 3], isKept: false },
  { order: 'asc', way: 'before', moved: 5, price: 25, shown: [3, 5], isKept: false },
  { order: 'asc', way: 'before', moved: 4, price: 20, shown: [3, 4], isKept: false },
  { order: 'desc', way: 'after', moved: 4, price: 25, shown: [4, 3], isKept: false },
];

describeOnDatabases('cached lists on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const list = (path: string) => call(service, { path, as: 'user' });
  const namesOf = ({ body }: { body: { data: Product[] } }) => body.data.map(({ name }) => name);
  const reprice = async (product: Product, price: number) => {
    const path = pathOf(product);
    const changed = await call(service, { method: 'PATCH', path, as: 'admin', body: { price } });
    expect(changed.status).toBe(200);
  };
  /** Whether a list was built for the request, instead of being cached. */
  async function isMade(request: () => Promise<unknown>): Promise<boolean> {
    const { lists } = service.database.changes.uses;
    const before = lists.misses;
    await request();
    return lists.misses > before;
  }

  /** @returns the path of the second page */
  async function pathTo(way: Way, category: string, order: string): Promise<string> {
    const path = `/v1/products?category=${category}&sort=price&order=${order}`;
    if (way === 'number') return `${path}&perPage=${perPage}&page=2`;
    const at = (cursor: string) => `${path}&limit=${perPage}&cursor=${cursor}`;
    const second = at((await list(`${path}&limit=${perPage}`)).body.meta.nextCursor);
    if (way === 'after') return second;
    const third = at((await list(second)).body.meta.nextCursor);
    return at((await list(third)).body.meta.prevCursor);
  }

  test.each(moves)(
    'the page by $way, $order: product $moved at $price',
    async ({ order, way, moved, price, shown, isKept }) => {
      const category = crypto.randomUUID();
      const products: Product[] = [];
      for (const [index, of] of prices.entries())
        products.push(await addProduct(service, { name: `Product ${index}`, price: of, category }));
      const path = await pathTo(way, category, order);
      const before = expectedList(products, { sort: 'price', order }).slice(perPage, 2 * perPage);
      for (let requested = 0; requested < 3; requested++)
        expect(namesOf(await list(path))).toEqual(before.map(({ name }) => name));
      expect(await isMade(() => list(path))).toBe(false);

      const product = products[moved];
      if (product === undefined) throw new Error(`there is no product ${moved}`);
      await reprice(product, price);
      expect(await isMade(() => list(path))).toBe(!isKept);
      const { body } = await list(path);
      expect(namesOf({ body })).toEqual(shown.map(index => `Product ${index}`));
      for (const one of body.data)
        expect(one).toEqual((await call(service, { path: pathOf(one), as: 'user' })).body);
    },
  );

  test('facets count no product that has left another filter, although the list has never had it', async () => {
    const category = crypto.randomUUID();
    await addProduct(service, { brand: 'A', category });
    const other = await addProduct(service, { brand: 'B', category });
    const path = `/v1/products?category=${category}&brand=A&facets=brand`;
    const brandsIn = async () => {
      const { data, meta } = (await list(path)).body;
      return [data.length, ...meta.facets.brand.map(({ value }: { value: string }) => value)];
    };
    for (let requested = 0; requested < 3; requested++) expect(await brandsIn()).toEqual([1, 'A', 'B']);
    // A change of nothing that the list counts or filters by.
    await reprice(other, 77);
    expect(await isMade(brandsIn)).toBe(false);
    const body = { category: null };
    await call(service, { method: 'PATCH', path: pathOf(other), as: 'admin', body });
    expect(await brandsIn()).toEqual([1, 'A']);
  });

  test('a list of a category has products of new categories below it, and those further listed in it', async () => {
    const category = crypto.randomUUID();
    // Each at an address of its own: not the response is cached, but which categories the path stands for.
    const idsIn = async (perPage: number) =>
      (await list(`/v1/products?category=${category}&sort=name&perPage=${perPage}`)).body.data.map(
        ({ id }: Product) => id,
      );
    await addProduct(service, { category: `other ${category}` });
    const ids = [(await addProduct(service, { name: 'A', category })).id];
    expect(await idsIn(10)).toEqual(ids);
    ids.push((await addProduct(service, { name: 'B', category: `${category} > below` })).id);
    expect(await idsIn(11)).toEqual(ids);
    const further = { category: `other ${category}`, categories: [category] };
    ids.push((await addProduct(service, { name: 'C', ...further })).id);
    expect(await idsIn(12)).toEqual(ids);
  });

  test('a list of a category has those further listed in it by a change without an event', async () => {
    const category = crypto.randomUUID();
    const [main, added] = [
      await addProduct(service, { name: 'A', category }),
      await addProduct(service, { name: 'B', category: `other ${category}` }),
    ];
    const idsIn = async (perPage: number) =>
      (await list(`/v1/products?category=${category}&sort=name&perPage=${perPage}`)).body.data.map(
        ({ id }: Product) => id,
      );
    expect(await idsIn(10)).toEqual([main.id]);
    const { build, write } = service.database;
    await write(async session => {
      const insert = sql`insert into product_categories (product_id, category_id, position)
        select ${sql.lit(added.id)}, category_id, 0 from products where id = ${main.id}`;
      await session.run(insert.compile(build));
      const mark = sql`update collection_versions set version = version + 1 where collection = 'products'`;
      await session.run(mark.compile(build));
    });
    expect(await idsIn(11)).toEqual([main.id, added.id]);
  });

  test.each([
    ['among more changes than are read', 600],
    ['without an event', 0],
  ])('a product is as it was changed last, %s', async (_, marked) => {
    const product = await addProduct(service, { name: 'Former', price: 5 });
    const nameOf = async () => (await list(pathOf(product))).body.name;
    // The first check drops what was read before it.
    for (let time = 0; time < 3; time++) expect(await nameOf()).toBe('Former');
    const { build, write } = service.database;
    await write(async session => {
      const change = sql`update products set name = 'Latter', document = replace(document, 'Former', 'Latter')
        where id = ${product.id}`;
      await session.run(change.compile(build));
      // With their representations, 512 events are read.
      const events = sql`insert into events (type, resource, resource_id, actor, created_at, mark)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 600)
        select 'product.updated', 'product', ${sql.lit(product.id)}, 'user:1', 1, 1 from numbers
        where n <= ${sql.lit(marked)}`;
      await session.run(events.compile(build));
      const marks = sql`update collection_versions set version = version + ${sql.lit(Math.max(1, marked))}
        where collection = 'products' and slot = (select min(slot) from collection_versions where collection = 'products')`;
      await session.run(marks.compile(build));
    });
    expect(await nameOf()).toBe('Latter');
  });

  /** Delays the end of the next snapshot until `release` is called. */
  function holdNextSnapshot() {
    const { database } = service;
    const { snapshot } = database;
    const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    database.snapshot = async (work, options) => {
      database.snapshot = snapshot;
      const read = await snapshot(work, options);
      reached.resolve();
      await held.promise;
      return read;
    };
    return { reached: reached.promise, release: held.resolve };
  }

  test.each([
    ['nothing changes', false, false],
    ['a change overtakes it', true, false],
    ['a change overtakes it, and it is requested again', true, true],
  ])('a list read while %s is cached only if it is current', async (_, isChanged, isRequestedAgain) => {
    const category = crypto.randomUUID();
    const lamp = await addProduct(service, { price: 5, category });
    const other = await addProduct(service, { category: `other ${category}` });
    const path = `/v1/products?category=${category}&sort=name&limit=5&count=exact`;
    const priceOf = async (listed: ReturnType<typeof list>) => (await listed).body.data[0].price;
    // A list requested only once is not cached.
    expect(await priceOf(list(path))).toBe(5);

    const { reached, release } = holdNextSnapshot();
    const reading = list(path);
    await reached;
    if (isChanged) await reprice(lamp, 7);
    // A request for any list makes the service look up changes.
    await list(`/v1/products?category=${encodeURIComponent(other.category ?? '')}`);
    if (isRequestedAgain) expect(await priceOf(list(path))).toBe(7);
    release();
    expect(await priceOf(reading)).toBe(5);
    const isMadeAgain = await isMade(async () => expect(await priceOf(list(path))).toBe(isChanged ? 7 : 5));
    expect(isMadeAgain).toBe(isChanged && !isRequestedAgain);
  });
});
