/** A public HAL client finds its way through orders by links alone, without building an address. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { bearerAuth, Client, type Resource } from 'ketting';
import { placeOrder } from '../../support/data/orders.ts';
import { addKey } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const scopes = ['orders:read', 'invoices:read'] as const;

/** The `method` of a link; ketting reads it as one of the link's attributes. */
interface Methodical {
  readonly method?: string;
}

describeOnDatabases('orders for a HAL client on %s', kind => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService(kind);
  });
  afterEach(() => service.stop());

  const clientOf = () => {
    const client = new Client(service.url);
    client.use(bearerAuth(service.tokens.user));
    return client;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what a resource holds is what the test asserts
  const dataOf = async (resource: Resource<any>) => (await resource.refresh()).data;

  test('links lead from an order to its customer, their orders and the items', async () => {
    const { order } = await placeOrder(service);
    await placeOrder(service, { quantity: 3 });
    const start = clientOf().go(order._links.self.href);
    const customer = await start.follow('customer');
    expect(await dataOf(customer)).toMatchObject({ id: order.customerId, name: 'Test user' });
    const list = await customer.follow('orders');
    expect(await dataOf(list)).toMatchObject({ meta: { currentPage: 1, total: 2 } });
    const orders = await list.followAll('orders');
    const found = await Promise.all(orders.map(dataOf));
    expect(found.map(({ id, total }) => [id, total])).toEqual([
      [order.id, 159],
      [order.id + 1, 238.5],
    ]);
    const [first] = orders;
    const items = await first?.follow('items').followAll('items');
    expect(items).toHaveLength(1);
    const [item] = items ?? [];
    expect(item === undefined ? undefined : await dataOf(item)).toEqual(order.items[0]);
  });

  test('every link of an order and of its embedded resources resolves', async () => {
    const { path } = await placeOrder(service);
    const { body } = await call(service, { path, as: 'user', headers: { Accept: 'application/hal+json' } });
    const embedded = [body._embedded.customer, ...body._embedded.item];
    const links = [body, ...embedded].flatMap(({ _links }) =>
      Object.values<{ href: string } & Methodical>(_links),
    );
    expect(links).toHaveLength(7);
    for (const { href } of links.filter(({ method }) => method === undefined)) {
      const response = await call(service, { path: new URL(href).pathname, as: 'user' });
      expect([href, response.status]).toEqual([href, 200]);
    }
  });

  test('the pay link works once, and is then absent', async () => {
    const { order } = await placeOrder(service);
    const resource = clientOf().go(order._links.self.href);
    const pay = (await resource.get()).links.get('pay');
    expect(pay?.href).toBe(order._links.pay.href);
    await (await resource.follow('pay')).post({ data: {} });
    const paid = await resource.refresh();
    expect(paid.data).toMatchObject({ status: 'PAID' });
    expect([paid.links.has('pay'), paid.links.has('cancel')]).toEqual([false, false]);
  });

  test('a paid order leads to its invoice, for callers who may read it', async () => {
    const { order } = await placeOrder(service);
    const resource = clientOf().go(order._links.self.href);
    expect((await resource.get()).links.has('invoices')).toBe(false);
    await (await resource.follow('pay')).post({ data: {} });
    await resource.refresh();
    const [invoice, ...others] = await resource.follow('invoices').followAll('invoices');
    expect(others).toEqual([]);
    expect(invoice === undefined ? undefined : await dataOf(invoice)).toMatchObject({ orderId: order.id });
    const path = new URL(order._links.self.href).pathname;
    const [without, withScope] = [await addKey(service, 'orders:read'), await addKey(service, ...scopes)];
    for (const [headers, isLinked] of [
      [without, false],
      [withScope, true],
    ] as const)
      expect('invoices' in (await call(service, { path, headers })).body._links).toBe(isLinked);
  });
});
