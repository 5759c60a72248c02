/** A single row that was read may be newer than the last check: data that shows the checked state must not use it. */
import { expect, test } from 'bun:test';
import { createCommandOutbox } from '../../src/events/outbox.ts';
import { products } from '../../src/resources/products/row.ts';
import { createProductStore } from '../../src/resources/products/store.ts';
import { variants } from '../../src/resources/variants/row.ts';
import { createVariantStore } from '../../src/resources/variants/store.ts';
import type { Collection } from '../../src/storage/changes/change.ts';
import type { CachedRows } from '../../src/storage/changes/rows.ts';
import { createFacetCounter } from '../../src/storage/columns/facet-counter.ts';
import { createColumns } from '../../src/storage/columns/index.ts';
import type { Database, Session } from '../../src/storage/database.ts';
import { addProduct, pathOf } from '../support/data/catalog.ts';
import { variantCalls } from '../support/data/variants.ts';
import { call } from '../support/http/http.ts';
import { importProducts } from '../support/samples/imported.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

interface Reading {
  readonly collection: Collection;
  readonly rows: Pick<CachedRows<{ readonly id: number }>, 'get' | 'getAt' | 'keep' | 'read'>;
}

function readProducts(database: Database): Reading {
  return { collection: products, rows: createProductStore(database, createCommandOutbox(database)).rows };
}
function readVariants(database: Database): Reading {
  const outbox = createCommandOutbox(database);
  const { rows } = createVariantStore(database, outbox, createProductStore(database, outbox));
  return { collection: variants, rows };
}

