/**
 * Filters and orders can be combined in thousands of ways, and each combination has its own statements. The program and
 * the database drop statements that were not used for long, and prepare them again when needed.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createBoundedMap } from '../../../src/bounded-map.ts';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Filters that all match one product. */
const filters = [
  'name=Lamp',
  'brand=Lumen',
  'externalId=L-1',
  'gtin=4006381333931',
  'tag=oak',
  'minPrice=5',
  'maxPrice=50',
  'status=active',
];
const orders = ['', '&sort=price', '&sort=name', '&sort=createdAt&order=desc', '&order=desc'];
/** More combinations than a connection keeps statements for. */
const combinations = orders.flatMap(order =>
  Array.from({ length: 2 ** filters.length - 1 }, (_, bits) => {
    const chosen = filters.filter((_, place) => ((bits + 1) >> place) & 1);
    return `${chosen.join('&')}${order}`;
  }),
);
const atOnce = 5;

describeOnDatabases('very many shapes of lists on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    const lamp = { name: 'Lamp', brand: 'Lumen', externalId: 'L-1', gtin: '4006381333931', tags: ['oak'] };
    await addProduct(service, { ...lamp, price: 12 });
    await addProduct(service, { name: 'Other', price: 1, status: 'archived' });
    await addProduct(service, { name: 'Another', price: 99, status: 'archived' });
  });
  afterAll(() => service.stop());

  test('each gets the right response, and the first ones again after all others', async () => {
    expect(combinations.length).toBeGreaterThan(1200);
    const wrong: unknown[] = [];
    const check = async (query: string): Promise<void> => {
      const { status, body } = await call(service, { path: `/v1/products?${query}&page=1`, as: 'user' });
      const names = body.data?.map(({ name }: { name: string }) => name);
      // A filter with only one bound of the price also matches another product.
      const isShown = names?.includes('Lamp') === true && body.meta.total === names.length;
      if (status !== 200 || !isShown) wrong.push([query, status, names]);
    };
    for (let start = 0; start < combinations.length; start += atOnce)
      await Promise.all(combinations.slice(start, start + atOnce).map(check));
    await Promise.all(combinations.slice(0, atOnce).map(check));
    expect(wrong).toEqual([]);
  });
});

test('a bounded map reports each dropped value exactly once', () => {
  const dropped: number[] = [];
  const map = createBoundedMap<string, number>(
    4,
    () => 1,
    value => dropped.push(value),
  );
  for (let number = 0; number < 4; number++) map.set(`${number}`, number);
  expect(dropped).toEqual([]);
  // A used entry moves to the younger generation, and the older one makes room: 1 is dropped, and 0 is not.
  expect(map.get('0')).toBe(0);
  expect(dropped).toEqual([1]);
  map.set('4', 4);
  map.set('5', 5);
  map.set('6', 6);
  expect(dropped).not.toContain(6);
  const kept = [0, 1, 2, 3, 4, 5, 6].filter(number => map.get(`${number}`) !== undefined);
  map.clear();
  expect(dropped.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(kept.length).toBeGreaterThan(1);
  expect(map.size()).toBe(0);
});
