/** Lists of categories with everything below: correct in every order, page and filter, with every query plan. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import { createProductImporter } from '../../../src/resources/products/import/index.ts';
import { prepareRecord } from '../../../src/resources/products/import/prepared.ts';
import {
  buildStoredColumns,
  products as collection,
  productOf,
  type StoredProduct,
} from '../../../src/resources/products/row.ts';
import { createCategoryPlanner } from '../../../src/storage/list/category-plan.ts';
import type { Product } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { expectedList, type ListQuery } from '../../support/samples/expected-list.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

type Query = Omit<ListQuery, 'category'>;

const sorts = ['id', 'price', 'name', 'created_at'] as const;
/**
 * The listed categories and the size of a page, so that each plan is used. Entries with the same plan share the sorts
 * and directions between them: those at even positions test one half, those at odd positions the other.
 */
const listed: readonly (readonly [
  paths: readonly string[],
  perPage: number,
  plan: string,
  planByName: string,
])[] = [
  [['R'], 50, 'gathered', 'gathered'],
  [['R'], 1, 'gathered', 'merged'],
  [['R > A', 'R > B'], 1, 'gathered', 'merged'],
  [['Rest'], 3, 'probed', 'probed'],
  [['Rest'], 1, 'probed', 'probed'],
  [['Rest', 'R > A'], 20, 'probed', 'probed'],
  [['R > B > D'], 2, 'gathered', 'merged'],
  [['Rest > X'], 5, 'probed', 'one'],
  [['None'], 2, 'gathered', 'one'],
];

describeOnDatabases('lists of categories on %s', kind => {
  let service: TestService;
  let products: Product[];
  beforeAll(async () => {
    service = await startTestService(kind);
    const { database, clock } = service;
    const importer = createProductImporter(database, createCommandOutbox(database));
    const records = Array.from({ length: 3000 }, (_, index) =>
      prepareRecord(fieldsOf(index), 'EUR', clock.now()),
    );
    await database.write(async session => {
      const plan = await importer.plan(session, records, 'lock');
      await importer.apply(session, plan, [], createCause('import', clock.now()));
    });
    const columns = buildStoredColumns(database.dialect);
    const rows = sql<StoredProduct>`select ${columns} from products order by id`.compile(database.build);
    products = (await database.read.all(rows)).map(productOf);
  });
  afterAll(() => service.stop());

  const isIn = ({ category, categories }: Product, paths: readonly string[]) =>
    [category, ...categories].some(
      own => own !== null && paths.some(path => own === path || own.startsWith(`${path} > `)),
    );
  const expected = (paths: readonly string[], query: Query) =>
    expectedList(
      products.filter(product => isIn(product, paths)),
      query,
    ).map(({ id }) => id);
  const searchOf = (paths: readonly string[], query: object) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) parameters.append(name, `${value}`);
    for (const path of paths) parameters.append('category', path);
    return parameters.toString();
  };
  const read = async (path: string) => (await call(service, { path, as: 'user' })).body;
  const idsOf = (page: { data: Product[] }) => page.data.map(({ id }) => id);

  /** Reads all pages by number from the last to the first, and by cursor in both directions. */
  async function check(paths: readonly string[], perPage: number, query: Query): Promise<void> {
    const all = expected(paths, query);
    const last = Math.max(1, Math.ceil(all.length / perPage));
    const deepest = Math.min(last, 2);
    for (const page of new Set([last, ...Array.from({ length: deepest }, (_, index) => deepest - index)])) {
      const found = await read(`/v1/products?${searchOf(paths, { ...query, perPage, page })}`);
      expect(idsOf(found)).toEqual(all.slice((page - 1) * perPage, page * perPage));
      expect(found.meta.total).toBe(all.length);
    }
    let at: string | null = `/v1/products?${searchOf(paths, { ...query, limit: perPage, count: 'exact' })}`;
    for (let page = 0; page < 3 && at !== null; page++) {
      const found = await read(at);
      expect(idsOf(found)).toEqual(all.slice(page * perPage, (page + 1) * perPage));
      expect(found.meta.total).toBe(all.length);
      if (page > 0 && found.links.prev !== null) {
        const before = await read(found.links.prev.slice(service.url.length));
        expect(idsOf(before)).toEqual(all.slice((page - 1) * perPage, page * perPage));
      }
      at = found.links.next === null ? null : found.links.next.slice(service.url.length);
    }
  }

  const placed = listed.map((one, place) => [...one, place] as const);
  test.each(placed)(
    '%p, %d at a time: %s, and %s by name',
    async (paths, perPage, plan, planByName, place) => {
      const planner = createCategoryPlanner(service.database, collection);
      const [first = ''] = paths;
      const condition =
        paths.length === 1
          ? ({ column: 'category', operator: '=', value: first } as const)
          : ({ column: 'category', operator: 'in', values: paths, value: JSON.stringify(paths) } as const);
      const page = { kind: 'offset', page: 1, perPage } as const;
      const plans = ['price', 'name'].map(async column => {
        const order = { column, descending: false };
        const planned = await planner.now({ conditions: [condition], order, page });
        return planned.categoryPlan?.kind ?? 'one';
      });
      expect(await Promise.all(plans)).toEqual([plan, planByName] as 'gathered'[]);
      const isAlone = listed.filter(one => `${one.slice(2)}` === `${[plan, planByName]}`).length === 1;
      for (const [index, sort] of sorts.entries())
        for (const [direction, order] of ['asc', 'desc'].entries())
          if (isAlone || (index + direction + place) % 2 === 0) await check(paths, perPage, { sort, order });
      await check(paths, perPage, { sort: 'price', status: 'archived' });
      await check(paths, perPage, { sort: 'price', minPrice: 10, maxPrice: 40 });
      await check(paths, perPage, { sort: 'name', minPrice: 10, status: 'active' });
      await check(paths, perPage, { sort: 'created_at', tag: 'odd' });
      await check(paths, perPage, { tag: 'odd', minPrice: 20 });
    },
  );
});

/** Few products in R and below it, most in Rest; some of those in Rest are also listed below R. */
function fieldsOf(index: number) {
  const below = ['R', 'R > A', 'R > A', 'R > B', 'R > B > D', 'R > B > D'];
  const rest = [index % 29 === 3 ? null : 'Rest', 'Rest > X', 'Rest > Y'];
  const isFew = index % 50 === 0;
  const besides = index % 200 === 1 ? ['R > A', 'R > B > D'] : index % 200 === 2 ? ['R > B'] : [];
  return {
    name: `Product ${(index * 7) % 40}`,
    price: (index * 11) % 50,
    status: index % 9 === 0 ? ('archived' as const) : ('active' as const),
    tags: index % 2 === 1 ? ['odd'] : [],
    category: isFew ? below[(index / 50) % below.length] : rest[index % 3],
    categories: besides,
  };
}
