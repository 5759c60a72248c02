/** How orders change stock: they reserve, take and release exact numbers. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createReservationsCheck } from '../../../src/cli/check/stock.ts';
import { pathOf, read } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { act, placeOrder } from '../../support/data/orders.ts';
import { userIdOf } from '../../support/data/people.ts';
import { addStocked, adjust, order, ordered, shownOf } from '../../support/data/stock.ts';
import { call } from '../../support/http/http.ts';
import { fakeStripe, report } from '../../support/peers/stripe.ts';
import { unchanged } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('stock on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const patch = (product: { readonly id: number }, body: object) =>
    call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body });

  test('an order reserves stock, payment takes it, cancellation releases it; lists follow at once', async () => {
    const lamp = await addStocked(service, 5);
    const paid = await ordered(service, [lamp, 2]);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 5, reserved: 2, available: true });
    const cancelled = await ordered(service, [lamp, 3]);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 5, reserved: 5, available: false });
    expect((await act(service, paid, 'payment')).status).toBe(200);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 3, reserved: 3, available: false });
    expect((await act(service, cancelled, 'cancel')).status).toBe(200);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 3, reserved: 0, available: true });
    // Only once, however often it is requested.
    expect((await act(service, cancelled, 'cancel')).body.error).toBe('ORDER_ALREADY_CANCELLED');
    expect((await act(service, paid, 'payment')).body.error).toBe('ORDER_ALREADY_PAID');
    expect(await shownOf(service, lamp)).toEqual({ onHand: 3, reserved: 0, available: true });
  });

  test('a paid or cancelled order has nothing reserved, and an open order keeps its reservations', async () => {
    const lamp = await addStocked(service, 9);
    const { build, read } = service.database;
    const reservedBy = async ({ id }: { id: number }) => {
      const items = build.selectFrom('order_items').select('reserved').where('order_id', '=', id);
      return (await read.all(items.compile())).map(({ reserved }) => reserved);
    };
    const [open, paid, cancelled] = [
      await ordered(service, [lamp, 2], [await addStocked(service, 3), 1]),
      await ordered(service, [lamp, 3]),
      await ordered(service, [lamp, 4]),
    ];
    expect((await act(service, paid, 'payment')).status).toBe(200);
    expect((await act(service, cancelled, 'cancel')).status).toBe(200);
    expect([await reservedBy(open), await reservedBy(paid), await reservedBy(cancelled)]).toEqual([
      [2, 1],
      [0],
      [0],
    ]);
    // `catalog check` finds no wrong reservation.
    expect(await createReservationsCheck(service.database).find(read)).toEqual([]);
  });

  test('where more is reserved than is on hand, stock can be added but not removed', async () => {
    const lamp = await addStocked(service, 1, { backorder: true });
    await ordered(service, [lamp, 4]);
    expect((await patch(lamp, { stock: { tracked: true, onHand: 1, backorder: false } })).status).toBe(200);
    const adjusted = async (delta: number) =>
      (await adjust(service, [{ productId: lamp.id, delta, reason: 'count' }])).status;
    expect([await adjusted(1), await adjusted(-1), await adjusted(4)]).toEqual([200, 422, 200]);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 6, reserved: 4, available: true });
  });

  test('an order paid while stock is not tracked is not owed once it is tracked again', async () => {
    const lamp = await addStocked(service, 1, { backorder: true });
    const placed = await ordered(service, [lamp, 3]);
    expect((await patch(lamp, { stock: { tracked: false } })).status).toBe(200);
    expect((await act(service, placed, 'payment')).status).toBe(200);
    expect((await patch(lamp, { stock: { tracked: true } })).status).toBe(200);
    expect((await adjust(service, [{ productId: lamp.id, delta: 5, reason: 'count' }])).status).toBe(200);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 5, reserved: 0, available: true });
  });

  test('every change of stock is an event of the product, with its actor', async () => {
    const lamp = await addStocked(service, 2, {}, { category: 'Lamps > Desk', categories: ['Office'] });
    const userId = await userIdOf(service, 'user');
    await act(service, await ordered(service, [lamp, 1]), 'payment');
    const events = await eventsOf(service, 'product', lamp.id);
    const stocks = events.map(({ type, actor, after: document }) => [
      type,
      actor === `user:${userId}`,
      (document as { stock: { onHand: number; reserved: number } }).stock,
    ]);
    const stock = { tracked: true, onHand: 2, reserved: 0, backorder: false };
    expect(stocks).toEqual([
      ['product.created', false, stock],
      ['product.updated', true, { ...stock, reserved: 1 }],
      ['product.updated', true, { ...stock, onHand: 1 }],
    ]);
    expect(events.at(-1)?.after).toEqual((await read(service, lamp)).body);
  });

  test('items that are out of stock are refused line by line, and nothing of the order is reserved', async () => {
    const [many, few, none] = [
      await addStocked(service, 50),
      await addStocked(service, 1),
      await addStocked(service, 0),
    ];
    const check = await unchanged(service);
    const response = await order(service, [few, 2], [many, 50], [none, 1]);
    expect(response.status).toBe(409);
    expect(response.body.error).toBe('OUT_OF_STOCK');
    expect(response.body.details).toEqual([
      {
        field: 'items.0.quantity',
        pointer: '#/items/0/quantity',
        code: 'stock',
        message: `only 1 of product ${few.id} can be ordered, 2 were requested`,
      },
      {
        field: 'items.2.quantity',
        pointer: '#/items/2/quantity',
        code: 'stock',
        message: `only 0 of product ${none.id} can be ordered, 1 was requested`,
      },
    ]);
    await check();
  });

  test('untracked products are sold without being counted, and never returned to stock', async () => {
    const lamp = await addStocked(service, 1, { tracked: false });
    const before = await ordered(service, [lamp, 5]);
    const paidLater = await ordered(service, [lamp, 5]);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 1, reserved: 0, available: true });
    // Stock is counted from now on: earlier orders hold none of it.
    expect((await patch(lamp, { stock: { tracked: true, onHand: 4 } })).status).toBe(200);
    const held = await ordered(service, [lamp, 3]);
    await act(service, before, 'cancel');
    await act(service, paidLater, 'payment');
    expect(await shownOf(service, lamp)).toEqual({ onHand: 4, reserved: 3, available: true });
    await act(service, held, 'cancel');
    expect(await shownOf(service, lamp)).toEqual({ onHand: 4, reserved: 0, available: true });
    const plain = await placeOrder(service);
    expect((await act(service, plain, 'payment')).status).toBe(200);
    expect((await read(service, plain.product)).body.stock).toBeNull();
  });

  test('with backorder, more is sold than is on hand, and onHand never falls below 0', async () => {
    const lamp = await addStocked(service, 3, { backorder: true });
    const large = await ordered(service, [lamp, 5]);
    const small = await ordered(service, [lamp, 1]);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 3, reserved: 6, available: true });
    // Other members may still change, and backorder may end.
    expect((await patch(lamp, { name: 'Another lamp' })).status).toBe(200);
    const ended = await patch(lamp, { stock: { tracked: true, onHand: 3, backorder: false } });
    expect(ended.status === 200 ? 200 : ended.text).toBe(200);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 3, reserved: 6, available: false });
    expect((await order(service, [lamp, 1])).body.error).toBe('OUT_OF_STOCK');
    await act(service, large, 'payment');
    expect(await shownOf(service, lamp)).toEqual({ onHand: 0, reserved: 1, available: false });
    await act(service, small, 'cancel');
    expect(await shownOf(service, lamp)).toEqual({ onHand: 0, reserved: 0, available: false });
  });

  test('paid backorders are owed: deliveries go to them first, and setting onHand clears them', async () => {
    const lamp = await addStocked(service, 3, { backorder: true });
    const stock = async () => (await read(service, lamp)).body.stock;
    const counted = { tracked: true, onHand: 0, reserved: 0, backorder: true };
    await act(service, await ordered(service, [lamp, 5]), 'payment');
    expect(await stock()).toEqual({ ...counted, owed: 2 });
    await act(service, await ordered(service, [lamp, 4]), 'payment');
    expect(await stock()).toEqual({ ...counted, owed: 6 });
    // Only the service writes `owed`.
    for (const body of [
      { name: 'A lamp' },
      { stock: { owed: 1, backorder: true } },
      { stock: { onHand: 0 } },
    ])
      expect((await patch(lamp, body)).body.stock).toEqual({ ...counted, owed: 6 });
    const delivered = async (delta: number) =>
      (await adjust(service, [{ productId: lamp.id, delta, reason: 'delivery' }])).body.data[0].onHand;
    expect([await delivered(4), await stock()]).toEqual([0, { ...counted, owed: 2 }]);
    expect([await delivered(5), await stock()]).toEqual([3, { ...counted, onHand: 3 }]);
    await act(service, await ordered(service, [lamp, 8]), 'payment');
    expect(await stock()).toEqual({ ...counted, owed: 5 });
    expect((await patch(lamp, { stock: { onHand: 7 } })).body.stock).toEqual({ ...counted, onHand: 7 });
    expect((await patch(lamp, { stock: { onHand: 0 } })).body.stock).toEqual(counted);
  });

  test('clients can neither remove nor write reserved stock', async () => {
    const lamp = await addStocked(service, 5);
    await ordered(service, [lamp, 3]);
    const current = (await read(service, lamp)).body;
    const check = await unchanged(service);
    const tooFew = await patch(lamp, { stock: { onHand: 2 } });
    expect([tooFew.status >= 400 && tooFew.status < 500, tooFew.body.details[0].field]).toEqual([
      true,
      'stock.onHand',
    ]);
    const gone = await patch(lamp, { stock: null });
    expect([gone.status >= 400 && gone.status < 500, gone.body.details[0].field]).toEqual([true, 'stock']);
    await check();
    // Sending back what was shown changes nothing.
    const same = await patch(lamp, { stock: { ...current.stock, reserved: 3 } });
    expect(same.body.stock).toEqual(current.stock);
    expect((await patch(lamp, { stock: { onHand: 3 } })).body.stock.reserved).toBe(3);
  });

  test('a payment takes stock once, however often Stripe reports it', async () => {
    const stripe = fakeStripe();
    const paying = await startTestService(kind, stripe.settings);
    try {
      const lamp = await addStocked(paying, 5);
      const one = await ordered(paying, [lamp, 2]);
      const { reference } = (await act(paying, one, 'payment')).body.payment;
      expect(await shownOf(paying, lamp)).toEqual({ onHand: 5, reserved: 2, available: true });
      stripe.pay(reference);
      const reported = () => report(paying, stripe.intents.get(reference));
      await Promise.all([reported(), reported()]);
      expect((await reported()).status).toBe(200);
      expect(await shownOf(paying, lamp)).toEqual({ onHand: 3, reserved: 0, available: true });
    } finally {
      await paying.stop();
      await stripe.stop();
    }
  });

  test.each([
    ['application/json', { stock: { onHand: 7 } }],
    ['application/merge-patch+json', { stock: { onHand: 7 } }],
    ['application/json-patch+json', [{ op: 'replace', path: '/stock/onHand', value: 7 }]],
  ])('a PATCH as %s keeps the members of stock that it does not name', async (type, body) => {
    const lamp = await addStocked(service, 3, { backorder: true });
    await ordered(service, [lamp, 5]);
    const changed = await call(service, {
      method: 'PATCH',
      path: pathOf(lamp),
      as: 'editor',
      headers: { 'Content-Type': type },
      body: JSON.stringify(body),
    });
    const stock = { tracked: true, onHand: 7, reserved: 5, backorder: true };
    expect(changed.body.stock).toEqual(stock);
    const many = { ids: [lamp.id], update: { stock: { backorder: false } } };
    await call(service, { method: 'PATCH', path: '/v1/products', as: 'editor', body: many });
    expect((await read(service, lamp)).body.stock).toEqual({ ...stock, backorder: false });
  });

  test('cancelling and paying orders of archived and deleted products succeeds', async () => {
    const [archived, deleted, kept] = [
      await addStocked(service, 5),
      await addStocked(service, 5),
      await addStocked(service, 5),
    ];
    const both = await ordered(service, [deleted, 1], [archived, 2], [kept, 1]);
    const paid = await ordered(service, [deleted, 1], [archived, 1]);
    await patch(archived, { status: 'archived' });
    await call(service, { method: 'DELETE', path: pathOf(deleted), as: 'editor' });
    expect((await act(service, both, 'cancel')).status).toBe(200);
    expect((await act(service, paid, 'payment')).status).toBe(200);
    expect(await shownOf(service, archived)).toEqual({ onHand: 4, reserved: 0, available: false });
    expect(await shownOf(service, kept)).toEqual({ onHand: 5, reserved: 0, available: true });
    expect((await order(service, [archived, 1])).body.error).toBe('PRODUCT_UNAVAILABLE');
  });
});
