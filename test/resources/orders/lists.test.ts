/** Which orders users see and place, and how orders are listed and shown as HAL. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { halType, lines, placeOrder, readOrder } from '../../support/data/orders.ts';
import { addKey, userIdOf } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

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

  describe('access', () => {
    const denied = (status: number) => ({ status, error: status === 403 ? 'FORBIDDEN' : 'NOT_FOUND' });

    test('only the customer, administrators and API keys place orders', async () => {
      const product = await addProduct(service);
      const body = lines([product.id, 1]);
      const adminId = await userIdOf(service, 'admin');
      const request = { name: 'place', method: 'POST', path: place, body } as const;
      await play(service, { ...request, as: 'editor', ...denied(403) });
      await play(service, { ...request, path: `/v1/users/${adminId}/orders`, as: 'user', ...denied(404) });
      await play(service, { ...request, path: '/v1/users/2147483647/orders', as: 'admin', ...denied(404) });
      await play(service, { ...request, as: 'admin', status: 201 });
      const writer = await addKey(service, 'orders:write');
      const placed = await play(service, { ...request, headers: writer, status: 201 });
      const reader = await addKey(service, 'orders:read');
      const read = await call(service, { path: `/v1/orders/${placed.body.id}`, headers: reader });
      expect(Object.keys(read.body._links)).toEqual(['self', 'items']);
      expect((await call(service, { ...request, headers: reader })).status).toBe(403);
    });

    test('staff and the customer read an order; for others it does not exist', async () => {
      const { path, order } = await placeOrder(service, { as: 'admin' });
      for (const address of [
        path,
        `${path}/items`,
        `/v1/users/${order.customerId}/orders/${order.id}`,
        `/v1/users/${order.customerId}/orders`,
      ]) {
        await play(service, { name: address, path: address, as: 'user', ...denied(404) });
        await play(service, { name: address, path: address, as: 'editor', status: 200 });
        await play(service, { name: address, path: address, as: 'admin', status: 200 });
      }
      await play(service, {
        name: 'another user’s',
        path: `${place}/${order.id}`,
        as: 'admin',
        ...denied(404),
      });
      await play(service, { name: 'all orders', path: '/v1/orders', as: 'user', ...denied(403) });
      const { body } = await readOrder(service, { path }, 'editor');
      expect([body._links.cancel, body._links.pay]).toEqual([undefined, undefined]);
    });
  });

  test('lists are filtered and sorted as requested', async () => {
    const own = [];
    for (const price of [30, 10, 20])
      own.push((await placeOrder(service, { as: 'editor', product: { price }, quantity: 1 })).order);
    const [first, second, third] = own;
    await call(service, { method: 'POST', path: `/v1/orders/${second.id}/cancel`, as: 'admin' });
    const ids = async (path: string, as: 'admin' | 'editor' = 'editor') =>
      ((await call(service, { path, as })).body.data as { id: number }[]).map(({ id }) => id);
    const editorId = first.customerId;
    for (const list of [`/v1/users/${editorId}/orders?`, `/v1/orders?customerId=${editorId}&`]) {
      expect(await ids(list)).toEqual([first.id, second.id, third.id]);
      expect(await ids(`${list}sort=total`)).toEqual([second.id, third.id, first.id]);
      expect(await ids(`${list}sort=createdAt&order=desc`)).toEqual([third.id, second.id, first.id]);
      expect(await ids(`${list}status=CANCELLED`)).toEqual([second.id]);
      expect(await ids(`${list}status=PENDING&sort=total`)).toEqual([third.id, first.id]);
      const page = await call(service, { path: `${list}sort=total&limit=2`, as: 'editor' });
      expect(await ids(`${list}sort=total&limit=2&cursor=${page.body.meta.nextCursor}`)).toEqual([first.id]);
    }
    const { body } = await call(service, {
      path: `/v1/orders?customerId=${editorId}&perPage=1`,
      as: 'admin',
    });
    expect(body.meta).toEqual({ currentPage: 1, perPage: 1, total: 3, lastPage: 3 });
    expect(body.data).toEqual([(await readOrder(service, { path: `/v1/orders/${first.id}` }, 'admin')).body]);
    for (const [query, field, rule] of [
      ['status=paid', 'status', 'enum'],
      ['customerId=0', 'customerId', 'minimum'],
      ['sort=price', 'sort', 'enum'],
    ] as const)
      await play(service, {
        name: query,
        path: `/v1/orders?${query}`,
        as: 'admin',
        status: 400,
        problems: [[field, rule]],
      });
  });

  test('the items of an order have their own list', async () => {
    const products = [await addProduct(service, { price: 1 }), await addProduct(service, { price: 2 })];
    const body = lines(...products.map(({ id }) => [id, 2] as [number, number]));
    const { body: order } = await call(service, { method: 'POST', path: place, as: 'user', body });
    const path = `/v1/orders/${order.id}/items`;
    const listed = await call(service, { path, as: 'user' });
    expect(listed.body.data).toEqual(order.items);
    expect(listed.body.meta).toEqual({ currentPage: 1, perPage: 20, total: 2, lastPage: 1 });
    const second = await call(service, { path: `${path}?perPage=1&page=2`, as: 'user' });
    expect(second.body.data).toEqual([order.items[1]]);
    const embedded = await call(service, {
      path: `${path}?perPage=1`,
      as: 'user',
      headers: { Accept: halType },
    });
    const self = { href: `${service.url}${path}/${order.items[0].id}` };
    expect(embedded.body._embedded).toEqual({ items: [{ ...order.items[0], _links: { self } }] });
    const single = `${path}/${order.items[0].id}`;
    await play(service, {
      name: 'one',
      path: single,
      as: 'user',
      status: 200,
      response: order.items[0],
    });
    const other = await placeOrder(service);
    const elsewhere = `${other.path}/items/${order.items[0].id}`;
    await play(service, {
      name: 'of another order',
      path: elsewhere,
      as: 'user',
      status: 404,
      error: 'NOT_FOUND',
    });
    expect(embedded.body._links.self).toEqual({ href: `${service.url}${path}?perPage=1` });
  });

  describe('as HAL', () => {
    const accept = { Accept: halType };

    test('the customer and the items are embedded', async () => {
      const { path, order } = await placeOrder(service);
      const { items, _links, ...members } = order;
      const shown = await call(service, { path, as: 'user', headers: accept });
      expect(shown.headers.get('Content-Type')).toBe(halType);
      expect(shown.body).toEqual({
        ...members,
        _links,
        _embedded: {
          customer: { id: order.customerId, name: 'Test user', _links: { self: _links.customer } },
          item: items.map((item: { id: number }) => ({
            ...item,
            _links: { self: { href: `${_links.items.href}/${item.id}` } },
          })),
        },
      });
    });

    test('a list embeds its orders, and its self link does not hold the key', async () => {
      const { path } = await placeOrder(service);
      const list = `${place}?sort=createdAt&order=desc&perPage=1`;
      const { body } = await call(service, { path: list, as: 'user', headers: accept });
      const single = await call(service, { path, as: 'user', headers: accept });
      const [last] = body._embedded.orders;
      expect(last).toEqual(single.body);
      expect(Object.keys(body).sort()).toEqual(['_embedded', '_links', 'meta']);
      const { 'X-API-Key': key } = await addKey(service, 'orders:read');
      const keyed = await call(service, { path: `/v1/orders?api_key=${key}&perPage=1`, headers: accept });
      expect(keyed.body._links.self).toEqual({ href: `${service.url}/v1/orders?perPage=1` });
      expect(keyed.text).not.toContain(key);
    });

    test('an order of a deleted customer has no links to them', async () => {
      const { database } = service;
      const gone = {
        name: 'Gone',
        email: `gone@${kind}.example`,
        email_key: `gone@${kind}.example`,
        password_hash: null,
        role: 'user',
        tags: '[]',
        version: 1,
        verified_at: null,
        created_at: 0,
        updated_at: 0,
      };
      const [user] = await database.write(session =>
        session.all(database.build.insertInto('users').values(gone).returning('id').compile()),
      );
      const product = await addProduct(service);
      const made = await call(service, {
        method: 'POST',
        path: `/v1/users/${user?.id}/orders`,
        as: 'admin',
        body: lines([product.id, 1]),
      });
      expect(made.status).toBe(201);
      await database.write(session =>
        session.run(
          database.build
            .deleteFrom('users')
            .where('id', '=', user?.id ?? 0)
            .compile(),
        ),
      );
      const { body } = await call(service, {
        path: `/v1/orders/${made.body.id}`,
        as: 'admin',
        headers: accept,
      });
      expect(Object.keys(body._links)).toEqual(['self', 'items', 'cancel', 'pay']);
      expect(Object.keys(body._embedded)).toEqual(['item']);
      expect(body.customerId).toBe(user?.id);
      await play(service, {
        name: 'list',
        path: `/v1/users/${user?.id}/orders`,
        as: 'admin',
        status: 404,
        error: 'NOT_FOUND',
      });
    });
  });

  test('an unchanged order is 304, except where the role’s links differ', async () => {
    const { path } = await placeOrder(service);
    const etag = (await readOrder(service, { path })).headers.get('ETag') ?? '';
    await writesNothing(service, async () => {
      const headers = { 'If-None-Match': etag };
      expect((await call(service, { path, as: 'user', headers })).status).toBe(304);
      expect((await call(service, { path, as: 'editor', headers })).status).toBe(200);
      expect(
        (await call(service, { path, as: 'user', headers: { ...headers, Accept: halType } })).status,
      ).toBe(200);
    });
  });
});
