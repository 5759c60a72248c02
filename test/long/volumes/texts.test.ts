/** Requests for products with as much text as one request may write, and more. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, read, updateMany } from '../../support/data/catalog.ts';
import { adjust, shownOf } from '../../support/data/stock.ts';
import { unchanged } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const upTo = (length: number) => Array.from({ length }, (_, index) => index + 1_000_000);

describeOnDatabases('bulk update on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const bulk = (name: string, ids: readonly number[], update: object, status = 200) =>
    updateMany(service, name, { ids, update, status });
  const idsOf = (products: readonly Product[]) => products.map(({ id }) => id);

  test('refuses products with more text than one request may write, and accepts as many as fit', async () => {
    const description = '-'.repeat(99_499);
    const products = await Promise.all(
      Array.from({ length: 62 }, (_, index) => addProduct(service, { name: `Long ${index}`, description })),
    );
    const ids = idsOf(products);
    const [first, last] = [products.at(0), products.at(-1)];
    if (first === undefined || last === undefined) throw new Error('there are none');
    const refusal = await bulk('too much text', ids, { price: 5 }, 400);
    expect(refusal.body).toMatchObject({
      error: 'VALIDATION_FAILED',
      details: [{ field: 'ids', pointer: '#/ids', code: 'maxText' }],
    });
    expect(refusal.body.message).toContain('6,000,000');
    expect((await read(service, first)).body).toEqual(first);
    expect((await read(service, last)).body).toEqual(last);
    expect((await bulk('fewer', ids.slice(0, 50), { price: 5 })).body).toEqual({ updated: 50 });
    // The text of the update also counts, once for each product.
    const short = await Promise.all(Array.from({ length: 61 }, () => addProduct(service)));
    await bulk('long for many', idsOf(short), { description }, 400);
    expect((await bulk('long', idsOf(short).slice(0, 50), { description })).body).toEqual({ updated: 50 });
    // Text that is added to what a product has counts; text that replaces it does not.
    const many = ids.slice(0, 50);
    const attributes = Object.fromEntries(upTo(30).map(key => [`key${key}`, 'x'.repeat(1000)]));
    await bulk('more for each', many, { attributes }, 400);
    expect((await bulk('another', many, { description: `${description} z` })).body).toEqual({ updated: 50 });
    expect((await bulk('none of them', upTo(500), { description })).body).toEqual({ updated: 0 });
  });
});

describeOnDatabases('stock adjustments on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('of products with more text than one request may write are refused; fewer products are adjusted', async () => {
    const description = '-'.repeat(99_499);
    const fields = { description, stock: { onHand: 1 } };
    const products = await Promise.all(
      Array.from({ length: 61 }, (_, index) => addProduct(service, { ...fields, name: `Long ${index}` })),
    );
    const lines = products.map(({ id }) => ({ productId: id, delta: 2, reason: 'count' }));
    const check = await unchanged(service);
    expect(await adjust(service, lines)).toMatchObject({
      status: 400,
      body: { details: [{ field: 'adjustments', pointer: '#/adjustments', code: 'maxText' }] },
    });
    await check();
    const fewer = [...lines.slice(0, 59), ...lines.slice(0, 59)];
    expect((await adjust(service, fewer)).status).toBe(200);
    const [first] = products;
    if (first === undefined) throw new Error('there are none');
    expect((await shownOf(service, first)).onHand).toBe(5);
  });
});
