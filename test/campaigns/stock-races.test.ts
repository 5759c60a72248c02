/** Many orders at once, over two replicas: exactly the available number is sold, at prices of one moment. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, pathOf } from '../support/data/catalog.ts';
import { act } from '../support/data/orders.ts';
import { addStocked, adjust, order, shownOf } from '../support/data/stock.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describeOnDatabases('contended stock on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('orders and concurrent changes of their products all succeed, and no change is lost', async () => {
    const replica = await service.replica();
    const products = [await addStocked(service, 1000), await addStocked(service, 1000)];
    const [lamp, desk] = products as [(typeof products)[0], (typeof products)[0]];
    const at = (number: number) => (number % 2 === 0 ? service : replica);
    const statuses = await Promise.all(
      Array.from({ length: 15 }, async (_, number) => [
        ...(await Promise.all([
          order(at(number), [desk, 2], [lamp, 1]),
          call(service, {
            method: 'PATCH',
            path: pathOf(number % 2 === 0 ? lamp : desk),
            as: 'editor',
            body: { description: `text ${number}` },
          }),
          call(at(number + 1), {
            method: 'PATCH',
            path: '/v1/products',
            as: 'editor',
            body: { ids: [desk.id, lamp.id], update: { brand: `brand ${number}` } },
          }),
        ])),
        await adjust(at(number), [
          { productId: desk.id, delta: 1, reason: 'delivery' },
          { productId: lamp.id, delta: 1, reason: 'delivery' },
        ]),
      ]),
    );
    const seen = new Set(statuses.flat().map(({ status, text }) => (status < 300 ? 'done' : text)));
    expect([...seen]).toEqual(['done']);
    expect(await shownOf(replica, lamp)).toEqual({ onHand: 1015, reserved: 15, available: true });
    expect(await shownOf(service, desk)).toEqual({ onHand: 1015, reserved: 30, available: true });
  });

  test.each([3, 9])(
    'orders of %d products, one of them in stock, never mix the prices of two bulk changes',
    async count => {
      const replica = await service.replica();
      const products = [await addStocked(service, 1000)];
      while (products.length < count) products.push(await addProduct(service, { price: 10 }));
      const ids = products.map(({ id }) => id);
      const at = (number: number) => (number % 2 === 0 ? service : replica);
      const mixed: unknown[] = [];
      for (let price = 11; price < 31; price++) {
        const change = { ids, update: { price } };
        const [changed, ...placed] = await Promise.all([
          call(at(price), { method: 'PATCH', path: '/v1/products', as: 'editor', body: change }),
          ...[0, 1, 2, 3].map(number =>
            order(at(number), ...products.map(product => [product, 1] as const).reverse()),
          ),
        ]);
        expect(changed.body).toEqual({ updated: count });
        for (const { status, body } of placed) {
          expect(status).toBe(201);
          const prices = new Set(body.items.map((item: { unitPrice: number }) => item.unitPrice));
          if (prices.size > 1) mixed.push([...prices]);
        }
      }
      expect(mixed).toEqual([]);
    },
  );

  test('two hundred concurrent buyers on two replicas get exactly the hundred pieces in stock', async () => {
    const replica = await service.replica();
    const [lamp, desk] = [await addStocked(service, 100), await addStocked(service, 1000)];
    // Some name the products in reverse order: locks taken in the order of the names would deadlock.
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, buyer) => {
        const lines = [[lamp, 1] as const, [desk, 2] as const];
        return order(buyer % 2 === 0 ? service : replica, ...(buyer % 3 === 0 ? lines.reverse() : lines));
      }),
    );
    const statuses = responses.map(({ status, body }) => body.error ?? status);
    expect([201, 'OUT_OF_STOCK'].map(one => statuses.filter(status => status === one).length)).toEqual([
      100, 100,
    ]);
    expect(await shownOf(replica, lamp)).toEqual({ onHand: 100, reserved: 100, available: false });
    expect(await shownOf(service, desk)).toEqual({ onHand: 1000, reserved: 200, available: true });
    const placed = responses
      .filter(({ status }) => status === 201)
      .map(({ body }) => ({ path: `/v1/orders/${body.id}` }));
    // Paid, cancelled, and both at once.
    await Promise.all(
      placed.flatMap((one, index) => [
        ...(index % 3 === 1 ? [] : [act(service, one, 'payment')]),
        ...(index % 3 === 0 ? [] : [act(replica, one, 'cancel')]),
      ]),
    );
    const ends = await Promise.all(placed.map(({ path }) => call(service, { path, as: 'user' })));
    const paid = ends.filter(({ body }) => body.status === 'PAID').length;
    expect(ends.every(({ body }) => body.status !== 'PENDING')).toBe(true);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 100 - paid, reserved: 0, available: paid < 100 });
    expect(await shownOf(replica, desk)).toEqual({ onHand: 1000 - 2 * paid, reserved: 0, available: true });
  });
});
