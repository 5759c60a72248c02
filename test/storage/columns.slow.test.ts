/** Columns in memory do not change while a request works with them, however long that takes. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { products } from '../../src/resources/products/row.ts';
import { createAttributeCondition } from '../../src/storage/attributes/condition.ts';
import { kinds } from '../../src/storage/attributes/values.ts';
import { type Column, createColumn } from '../../src/storage/columns/column.ts';
import { createFacetCounter } from '../../src/storage/columns/facet-counter.ts';
import { createColumns } from '../../src/storage/columns/index.ts';
import { selectPage } from '../../src/storage/columns/line.ts';
import { createRowFinder } from '../../src/storage/columns/matching.ts';
import { toIds } from '../../src/storage/columns/rows.ts';
import { findSource } from '../../src/storage/columns/source.ts';
import type { Condition } from '../../src/storage/list/request.ts';
import { addProduct } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { expectRejection } from '../support/http/rejection.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describeOnDatabases('columns on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const brand = findSource('brand');
  const sources = brand === undefined ? [] : [brand];
  const countOf = (column: Column | undefined) => column?.rows({ of: 'equal', texts: ['A'] }).count;

  test('do not change while a caller uses them, and are as new as the last check for all other callers', async () => {
    const { changes } = service.database;
    const columns = createColumns(service.database, products);
    await addProduct(service, { brand: 'A' });
    const count = () => columns.use(sources, found => countOf(found.get('brand')));
    const before = (await count()) ?? 0;
    const others: Promise<number | undefined>[] = [];
    const seen = await columns.use(sources, async found => {
      const column = found.get('brand');
      const first = countOf(column);
      await addProduct(service, { brand: 'A' });
      // A condition that no request has used yet, so that it is computed now, from the rows as they are held.
      const both = () => column?.rows({ of: 'equal', texts: ['A', 'B'] }).count;
      await changes.check();
      others.push(count(), count());
      await changes.check();
      expect(columns.peek(sources)).toBeUndefined();
      return [first, countOf(column), both()];
    });
    expect(seen).toEqual([before, before, before]);
    expect(await Promise.all(others)).toEqual([before + 1, before + 1]);
    expect(countOf(columns.peek(sources)?.get('brand'))).toBe(before + 1);
  });

  test('are right after more changes at once than they apply', async () => {
    const many = 410;
    const body = { name: 'Lamp', price: 1, category: 'many' };
    const made = await Promise.all(Array.from({ length: many }, () => addProduct(service, body)));
    const count = async () => {
      const path = '/v1/products?facets=attr.size,attr.other&category=many&perPage=1';
      return (await call(service, { path, as: 'user' })).body.meta.facets;
    };
    const patch = (attributes: object) =>
      call(service, {
        method: 'PATCH',
        path: '/v1/products',
        as: 'admin',
        body: { ids: made.map(({ id }) => id), update: { attributes } },
      });
    await patch({ size: 'none', other: ['x', 'y'] });
    expect((await count())['attr.other']).toEqual([
      { value: 'x', count: many },
      { value: 'y', count: many },
    ]);
    // The changes give `size` fifty values, so its column is read again; that of `other` takes over the changes.
    const size = Array.from({ length: 50 }, (_, index) => String(index));
    expect((await patch({ size, other: ['y'] })).status).toBe(200);
    const after = await count();
    expect(after['attr.other']).toEqual([{ value: 'y', count: many }]);
    expect(after['attr.size']).toContainEqual({ value: '49', count: many });
  });

  test('are limited in number: those of keys that no product has would slow down every change', async () => {
    const columns = createColumns(service.database, products);
    const load = (names: readonly string[]) =>
      columns.use(
        names.flatMap(name => findSource(name) ?? []),
        found => found.size,
      );
    await load(['brand', 'price']);
    for (let part = 0; part < 20; part++) {
      const names = Array.from({ length: 30 }, (_, index) => `attr.unknown_${30 * part + index}`);
      expect(await load(['price', ...names])).toBe(31);
    }
    const isKept = (name: string) => columns.peek([findSource(name) ?? []].flat()) !== undefined;
    expect(['attr.unknown_599', 'attr.unknown_0', 'price', 'brand'].map(isKept)).toEqual([
      ...[true, false, true, false],
    ]);
  });

  test('follow later changes after a caller fails', async () => {
    const columns = createColumns(service.database, products);
    const before = (await columns.use(sources, found => countOf(found.get('brand')))) ?? 0;
    const failing = columns.use(sources, async () => {
      await addProduct(service, { brand: 'A' });
      await service.database.changes.check();
      throw new Error('the work has failed');
    });
    await expectRejection(failing, 'the work has failed');
    expect(await columns.use(sources, found => countOf(found.get('brand')))).toBe(before + 1);
  });

  const limits = { maxBytes: 1_000_000, maxCombinations: 1000, maxColumns: 500 };
  const toSources = (...names: string[]) => names.flatMap(name => findSource(name) ?? []);
  const tags = { table: 'product_tags', key: 'product_id' } as const;

  test('with too many values are filtered by queries of the database, and refused as facets only', async () => {
    const ids: number[] = [];
    for (const place of [0, 1, 2, 3, 4]) {
      const attributes = { serial: `s${place}`, depth: place };
      const product = { category: 'coded', tags: [`own-${place}`], attributes };
      ids.push((await addProduct(service, product)).id);
    }
    const columns = createColumns(service.database, products, { ...limits, maxCombinations: 3 });
    const find = createRowFinder(service.database, columns);
    const counter = createFacetCounter(service.database, columns);
    const wanted: [Condition, number[]][] = [
      [createAttributeCondition('serial', { of: 'equal', texts: ['s1', 's4', 'none'] }), [1, 4]],
      [createAttributeCondition('depth', { of: 'number', bounds: [{ operator: '>=', value: 3 }] }), [3, 4]],
      [{ column: 'tag', operator: '=', value: 'own-2', join: tags }, [2]],
      [{ column: 'tag', operator: 'in', values: ['own-2', 'own-3'], value: 'both', within: tags }, [2, 3]],
      [{ column: 'category', operator: '=', value: 'coded' }, [0, 1, 2, 3, 4]],
      [createAttributeCondition('serial', { of: 'equal', texts: ['none'] }), []],
    ];
    for (const [condition, places] of wanted) {
      const matches = await find([condition]);
      expect(ids.filter(id => matches?.(id))).toEqual(places.map(place => ids[place] ?? 0));
      expect(matches?.(0)).toBe(false);
    }
    const conditions = wanted.slice(0, 2).map(([condition]) => condition);
    const { values } = await counter.count({ facets: ['status'], conditions });
    expect(values.status?.values).toEqual([{ value: 'active', count: 1 }]);
    await expectRejection(
      counter.count({ facets: ['status', 'attr.serial'], conditions: [] }),
      'attr.serial has too many values',
    );
    const counted = service.database.snapshot(session =>
      counter.countIn(session, { facets: ['status'], conditions }),
    );
    expect((await counted).values).toEqual(values);
  });

  test('count a product with several values as one combination, not as one for each value that is read', async () => {
    const names = ['1', '2', '3', '4', '5', '6'].map(name => `several-${name}`);
    for (const last of ['a', 'b']) await addProduct(service, { tags: [...names, `several-${last}`] });
    const columns = createColumns(service.database, products);
    const long = await columns.use(toSources('tag'), found =>
      found.get('tag')?.members.filter(places => places.length >= names.length),
    );
    expect(long).toHaveLength(2);
    const counts = await columns.use(toSources('tag'), found =>
      names.map(name => found.get('tag')?.rows({ of: 'equal', texts: [name] }).count),
    );
    expect(counts).toEqual(names.map(() => 2));
  });

  test('that are too large together are not read in the place of all others', async () => {
    for (const place of [0, 1, 2])
      await addProduct(service, { brand: `Large ${place}`, attributes: { large: `l${place}` } });
    const both = toSources('brand', 'attr.large');
    const maxBytes = await createColumns(service.database, products).use(both, found =>
      [...found.values()].reduce((sum, column) => sum + column.bytes(), -1),
    );
    const columns = createColumns(service.database, products, { ...limits, maxBytes });
    const counter = createFacetCounter(service.database, columns);
    const count = (facets: string[], conditions: Condition[] = []) => counter.count({ facets, conditions });
    const message = 'attr.large has too many values';
    await expectRejection(count(['brand', 'attr.large']), message);
    await count(['brand']);
    await expectRejection(count(['brand', 'attr.large']), message);
    expect(columns.peek(sources)).toBeDefined();
    const isLarge = createAttributeCondition('large', { of: 'equal', texts: ['l0', 'l2'] });
    expect((await count(['brand'], [isLarge])).values.brand?.values).toEqual([
      { value: 'Large 0', count: 1 },
      { value: 'Large 2', count: 1 },
    ]);
    expect(columns.peek(sources)).toBeDefined();
    expect((await count(['attr.large'])).values['attr.large']?.values).toHaveLength(3);
  });

  test('that are too large together when they are first read do not wait for themselves', async () => {
    for (const place of [0, 1]) {
      const attributes = { vast: `v${place}` };
      await addProduct(service, { brand: `Vast ${place}`, attributes });
    }
    const maxBytes = await createColumns(service.database, products).use(
      toSources('brand', 'attr.vast'),
      found => [...found.values()].reduce((sum, column) => sum + column.bytes(), -1),
    );
    const counter = createFacetCounter(
      service.database,
      createColumns(service.database, products, { ...limits, maxBytes }),
    );
    const isVast = createAttributeCondition('vast', { of: 'equal', texts: ['v1'] });
    const { values } = await counter.count({ facets: ['brand'], conditions: [isVast] });
    expect(values.brand?.values).toEqual([{ value: 'Vast 1', count: 1 }]);
  });

  test('are not held while a query of one that is too large waits for snapshots that wait for changes of them', async () => {
    const { database } = service;
    for (const place of [0, 1, 2, 3]) await addProduct(service, { attributes: { coded: `c${place}` } });
    const columns = createColumns(database, products, { ...limits, maxCombinations: 3 });
    const counter = createFacetCounter(database, columns);
    const condition = createAttributeCondition('coded', { of: 'equal', texts: ['c1'] });
    const countAll = { facets: ['status'], conditions: [] };
    await counter.count({ ...countAll, conditions: [condition] });
    const [opened, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // Both databases run one snapshot at a time here.
    const first = database.snapshot(() => opened.promise, { background: true });
    const other = database.snapshot(session => counter.countIn(session, countAll), { background: true });
    const find = createRowFinder(
      {
        ...database,
        snapshot(work, options) {
          asked.resolve();
          return database.snapshot(work, options);
        },
      },
      columns,
    );
    const found = find([condition]);
    await asked.promise;
    const { id } = await addProduct(service, { attributes: { coded: 'c1' } });
    opened.resolve();
    await Promise.all([first, other]);
    expect((await found)?.(id)).toBe(true);
  });
});

const toValues = (number: number) => [{ kind: kinds.number, text: String(number), number }];

test('rows are in order although the price of one has changed while prices were read', async () => {
  const column = createColumn(true);
  const prices = [0, 10, 20, 30, 40];
  for (const id of [1, 2, 3, 4]) column.add([id], toValues(prices[id] ?? 0));
  // Read again at its new price.
  column.add([1], toValues(50));
  await column.arrange();
  column.set(1, toValues(50));
  column.set(4, toValues(15));
  column.set(3, toValues(5));
  // With the rows that have moved, and again once they have been put in order.
  for (let time = 0; time < 2; time++) {
    const line = column.line();
    const rows = column.rows({ of: 'number', bounds: [{ operator: '>=', value: 0 }] });
    const page = { rows, descending: false, start: undefined, skip: 0, count: 10 };
    expect(line && selectPage(line, page)).toEqual([3, 4, 2, 1]);
    const start = { place: 5, id: 3 };
    expect(line && selectPage(line, { ...page, start, count: 2 })).toEqual([4, 2]);
    await column.arrange();
  }
});

test('rows found by a test stay right when rows change, and its texts are not read again', () => {
  const column = createColumn();
  const toTexts = (...texts: string[]) => texts.map(text => ({ kind: kinds.text, text, number: null }));
  for (const id of [1, 2, 3, 4]) column.add([id], toTexts('a', `own ${id}`));
  let reads = 0;
  const texts = ['b', 'c'];
  Object.defineProperty(texts, 1, {
    get() {
      reads += 1;
      return 'c';
    },
    enumerable: true,
  });
  const find = () => toIds(column.rows({ of: 'equal', texts }));
  expect(find()).toEqual([]);
  const before = reads;
  for (const id of [1, 2]) column.set(id, toTexts('x', 'c'));
  column.set(3, toTexts('x'));
  for (const id of [5, 2]) column.set(id, toTexts('b'));
  expect(reads).toBe(before);
  expect(find()).toEqual([1, 2, 5]);
  column.set(1, []);
  column.set(3, toTexts('b'));
  expect(find()).toEqual([2, 3, 5]);
});
