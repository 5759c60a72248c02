/** Facets of lists: correct counts under any filter and after any change. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import { createProductImporter } from '../../../src/resources/products/import/index.ts';
import { createRecordCheck, prepareRecord } from '../../../src/resources/products/import/prepared.ts';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

type Made = Product & { readonly brand: string | null; readonly attributes: Record<string, unknown> };
type Counts = [value: unknown, count: number][];

/** The values of each facet that a product counts for. */
const valuesOf: Record<string, (product: Made) => unknown[]> = {
  brand: ({ brand }) => (brand === null ? [] : [brand]),
  tag: ({ tags }) => [...tags],
  status: ({ status }) => [status],
  category: ({ category }) =>
    category?.split(' > ').map((_, index, names) => names.slice(0, index + 1).join(' > ')) ?? [],
  'attr.colour': ({ attributes }) => [attributes.colour ?? []].flat(),
  'attr.watt': ({ attributes }) => [attributes.watt ?? []].flat(),
  'attr.led': ({ attributes }) => [attributes.led ?? []].flat(),
  'attr.size': ({ attributes }) => [attributes.size ?? []].flat(),
};

/** The tested filters: the facet that each belongs to, its query, and its meaning. */
const filters: [facet: string, query: string, matches: (product: Made) => boolean][] = [
  ['brand', 'brand=B1', ({ brand }) => brand === 'B1'],
  ['status', 'status=active', ({ status }) => status === 'active'],
  ['tag', 'tag=t2', ({ tags }) => tags.includes('t2')],
  ['price', 'minPrice=20', ({ price }) => price >= 20],
  ['price', 'maxPrice=70', ({ price }) => price <= 70],
  ['category', 'category=a', ({ category }) => category === 'a'],
  ['attr.colour', 'attr.colour=red&attr.colour=blue', p => isAny(p, 'colour', ['red', 'blue'])],
  [
    'attr.watt',
    'attr.watt=gte:3&attr.watt=lt:8',
    p => Number(p.attributes.watt) >= 3 && Number(p.attributes.watt) < 8,
  ],
  ['attr.led', 'attr.led=true', p => isAny(p, 'led', [true])],
  ['attr.size', 'attr.size=07&attr.size=x', p => isAny(p, 'size', ['07', 7, 'x'])],
];
const isAny = ({ attributes }: Made, key: string, values: unknown[]) =>
  [attributes[key] ?? []].flat().some(value => values.includes(value));

const orders: [
  [sort: string, valueOf: (product: Made) => string | number],
  ...[string, (product: Made) => string | number][],
] = [
  ['id', ({ id }) => id],
  ['price', ({ price }) => price],
  ['name', ({ name }) => name],
  ['createdAt', ({ createdAt }) => createdAt],
];

const compare = ([a, m]: Counts[number], [b, n]: Counts[number]) =>
  n - m ||
  Number(typeof b === 'number') - Number(typeof a === 'number') ||
  (typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : 1);

