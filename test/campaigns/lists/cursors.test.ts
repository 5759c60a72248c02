/** Cursors stay valid when products are inserted and deleted between two pages. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { expectedList, searchOf } from '../../support/samples/expected-list.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const fields = fc.record({
  // Few values, so that ties are common, and names that sort differently by code unit and by code point.
  name: fc.constantFrom('a', 'b', 'B', 'ä', 'ａ', '𝔞', '"', '\\', '\u0001'),
  price: fc.constantFrom(0, 0.1, 1, 1.5, 1e21, 5e-324),
  status: fc.constantFrom('active' as const, 'archived' as const),
  pause: fc.nat(2),
});
const ordering = fc.record({
  sort: fc.constantFrom('id', 'price', 'name', 'created_at'),
  order: fc.constantFrom('asc', 'desc'),
  limit: fc.integer({ min: 1, max: 5 }),
});
/** What happens between two pages: a product is inserted, or the one at this index is deleted. */
const event = fc.oneof(
  fields.map(product => ({ kind: 'insert' as const, product })),
  fc.nat(30).map(index => ({ kind: 'delete' as const, index })),
);
const scenario = fc.record({
  products: fc.array(fields, { maxLength: 14 }),
  ordering,
  status: fc.constantFrom(undefined, 'active'),
  events: fc.array(fc.array(event, { maxLength: 3 }), { maxLength: 8 }),
});

let lists = 0;

describeOnDatabases('cursors on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const add = ({ pause, ...product }: { pause: number }, category: string): Promise<Product> => {
    service.clock.advance(pause);
    return addProduct(service, { ...product, category });
  };

  test('list every product that stays exactly once and in order, forwards and backwards', async () => {
    const property = fc.asyncProperty(scenario, async ({ products, ordering, status, events }) => {
      // A separate category for each run replaces a separate database.
      const category = `list ${++lists}`;
      const query = { ...ordering, category, ...(status === undefined ? {} : { status }) };
      const list = async (cursor: string | null) =>
        (
          await call(service, {
            path: `/v1/products?${searchOf(cursor === null ? query : { ...query, cursor })}`,
            as: 'admin',
          })
        ).body;
      const present: Product[] = [];
      const everPresent: Product[] = [];
      for (const product of products) present.push(await add(product, category));
      const original = [...present];
      everPresent.push(...present);
      const seen: Product[] = [];
      let cursor: string | null = null;
      for (let page = 0; ; page++) {
        const { data, meta } = await list(cursor);
        expect(data.length).toBeLessThanOrEqual(ordering.limit);
        seen.push(...data);
        for (const change of events[page] ?? []) {
          if (change.kind === 'insert') {
            const inserted = await add(change.product, category);
            present.push(inserted);
            everPresent.push(inserted);
          } else if (present.length > 0) {
            const [gone] = present.splice(change.index % present.length, 1);
            if (gone !== undefined)
              await call(service, { method: 'DELETE', path: pathOf(gone), as: 'admin' });
          }
        }
        cursor = meta.nextCursor;
        if (cursor === null) break;
      }
      const ids = (list: readonly Product[]) => list.map(({ id }) => id);
      // In order and without duplicates: the seen products, sorted as expected, are what was seen.
      const seenIds = new Set(ids(seen));
      expect(ids(seen)).toEqual(
        ids(
          expectedList(
            everPresent.filter(({ id }) => seenIds.has(id)),
            query,
          ),
        ),
      );
      const stayed = expectedList(
        original.filter(({ id }) => present.some(one => one.id === id)),
        query,
      );
      expect(ids(stayed).filter(id => !seenIds.has(id))).toEqual([]);

      // Back from the end of the current list, every product is seen again.
      const forwards: Product[][] = [];
      let page = await list(null);
      forwards.push(page.data);
      while (page.meta.nextCursor !== null) {
        page = await list(page.meta.nextCursor);
        forwards.push(page.data);
      }
      expect(ids(forwards.flat())).toEqual(ids(expectedList(present, query)));
      const backwards: Product[][] = [page.data];
      while (page.meta.prevCursor !== null) {
        page = await list(page.meta.prevCursor);
        backwards.unshift(page.data);
      }
      expect(backwards).toEqual(forwards);
      for (const product of present)
        await call(service, { method: 'DELETE', path: pathOf(product), as: 'admin' });
    });
    await fc.assert(property, { numRuns: 12 });
  });
});
