/** A single row that was read may be newer than the last check: data that shows the checked state must not use it. */
import { expect, test } from 'bun:test';
import { createCommandOutbox } from '../../src/events/outbox.ts';
import { products } from '../../src/resources/products/row.ts';
import { createProductStore } from '../../src/resources/products/store.ts';
import { variants } from '../../src/resources/variants/row.ts';
import { createVariantStore } from '../../src/resources/variants/store.ts';
import type { Collection } from '../../src/storage/changes/change.ts';
import type { CachedRows } from '../../src/storage/changes/rows.ts';
import type { Database } from '../../src/storage/database.ts';
import { pathOf } from '../support/data/catalog.ts';
import { variantCalls } from '../support/data/variants.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

interface Reading {
  readonly collection: Collection;
  readonly rows: Pick<CachedRows<{ readonly id: number }>, 'get' | 'getAt' | 'read'>;
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
});