describeOnDatabases('facets on %s', kind => {
  let service: TestService;
  let random = 1;
  const draw = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const send = (method: string, path: string, body?: unknown) =>
    call(service, { method, path, as: 'editor', body });
  const drawn = () => ({
    name: `P${draw(1000)}`,
    price: draw(10_000) / 100,
    status: draw(5) === 0 ? 'archived' : 'active',
    brand: draw(4) === 0 ? null : `B${draw(3)}`,
    category: [null, 'a', 'b'][draw(3)] ?? null,
    tags: ['t1', 't2', 't3'].filter(() => draw(2) === 0),
    attributes: {
      ...(draw(3) === 0 ? {} : { colour: draw(2) === 0 ? ['red', 'green'].slice(draw(2)) : 'blue' }),
      ...(draw(3) === 0 ? {} : { watt: draw(10) }),
      ...(draw(3) === 0 ? {} : { led: draw(2) === 0 }),
      ...(draw(3) === 0 ? {} : { size: [7, '7', '07', ['7', 'x'], 8][draw(5)] }),
    },
  });

  async function everything(): Promise<Made[]> {
    const all: Made[] = [];
    for (let path = '/v1/products?limit=100'; ; ) {
      const { body } = await call(service, { path, as: 'user' });
      all.push(...body.data);
      if (body.links.next === null) return all;
      path = body.links.next.slice(service.url.length);
    }
  }

  /** Requests all facets under a filter, and compares each with a count of the products. */
  async function check(of: TestService, all: readonly Made[], chosen: typeof filters): Promise<void> {
    const names = [...Object.keys(valuesOf), 'price'];
    const query = chosen.map(([, text]) => text).join('&');
    const path = `/v1/products?facets=${names.join(',')}&perPage=1${query === '' ? '' : `&${query}`}`;
    const { body } = await call(of, { path, as: 'user' });
    const without = (name: string) =>
      all.filter(product => chosen.every(([facet, , matches]) => facet === name || matches(product)));
    const expected: Record<string, unknown> = {};
    for (const [name, values] of Object.entries(valuesOf)) {
      const counts = new Map<unknown, number>();
      for (const product of without(name))
        for (const value of new Set(values(product))) counts.set(value, (counts.get(value) ?? 0) + 1);
      expected[name] = [...counts].sort(compare).map(([value, count]) => ({ value, count }));
    }
    const { price, ...counted } = body.meta.facets;
    expect({ query, counted }).toEqual({ query, counted: expected });
    const prices = without('price').map(product => product.price);
    const [min, max] = prices.length === 0 ? [null, null] : [Math.min(...prices), Math.max(...prices)];
    expect({ query, min: price.min, max: price.max }).toEqual({ query, min, max });
    expect({ query, some: price.buckets.length > 0 }).toEqual({ query, some: prices.length > 0 });
    for (const { from, to, count } of price.buckets) {
      const isLast = to === price.buckets.at(-1).to;
      const inside = prices.filter(value => value >= from && (isLast ? value <= to : value < to));
      expect({ query, from, to, count }).toEqual({ query, from, to, count: inside.length });
    }
    expect(body.meta.total).toBe(
      all.filter(product => chosen.every(([, , matches]) => matches(product))).length,
    );
  }

  /** Walks a filtered list in some order by pages and by cursors in both directions, and compares each page. */
  async function checkLists(of: TestService, all: readonly Made[], chosen: typeof filters): Promise<void> {
    const [sort, keyOf] = orders[draw(orders.length)] ?? orders[0];
    const direction = draw(2) === 0 ? 1 : -1;
    const order = (a: Made, b: Made) => {
      const [one, other] = [keyOf(a), keyOf(b)];
      return direction * (one < other ? -1 : one > other ? 1 : a.id - b.id);
    };
    const expected = all
      .filter(product => chosen.every(([, , matches]) => matches(product)))
      .sort(order)
      .map(({ id }) => id);
    const query = `sort=${sort}&order=${direction === 1 ? 'asc' : 'desc'}&${chosen.map(([, text]) => text).join('&')}`;
    const size = 1 + draw(7);
    const read = async (path: string) => (await call(of, { path, as: 'user' })).body;
    const idsOf = (body: { data: Made[] }) => body.data.map(({ id }) => id);
    const page = 1 + draw(Math.ceil(expected.length / size) + 1);
    const shown = await read(`/v1/products?${query}&perPage=${size}&page=${page}`);
    const where = { query, size, page };
    expect({ ...where, ids: idsOf(shown), total: shown.meta.total }).toEqual({
      ...where,
      ids: expected.slice((page - 1) * size, page * size),
      total: expected.length,
    });
    let body = await read(`/v1/products?${query}&limit=${size}&count=exact`);
    const walked: number[][] = [idsOf(body)];
    while (body.links.next !== null) {
      body = await read(body.links.next.slice(of.url.length));
      walked.push(idsOf(body));
    }
    expect({ query, walked: walked.flat(), total: body.meta.total }).toEqual({
      query,
      walked: expected,
      total: expected.length,
    });
    for (let index = walked.length - 2; index >= 0; index--) {
      body = await read(body.links.prev.slice(of.url.length));
      expect({ query, index, ids: idsOf(body) }).toEqual({ query, index, ids: walked[index] ?? [] });
    }
    expect(body.links.prev).toBeNull();
  }
  const someFilters = () => filters.filter(() => draw(3) === 0);

  test('are exact under any filters and after any change, on both replicas', async () => {
    const replica = await service.replica();
    const ids: number[] = [];
    for (let index = 0; index < 30; index++) ids.push((await addProduct(service, drawn())).id);
    await check(service, await everything(), []);
    for (let round = 0; round < 15; round++) {
      const id = ids[draw(ids.length)] ?? 0;
      const action = draw(5);
      if (action === 0) ids.push((await addProduct(service, drawn())).id);
      else if (action === 1) await send('PUT', pathOf({ id }), drawn());
      else if (action === 2) await send('PATCH', pathOf({ id }), { attributes: drawn().attributes });
      else if (action === 3) await send('PATCH', '/v1/products', { ids: [id], update: { price: draw(100) } });
      else if (ids.length > 5) {
        await send('DELETE', pathOf({ id }));
        ids.splice(ids.indexOf(id), 1);
      }
      const all = await everything();
      for (const of of [service, replica, service]) {
        const chosen = someFilters();
        await check(of, all, chosen);
        // Once more, this time from the cache.
        await check(of, all, chosen);
        if (round % 3 === 0)
          await checkLists(of, all, [...chosen, ...filters.slice(6 + draw(3)).slice(0, 1)]);
      }
    }
    const checkRecord = createRecordCheck();
    const records = Array.from({ length: 600 }, (_, index) => {
      const record = checkRecord({ ...drawn(), sku: `I-${index}`, name: `I${index}` });
      if (Array.isArray(record)) throw new Error(JSON.stringify(record));
      return prepareRecord({ ...record, name: `I${index}`, price: draw(100) }, 'EUR', 0);
    });
    const importer = createProductImporter(service.database, createCommandOutbox(service.database));
    await service.database.write(async session => {
      const plan = await importer.plan(session, records, 'lock');
      await importer.apply(session, plan, [], createCause('import', 0));
    });
    const all = await everything();
    for (const of of [service, replica])
      for (let round = 0; round < 3; round++) await check(of, all, someFilters());
  });
});
