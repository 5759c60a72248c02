/** Placing and reading orders. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addProduct, nowOf, type Product, pathOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { act, lines } from '../../support/data/orders.ts';
import { userIdOf } from '../../support/data/people.ts';
import { call, type Received } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const item = { productId: 1, quantity: 1 };
const refused: [name: string, body: unknown, problems: [string, string][]][] = [
  ['nothing', {}, [['items', 'required']]],
  ['no items', { items: [] }, [['items', 'minItems']]],
  [
    '101 items',
    { items: Array.from({ length: 101 }, (_, index) => ({ ...item, productId: index + 1 })) },
    [['items', 'maxItems']],
  ],
  ['a product twice', { items: [item, { ...item, quantity: 2 }] }, [['items', 'uniqueItems']]],
  [
    'two broken items',
    { items: [{ productId: 0, quantity: 10_001 }, { productId: '1' }] },
    [
      ['items.0.productId', 'minimum'],
      ['items.0.quantity', 'maximum'],
      ['items.1.productId', 'type'],
      ['items.1.quantity', 'required'],
    ],
  ],
  ['half a piece', { items: [{ productId: 1, quantity: 1.5 }] }, [['items.0.quantity', 'type']]],
  ['quantity 0', { items: [{ productId: 1, quantity: 0 }] }, [['items.0.quantity', 'minimum']]],
];

describeOnDatabases('orders on %s', kind => {
  let service: TestService;
  let userId: number;
  let place: string;
  beforeAll(async () => {
    service = await startTestService(kind);
    userId = await userIdOf(service, 'user');
    place = `/v1/users/${userId}/orders`;
  });
  afterAll(() => service.stop());

  test.each(refused)('refuses %s', (name, body, problems) =>
    play(service, { name, method: 'POST', path: place, as: 'user', body, status: 400, problems }),
  );

  describe('after its products were changed and deleted', () => {
    let lamp: Product;
    let desk: Product;
    let placed: Received;
    let path: string;
    beforeAll(async () => {
      lamp = await addProduct(service, { name: 'Lamp', price: 0.1, sku: `L-${kind}` });
      desk = await addProduct(service, { name: 'Desk', price: 1.005 });
      const request = { name: 'place', method: 'POST', path: place, as: 'user', status: 201 } as const;
      placed = await play(service, { ...request, body: lines([desk.id, 3], [lamp.id, 10_000]) });
      path = `/v1/orders/${placed.body.id}`;
      const body = { name: 'Torch', price: 9 };
      const changed = await call(service, { method: 'PATCH', path: pathOf(lamp), as: 'editor', body });
      const deleted = await call(service, { method: 'DELETE', path: pathOf(desk), as: 'editor' });
      expect([changed.status, deleted.status]).toEqual([200, 204]);
    });

    test('an order keeps its products as they were, to the cent', async () => {
      const self = `${service.url}${path}`;
      const line = { id: expect.any(Number), variantId: null, options: null };
      const response = {
        id: placed.body.id,
        status: 'PENDING',
        total: 1003.02,
        currency: 'EUR',
        customerId: userId,
        items: [
          {
            ...line,
            productId: desk.id,
            name: 'Desk',
            sku: null,
            quantity: 3,
            unitPrice: 1.005,
            total: 3.02,
          },
          {
            ...{ ...line, productId: lamp.id, name: 'Lamp', sku: `L-${kind}` },
            ...{ quantity: 10_000, unitPrice: 0.1, total: 1000 },
          },
        ],
        version: 1,
        createdAt: nowOf(service),
        updatedAt: nowOf(service),
        paidAt: null,
        cancelledAt: null,
        _links: {
          self: { href: self },
          items: { href: `${self}/items` },
          customer: { href: `${service.url}/v1/users/${userId}` },
          cancel: { href: `${self}/cancel`, method: 'POST' },
          pay: { href: `${self}/payment`, method: 'POST' },
        },
      };
      expect(placed.body).toEqual(response);
      for (const address of [path, `${place}/${placed.body.id}`])
        await play(service, { name: address, path: address, as: 'user', status: 200, response: placed.body });
    });

    test('an order is found at its Location, with the same entity tag', async () => {
      expect(placed.headers.get('Location')).toBe(`${service.url}${path}`);
      const responseHeaders = {
        ETag: placed.headers.get('ETag'),
        'Cache-Control': 'private, max-age=0, must-revalidate',
      };
      expect(responseHeaders.ETag).not.toBeNull();
      for (const address of [path, `${place}/${placed.body.id}`])
        await play(service, { name: address, path: address, as: 'user', status: 200, responseHeaders });
    });

    test('placing an order writes one event, with the order as shown except for its links', async () => {
      const { _links, ...after } = placed.body;
      expect(await eventsOf(service, 'order', placed.body.id)).toEqual([
        { type: 'order.created', actor: `user:${userId}`, before: null, after },
      ]);
    });
  });

  test('archived and unknown products are refused line by line, and nothing is written', async () => {
    const good = await addProduct(service);
    const archived = await addProduct(service, { status: 'archived' });
    const { body } = await play(service, {
      name: 'unavailable',
      method: 'POST',
      path: place,
      as: 'user',
      body: lines([good.id, 1], [archived.id, 1], [2_147_483_647, 1]),
      status: 422,
      error: 'PRODUCT_UNAVAILABLE',
    });
    expect(body.details).toEqual([
      {
        field: 'items.1.productId',
        pointer: '#/items/1/productId',
        code: 'unavailable',
        message: `product ${archived.id} is archived`,
      },
      {
        field: 'items.2.productId',
        pointer: '#/items/2/productId',
        code: 'unavailable',
        message: 'product 2147483647 does not exist',
      },
    ]);
  });

  test('products of different currencies are refused; a product without a currency has the default', async () => {
    const yen = await addProduct(service, { currency: 'JPY', price: 99.5 });
    const euro = await addProduct(service);
    const none = await addProduct(service);
    await call(service, { method: 'PATCH', path: pathOf(none), as: 'editor', body: { currency: null } });
    const mixed = {
      name: 'mixed',
      method: 'POST',
      path: place,
      as: 'user',
      body: lines([none.id, 1], [yen.id, 1]),
    } as const;
    const { body } = await play(service, { ...mixed, status: 422, error: 'MIXED_CURRENCIES' });
    expect(body.details.map(({ message }: { message: string }) => message)).toEqual([
      'is priced in EUR',
      'is priced in JPY',
    ]);
    const same = await call(service, { ...mixed, body: lines([none.id, 1], [euro.id, 1]) });
    expect(same.body).toMatchObject({ currency: 'EUR', total: 25 });
    const whole = await call(service, { ...mixed, body: lines([yen.id, 3]) });
    expect(whole.body).toMatchObject({ currency: 'JPY', total: 299 });
  });

  test('a total that cannot be represented exactly is refused', async () => {
    const dear = await addProduct(service, { price: 90_071_992_547.4 });
    const dearest = await addProduct(service, { price: 1e308 });
    const body = lines([dear.id, 1000]);
    const largest = await call(service, { method: 'POST', path: place, as: 'user', body });
    expect([largest.status, largest.body.total]).toEqual([201, 90_071_992_547_400]);
    const beyond = {
      name: 'beyond',
      method: 'POST',
      path: place,
      as: 'user',
      status: 422,
      error: 'ORDER_TOO_LARGE',
    } as const;
    await play(service, { ...beyond, body: lines([dear.id, 1001]) });
    await play(service, { ...beyond, body: lines([dearest.id, 10_000]) });
  });

  test('an order takes the current price of a product, never half of a change', async () => {
    const products = [await addProduct(service, { price: 10 }), await addProduct(service, { price: 10 })];
    const ids = products.map(({ id }) => id);
    const place = `/v1/users/${userId}/orders`;
    const change = (price: number) =>
      call(service, { method: 'PATCH', path: '/v1/products', as: 'admin', body: { ids, update: { price } } });
    const order = () =>
      call(service, {
        method: 'POST',
        path: place,
        as: 'user',
        body: lines(...ids.map(id => [id, 1] as [number, number])),
      });
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => [change(index % 2 === 0 ? 20 : 10), order(), order()]).flat(),
    );
    const totals = responses.flatMap(({ status, body }) => (status === 201 ? [body.total] : []));
    expect(totals).toHaveLength(20);
    expect(totals.filter(total => total !== 20 && total !== 40)).toEqual([]);
  });

  test.each(['Key', 'token', 'Secret'])(
    'a variant whose option is called %s is ordered and paid',
    async name => {
      const options = [{ name, values: ['C', 'G'] }];
      const harmonica = await addProduct(service, { name: 'Harmonica', price: 30, options });
      const chosen = { [name]: 'C' };
      const variants = { method: 'POST', path: `${pathOf(harmonica)}/variants`, as: 'editor' } as const;
      const variant = await call(service, { ...variants, body: { options: chosen } });
      const items = [{ productId: harmonica.id, variantId: variant.body.id, quantity: 1 }];
      const made = await call(service, { method: 'POST', path: place, as: 'user', body: { items } });
      expect([made.status, made.body.items?.[0].options]).toEqual([201, chosen]);
      const paid = await act(service, { path: `/v1/orders/${made.body.id}` }, 'payment', 'admin');
      expect([paid.status, paid.body.status]).toEqual([200, 'PAID']);
      const ordered = { items: [{ options: chosen }] };
      const [placed, , ...others] = await eventsOf(service, 'order', made.body.id);
      expect(placed?.after).toMatchObject(ordered);
      expect(others).toEqual([]);
      const invoices = await call(service, { path: `/v1/invoices?orderId=${made.body.id}`, as: 'user' });
      const [issued] = await eventsOf(service, 'invoice', invoices.body.data[0].id);
      expect(issued?.after).toMatchObject(ordered);
    },
  );

  test('20 equal requests with one Idempotency-Key place one order', async () => {
    const product = await addProduct(service);
    const request = {
      method: 'POST',
      path: place,
      as: 'user',
      headers: { 'Idempotency-Key': `order-${kind}` },
      body: lines([product.id, 1]),
    } as const;
    const responses = await Promise.all(Array.from({ length: 20 }, () => call(service, request)));
    for (const { status, body } of responses.filter(({ status }) => status !== 201))
      expect([status, body.error]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
    const again = await call(service, request);
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([201, 'true']);
    const bodies = responses.filter(({ status }) => status === 201).map(({ text }) => text);
    expect(new Set([...bodies, again.text]).size).toBe(1);
    const { database } = service;
    const query = database.build.selectFrom('order_items').select('id').where('product_id', '=', product.id);
    expect(await database.read.all(query.compile())).toHaveLength(1);
  });
});
