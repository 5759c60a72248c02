/** Orders of variants: which variant is meant, what the order keeps of it, and its stock. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf, read } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { act } from '../../support/data/orders.ts';
import { userIdOf } from '../../support/data/people.ts';
import { adjust } from '../../support/data/stock.ts';
import { call, type Received } from '../../support/http/http.ts';
import { readPdf } from '../../support/peers/pdf.ts';
import { unchanged } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

interface Shirt {
  readonly id: number;
  /** The ids of the variants by size. */
  readonly variants: Readonly<Record<'S' | 'M' | 'L', number>>;
}

describeOnDatabases('stock of variants on %s', kind => {
  let service: TestService;
  let place: string;
  let shirts = 0;
  beforeAll(async () => {
    service = await startTestService(kind);
    place = `/v1/users/${await userIdOf(service, 'user')}/orders`;
  });
  afterAll(() => service.stop());

  const post = async (path: string, body: object) => {
    const made = await call(service, { method: 'POST', path, as: 'admin', body });
    expect(made.status === 201 ? 201 : made.text).toBe(201);
    return made.body;
  };

  /** Adds a shirt in three sizes with this much stock each; L has a price of its own. */
  async function addShirt(onHand: number): Promise<Shirt> {
    const options = [{ name: 'Size', values: ['S', 'M', 'L'] }];
    const { id } = await addProduct(service, {
      name: 'Shirt',
      price: 20,
      sku: `SH-${kind}-${++shirts}`,
      options,
    });
    const variants: Record<string, number> = {};
    for (const [size, price] of [
      ['S', null],
      ['M', null],
      ['L', 25.5],
    ] as const) {
      const fields = {
        options: { Size: size },
        sku: `SH-${kind}-${shirts}-${size}`,
        price,
        stock: { onHand },
      };
      variants[size] = (await post(`/v1/products/${id}/variants`, fields)).id;
    }
    return { id, variants: variants as Shirt['variants'] };
  }
  const order = (...items: readonly object[]): Promise<Received> =>
    call(service, { method: 'POST', path: place, as: 'user', body: { items } });
  const ordered = async (...items: readonly object[]) => {
    const { status, body, text } = await order(...items);
    expect(status === 201 ? 201 : text).toBe(201);
    return { path: `/v1/orders/${body.id}`, body };
  };
  const of = ({ id, variants }: Shirt, size: keyof Shirt['variants'], quantity = 1) => ({
    productId: id,
    variantId: variants[size],
    quantity,
  });
  const stockOf = async ({ id, variants }: Shirt, size: keyof Shirt['variants']) => {
    const path = `/v1/products/${id}/variants/${variants[size]}`;
    const { body } = await call(service, { path, as: 'user' });
    return [body.stock.onHand, body.stock.reserved, body.available];
  };

  test('an order and its invoice keep the variant with its options, sku and price', async () => {
    const shirt = await addShirt(5);
    const placed = await ordered(of(shirt, 'M', 2), of(shirt, 'L'));
    const shown = (size: 'M' | 'L', quantity: number, unitPrice: number) => ({
      id: expect.any(Number),
      productId: shirt.id,
      variantId: shirt.variants[size],
      name: 'Shirt',
      sku: `SH-${kind}-${shirts}-${size}`,
      options: { Size: size },
      quantity,
      unitPrice,
      total: quantity * unitPrice,
    });
    const items = [shown('M', 2, 20), shown('L', 1, 25.5)];
    expect(placed.body.items).toEqual(items);
    expect(placed.body.total).toBe(65.5);
    const changed = { options: { Size: 'M' }, price: 99, stock: { onHand: 5 } };
    const path = `/v1/products/${shirt.id}/variants/${shirt.variants.M}`;
    const replaced = await call(service, { method: 'PUT', path, as: 'editor', body: changed });
    expect(replaced.status === 200 ? 200 : replaced.text).toBe(200);
    await act(service, placed, 'payment');
    expect((await call(service, { path: `${placed.path}/items`, as: 'user' })).body.data).toEqual(items);
    const invoices = await call(service, { path: `/v1/invoices?orderId=${placed.body.id}`, as: 'user' });
    expect(invoices.body.data[0].items).toEqual(items);
    const pdf = await fetch(`${service.url}/v1/invoices/${invoices.body.data[0].id}`, {
      headers: { Accept: 'application/pdf', Authorization: `Bearer ${service.tokens.user}` },
    });
    const texts = (await readPdf(await pdf.bytes())).pages.flat().map(({ text }) => text);
    for (const text of ['Size: M', 'Size: L', `SH-${kind}-${shirts}-M`]) expect(texts).toContain(text);
  });

  test('an order line must name a variant, and one of the product', async () => {
    const [shirt, other] = [await addShirt(5), await addShirt(5)];
    const plain = await addProduct(service);
    const gone = await addShirt(5);
    await call(service, {
      method: 'DELETE',
      path: `/v1/products/${gone.id}/variants/${gone.variants.S}`,
      as: 'editor',
    });
    const check = await unchanged(service);
    const response = await order(
      of(shirt, 'S'),
      { productId: shirt.id, quantity: 1 },
      { productId: shirt.id, variantId: other.variants.M, quantity: 1 },
      { productId: plain.id, variantId: shirt.variants.S, quantity: 1 },
      of(gone, 'S'),
      { productId: 2_000_000_000, variantId: 2_000_000_000, quantity: 1 },
    );
    expect([response.status, response.body.error]).toEqual([422, 'PRODUCT_UNAVAILABLE']);
    expect(response.body.details.map(({ field, code }: Record<string, string>) => [field, code])).toEqual([
      ['items.1.variantId', 'required'],
      ['items.2.variantId', 'unknown'],
      ['items.3.variantId', 'unknown'],
      ['items.4.variantId', 'unknown'],
      ['items.5.productId', 'unavailable'],
    ]);
    const twice = await order(of(shirt, 'S'), of(shirt, 'M'), of(shirt, 'S', 2));
    expect([twice.status, twice.body.details[0].code]).toEqual([400, 'uniqueItems']);
    await check();
  });

  test('each variant is counted separately, and the product is available while any variant is', async () => {
    const shirt = await addShirt(2);
    const isAvailable = async () => {
      const { body } = await read(service, shirt);
      const list = await call(service, {
        path: `/v1/products?available=${body.available}&sort=id&order=desc&perPage=100`,
        as: 'user',
      });
      expect(list.body.data.find(({ id }: { id: number }) => id === shirt.id)).toEqual(body);
      return body.available;
    };
    const paid = await ordered(of(shirt, 'S', 2), of(shirt, 'M', 1));
    const rest = await ordered(of(shirt, 'M', 1));
    expect(await stockOf(shirt, 'S')).toEqual([2, 2, false]);
    expect(await stockOf(shirt, 'M')).toEqual([2, 2, false]);
    expect(await isAvailable()).toBe(true);
    const last = await ordered(of(shirt, 'L', 2));
    expect(await isAvailable()).toBe(false);
    const refused = await order(of(shirt, 'S'), of(shirt, 'M'));
    expect([refused.status, refused.body.error]).toEqual([409, 'OUT_OF_STOCK']);
    expect(refused.body.details.map(({ field }: Record<string, string>) => field)).toEqual([
      'items.0.quantity',
      'items.1.quantity',
    ]);
    await act(service, paid, 'payment');
    await act(service, rest, 'cancel');
    expect(await stockOf(shirt, 'S')).toEqual([0, 0, false]);
    expect(await stockOf(shirt, 'M')).toEqual([1, 0, true]);
    expect(await isAvailable()).toBe(true);
    await act(service, last, 'cancel');
    expect(await stockOf(shirt, 'L')).toEqual([2, 0, true]);
    const told = (await eventsOf(service, 'variant', shirt.variants.L)).map(({ type }) => type);
    expect(told).toEqual(['variant.created', 'variant.updated', 'variant.updated']);
  });

  test('a variant without a price costs the product’s own, whatever a cheaper one makes it show', async () => {
    const options = [{ name: 'Size', values: ['S', 'M', 'L'] }];
    const shirt = await addProduct(service, { name: 'Shirt', price: 20, options });
    const add = (size: string, fields: object) =>
      post(`/v1/products/${shirt.id}/variants`, { options: { Size: size }, ...fields });
    const counted = await add('S', { stock: { onHand: 5 } });
    // Also of a product with a single variant, only variants have stock.
    const refused = await adjust(service, [{ productId: shirt.id, delta: 1, reason: 'found' }]);
    expect([refused.status, refused.body.details[0].code]).toEqual([422, 'variants']);
    const uncounted = await add('M', {});
    await add('L', { price: 5 });
    expect((await read(service, shirt)).body.price).toBe(5);
    for (const { id } of [counted, uncounted]) {
      const { body } = await ordered({ productId: shirt.id, variantId: id, quantity: 1 });
      expect(body.items).toMatchObject([{ variantId: id, unitPrice: 20 }]);
    }
  });

  test('cancelling and paying orders of deleted variants succeeds', async () => {
    const shirt = await addShirt(5);
    const placed = await ordered(of(shirt, 'S', 2), of(shirt, 'M', 2));
    await call(service, {
      method: 'DELETE',
      path: `/v1/products/${shirt.id}/variants/${shirt.variants.S}`,
      as: 'editor',
    });
    const whole = await ordered(of(shirt, 'L', 1));
    expect((await act(service, placed, 'cancel')).status).toBe(200);
    expect(await stockOf(shirt, 'M')).toEqual([5, 0, true]);
    await call(service, { method: 'DELETE', path: pathOf(shirt), as: 'editor' });
    expect((await act(service, whole, 'payment')).status).toBe(200);
  });

  test('adjustments name variants by id or sku, and are listed with them', async () => {
    const [shirt, other] = [await addShirt(1), await addShirt(1)];
    const sku = `SH-${kind}-${shirts - 1}-M`;
    const reason = 'delivery';
    const response = await adjust(service, [
      { variantId: shirt.variants.S, delta: 4, reason },
      { sku, delta: 2, reason },
      { productId: shirt.id, variantId: shirt.variants.S, delta: -1, reason },
    ]);
    expect(response.status === 200 ? 200 : response.text).toBe(200);
    const lines = response.body.data as {
      productId: number;
      variantId: number;
      onHand: number;
      sku: string;
    }[];
    expect(lines.map(line => [line.productId, line.variantId, line.onHand])).toEqual([
      [shirt.id, shirt.variants.S, 5],
      [shirt.id, shirt.variants.M, 3],
      [shirt.id, shirt.variants.S, 4],
    ]);
    expect(lines[1]?.sku).toBe(sku);
    const list = async (query: string) =>
      (await call(service, { path: `/v1/stock/adjustments?${query}`, as: 'editor' })).body.data.length;
    expect(await list(`productId=${shirt.id}`)).toBe(3);
    expect(await list(`variantId=${shirt.variants.S}`)).toBe(2);
    const check = await unchanged(service);
    const refused = await adjust(service, [
      { productId: shirt.id, delta: 1, reason },
      { sku: `SH-${kind}-${shirts}`, delta: 1, reason },
      { productId: shirt.id, variantId: other.variants.S, delta: 1, reason },
      { variantId: 2_000_000_000, delta: 1, reason },
      { variantId: other.variants.S, delta: -2, reason },
    ]);
    expect(refused.status).toBe(422);
    expect(refused.body.details.map(({ field, code }: Record<string, string>) => [field, code])).toEqual([
      ['adjustments.0.productId', 'variants'],
      ['adjustments.1.sku', 'variants'],
      ['adjustments.2.variantId', 'unknown'],
      ['adjustments.3.variantId', 'unknown'],
      ['adjustments.4.delta', 'minimum'],
    ]);
    await check();
  });

  test('sixty concurrent buyers on two replicas get exactly the thirty pieces of a variant', async () => {
    const replica = await service.replica();
    const shirt = await addShirt(30);
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, buyer) => {
        const items = [of(shirt, 'S'), of(shirt, buyer % 2 === 0 ? 'M' : 'L')];
        const body = { items: buyer % 3 === 0 ? items.reverse() : items };
        return call(buyer % 2 === 0 ? service : replica, { method: 'POST', path: place, as: 'user', body });
      }),
    );
    const statuses = responses.map(({ status, body }) => body.error ?? status);
    expect([201, 'OUT_OF_STOCK'].map(one => statuses.filter(status => status === one).length)).toEqual([
      30, 30,
    ]);
    expect(await stockOf(shirt, 'S')).toEqual([30, 30, false]);
    const [m, l] = [await stockOf(shirt, 'M'), await stockOf(shirt, 'L')];
    expect(Number(m[1]) + Number(l[1])).toBe(30);
  });
});