describeOnDatabases('rows on %s', kind => {
  test.each([
    ['products', readProducts, { name: 'Other' }],
    ['variants', readVariants, { sku: 'OTHER' }],
  ])('of %s that are newer than the last check do not belong to its state', async (name, create, body) => {
    await using service = await startTestService(kind);
    const { pathsOf, shirt, add } = variantCalls(() => service);
    const product = await shirt();
    const variant = await add(product, { options: { Size: 'S', Colour: 'Red' }, price: 1000 });
    const [id, path] =
      name === 'products' ? [product.id, pathOf(product)] : [variant.id, `${pathsOf(product)}/${variant.id}`];
    const { database } = await service.replica();
    const { changes } = database;
    const { collection, rows } = create(database);
    await changes.check();
    const seen = changes.version(collection) ?? Number.NaN;
    await rows.read(id);
    expect(rows.getAt(seen, id)?.id).toBe(id);

    expect((await call(service, { method: 'PATCH', path, as: 'admin', body })).status).toBe(200);
    await rows.read(id);
    expect(changes.version(collection)).toBe(seen);
    expect([rows.get(id)?.row.id, rows.getAt(seen, id)]).toEqual([id, undefined]);
    await changes.check();
    expect(rows.getAt(changes.version(collection) ?? Number.NaN, id)?.id).toBe(id);
  });

  const many = Array.from({ length: 513 }, () => ({ name: 'Lamp', price: 1 }));
  test.each([
    { of: 'products', create: readProducts, body: { name: 'Other' } },
    { of: 'variants', create: readVariants, body: { sku: 'Other' } },
    // A check then reads only ids.
    { of: 'products among very many', create: readProducts, body: { name: 'Other' }, others: many },
    // Its products have no events.
    { of: 'products of a category', create: readProducts, body: { name: 'Other' }, isOfCategory: true },
  ])('of $of that change while they are read are not cached as they were', async given => {
    const { of, create, body, others, isOfCategory } = given;
    await using service = await startTestService(kind);
    const { pathsOf, shirt, add } = variantCalls(() => service);
    const product = await shirt();
    const patch = (path: string, change: object) =>
      call(service, { method: 'PATCH', path, as: 'admin', body: change });
    await patch(pathOf(product), { category: 'first' });
    const variant = await add(product, { options: { Size: 'S', Colour: 'Red' }, price: 1000 });
    const [id, own] =
      of === 'variants' ? [variant.id, `${pathsOf(product)}/${variant.id}`] : [product.id, pathOf(product)];
    const { body: found } = await call(service, { path: '/v1/categories?path=first', as: 'admin' });
    const path = isOfCategory === true ? `/v1/categories/${found.data[0].id}` : own;
    const { database } = await service.replica();
    let isRead = false;
    const changeAfter = async <Read>(found: Read): Promise<Read> => {
      if (isRead) return found;
      isRead = true;
      expect((await patch(path, body)).status).toBe(200);
      if (others !== undefined) await importProducts(service, others);
      await database.changes.check();
      return found;
    };
    const read: Session = {
      ...database.read,
      first: async query => changeAfter(await database.read.first(query)),
      all: async query => changeAfter(await database.read.all(query)),
    };
    const { collection, rows } = create({ ...database, read });
    await database.changes.check();
    const seen = database.changes.version(collection) ?? Number.NaN;
    const old = (await rows.read(id))?.row;
    expect(JSON.stringify(old)).not.toContain('Other');
    // As a list does that was read before the change.
    if (old !== undefined) rows.keep(seen, old);
    expect(JSON.stringify((rows.get(id) ?? (await rows.read(id)))?.row)).toContain('Other');
  });

  const priced = { column: 'price', operator: '>=', value: 0 } as const;
  test.each([
    { list: 'all, first page', conditions: [], page: 1, isKnown: false, added: 1 },
    { list: 'all, deep page', conditions: [], page: 2, isKnown: false, added: 1 },
    { list: 'some, first page', conditions: [priced], page: 1, isKnown: false, added: 1 },
    { list: 'all, first page, with a known total', conditions: [], page: 1, isKnown: true, added: 1 },
    { list: 'all, last page, with a known total', conditions: [], page: 3, isKnown: true, added: 1 },
    // After this many, a check drops all totals.
    { list: 'all, first page, with a dropped total', conditions: [], page: 1, isKnown: true, added: 513 },
  ] as const)(
    'of a page ($list) agree with its total, and are counted once by the next check',
    async given => {
      const { conditions, page, isKnown, added } = given;
      await using service = await startTestService(kind);
      for (let count = 0; count < 4; count++) await addProduct(service);
      const { database } = await service.replica();
      const { changes } = database;
      let meanwhile = async () => undefined as unknown;
      const runOnce = async () => {
        const run = meanwhile;
        meanwhile = async () => undefined;
        await run();
      };
      const gated: Database = {
        ...database,
        read: {
          ...database.read,
          async all(query) {
            if (query.sql.includes('sort_value')) await runOnce();
            return database.read.all(query);
          },
        },
        async snapshot(work, options) {
          await runOnce();
          return database.snapshot(work, options);
        },
      };
      const { list } = createProductStore(gated, createCommandOutbox(gated));
      const read = async (number: number) => {
        await changes.check();
        // Not an order that is held in memory.
        const order = { column: 'name', descending: false };
        const found = await list({ conditions, order, page: { kind: 'offset', page: number, perPage: 2 } });
        return [found.total, found.rows.length];
      };
      if (isKnown) expect(await read(1)).toEqual([4, 2]);
      meanwhile = async () => {
        if (added === 1) return addProduct(service);
        await importProducts(
          service,
          Array.from({ length: added }, () => ({ name: 'Lamp', price: 1 })),
        );
        return changes.check();
      };
      expect(await read(page)).toEqual([4 + added, page === 3 ? 1 : 2]);
      expect(await read(1)).toEqual([4 + added, 2]);
      expect(await read(3)).toEqual([4 + added, added === 1 ? 1 : 2]);
    },
  );

  test('found by a query that is newer than the columns in memory are not counted from these', async () => {
    await using service = await startTestService(kind);
    await addProduct(service, { name: 'Chair', brand: 'A' });
    const { database } = await service.replica();
    let isAdded = false;
    const read: Session = {
      ...database.read,
      async first(query) {
        if (!isAdded) await addProduct(service, { name: 'Lamp', brand: 'B' });
        isAdded = true;
        return database.read.first(query);
      },
    };
    const counter = createFacetCounter({ ...database, read }, createColumns(database, products));
    const conditions = [{ column: 'name', operator: '=', value: 'Lamp' }] as const;
    const { values } = await counter.count({ facets: ['brand'], conditions });
    expect([values.brand?.values, isAdded]).toEqual([[{ value: 'B', count: 1 }], true]);
  });
});
