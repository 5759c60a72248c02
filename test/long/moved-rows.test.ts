/** Lists filtered by attributes after so many rows have moved that the order in memory is sorted again. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call } from '../support/http/http.ts';
import { importProducts } from '../support/samples/imported.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly price: number;
  readonly size: number;
}

const products = 1300;
const atOnce = 100;
const sizes = 30;

describeOnDatabases('rows that have moved on %s', kind => {
  let service: TestService;
  let random = 1;
  const draw = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  const drawn = () => ({ name: `${'ANZ'[draw(3)]}${draw(500)}`, price: draw(300), size: draw(sizes) });
  const rows = new Map<number, Row>();

  beforeAll(async () => {
    service = await startTestService(kind);
    const made = Array.from({ length: products }, drawn);
    await importProducts(
      service,
      made.map(({ name, price, size }, index) => ({ name, price, sku: `M-${index}`, attributes: { size } })),
    );
    for (const [index, row] of made.entries()) rows.set(index + 1, { ...row, id: index + 1 });
  });
  afterAll(() => service.stop());

  const read = async (query: string) => {
    const { body } = await call(service, { path: `/v1/products?${query}`, as: 'user' });
    const data: Row[] = body.data;
    return { ids: data.map(({ id }) => id), total: body.meta.total, next: body.links.next };
  };

  /** The sorted ids of the rows with at least the smallest size. */
  function expectedOf(smallest: number, sort: 'name' | 'price', sign: number): number[] {
    const compare = (a: Row, b: Row) => {
      const [one, other] = [a[sort], b[sort]];
      return sign * (one < other ? -1 : one > other ? 1 : a.id - b.id);
    };
    const all = [...rows.values()].filter(({ size }) => size >= smallest);
    return all.sort(compare).map(({ id }) => id);
  }

  type Sorting = readonly [sort: 'name' | 'price', order: 'asc' | 'desc'];
  const sortings: Sorting[] = [
    ['name', 'asc'],
    ['name', 'desc'],
    ['price', 'asc'],
    ['price', 'desc'],
  ];
  const size = 20;

  async function checkPage([sort, order]: Sorting, isFirst: boolean): Promise<void> {
    const smallest = draw(sizes - 2);
    const expected = expectedOf(smallest, sort, order === 'asc' ? 1 : -1);
    const page = isFirst ? 1 : 1 + draw(Math.max(1, Math.ceil(expected.length / size)));
    const query = `attr.size=gte:${smallest}&sort=${sort}&order=${order}&perPage=${size}`;
    const { ids, total } = await read(`${query}&page=${page}`);
    const shown = expected.slice((page - 1) * size, page * size);
    expect({ query, page, ids, total }).toEqual({ query, page, ids: shown, total: expected.length });
    // The following page, by cursor.
    const { next } = await read(query.replace('perPage', 'limit'));
    const followed = next === null ? [] : (await read(new URL(next).search.slice(1))).ids;
    expect({ query, ids: followed }).toEqual({ query, ids: expected.slice(size, 2 * size) });
  }

  test('are listed in their new places, however many there are, beside new and deleted rows', async () => {
    for (const sorting of sortings) await checkPage(sorting, false);
    for (let first = 1; first + atOnce <= products; first += atOnce) {
      const ids = Array.from({ length: atOnce }, (_, index) => first + index);
      const { size } = drawn();
      // Names before and after all others, and prices that none had.
      const name = `${'!N~'[draw(3)]}${draw(500)}`;
      const price = draw(400) + 0.5;
      const update = { name, price, attributes: { size } };
      const changed = await call(service, {
        method: 'PATCH',
        path: '/v1/products',
        as: 'editor',
        body: { ids, update },
      });
      expect(changed.status).toBe(200);
      for (const id of ids) rows.set(id, { id, name, price, size });
      const removed = first + draw(atOnce);
      await call(service, { method: 'DELETE', path: `/v1/products/${removed}`, as: 'editor' });
      rows.delete(removed);
      for (const sorting of sortings) await checkPage(sorting, false);
    }
    for (const sorting of sortings) await checkPage(sorting, true);
  });
});
