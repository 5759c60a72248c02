/** Invoices: payments issue them with gapless numbers, and only the users concerned can read them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventsOf } from '../../support/data/events.ts';
import { invoiced, pay, placeOrder } from '../../support/data/invoices.ts';
import { addKey, addPerson, removePerson } from '../../support/data/people.ts';
import { call, type Received } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const seller = { INVOICE_SELLER: 'Lamps & More Ltd | 1 Main Street | London' };

const numbersOf = async (service: TestService): Promise<string[]> => {
  const listed = await call(service, { path: '/v1/invoices?sort=number&perPage=100', as: 'admin' });
  return listed.body.data.map(({ number }: { number: string }) => number);
};
const firstNumbers = (count: number) =>
  Array.from({ length: count }, (_, index) => `INV-${String(index + 1).padStart(6, '0')}`);

describeOnDatabases('invoices on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind, seller);
  });
  afterAll(() => service.stop());

  test('an invoice outlives its customer, and then has no link to them', async () => {
    const product = { name: 'Lamp', price: 1 };
    const made = await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body: product });
    const person = await addPerson(service);
    const ids: number[] = [];
    for (const { path, headers } of [person, await addPerson(service)]) {
      const body = { items: [{ productId: made.body.id, quantity: 1 }] };
      const order = await call(service, { method: 'POST', path: `${path}/orders`, headers, body });
      await call(service, { method: 'POST', path: `/v1/orders/${order.body.id}/payment`, headers });
      const list = `/v1/invoices?orderId=${order.body.id}`;
      ids.push((await call(service, { path: list, headers })).body.data[0].id);
    }
    const halType = { Accept: 'application/hal+json' };
    /** Whether the invoice has the link: at its own address and in the list, each as JSON and as HAL. */
    const linked = async (id: number) => {
      const [path, list] = [`/v1/invoices/${id}`, '/v1/invoices?sort=id&order=desc'];
      const inList = (all: { id: number }[]) => all.find(one => one.id === id);
      const shown = [
        (await call(service, { path, as: 'admin' })).body,
        inList((await call(service, { path: list, as: 'admin' })).body.data),
        (await call(service, { path, as: 'admin', headers: halType })).body,
        inList((await call(service, { path: list, as: 'admin', headers: halType })).body._embedded.invoices),
      ];
      return shown.map(one => 'customer' in one._links);
    };
    const [id = 0, other = 0] = ids;
    service.clock.advance(2000);
    const before = await call(service, { path: `/v1/invoices/${id}`, as: 'admin' });
    expect(
      (await call(service, { path: new URL(before.body._links.customer.href).pathname, as: 'admin' })).status,
    ).toBe(200);
    await removePerson(service, person);
    expect([await linked(id), await linked(other)]).toEqual([Array(4).fill(false), Array(4).fill(true)]);
    const headers = { 'If-Modified-Since': before.headers.get('Last-Modified') ?? '' };
    const again = await call(service, { path: `/v1/invoices/${id}`, as: 'admin', headers });
    expect([again.status, again.body.customerId]).toEqual([200, person.id]);
  });

  test('paying an order issues its invoice, with the items as they were ordered, and writes an event', async () => {
    const orderId = await placeOrder(service, 'user', [
      { name: 'Lamp', price: 79.5, quantity: 2, sku: `S-${kind}` },
      { name: 'Bulb', price: 0.1, quantity: 3 },
    ]);
    const order = (await call(service, { path: `/v1/orders/${orderId}`, as: 'user' })).body;
    expect((await call(service, { path: `/v1/invoices?orderId=${orderId}`, as: 'user' })).body.data).toEqual(
      [],
    );
    const now = new Date(service.clock.now()).toISOString();
    await pay(service, orderId);
    const [product] = order.items;
    await call(service, { method: 'DELETE', path: `/v1/products/${product.productId}`, as: 'admin' });
    const listed = await call(service, { path: `/v1/invoices?orderId=${orderId}`, as: 'user' });
    const [invoice] = listed.body.data;
    expect(invoice).toEqual({
      id: expect.any(Number),
      number: expect.stringMatching(/^INV-\d{6}$/),
      status: 'issued',
      orderId,
      customerId: order.customerId,
      seller: { name: 'Lamps & More Ltd', address: ['1 Main Street', 'London'] },
      customer: { name: 'Test user', email: 'user@test.example' },
      currency: 'EUR',
      items: order.items,
      total: 159.3,
      version: 1,
      issuedAt: now,
      issueDate: now.slice(0, 10),
      sentAt: null,
      createdAt: now,
      updatedAt: now,
      _links: {
        self: { href: `${service.url}/v1/invoices/${invoice.id}` },
        order: { href: `${service.url}/v1/orders/${orderId}` },
        customer: { href: `${service.url}/v1/users/${order.customerId}` },
        send: { href: `${service.url}/v1/invoices/${invoice.id}/send`, method: 'POST' },
      },
    });
    service.clock.advance(1000);
    const read = await call(service, { path: `/v1/invoices/${invoice.id}`, as: 'user' });
    expect(read.body).toEqual(invoice);
    expect(read.headers.get('Last-Modified')).toBe(new Date(service.clock.now()).toUTCString());
    const { _links: _, ...members } = invoice;
    expect(await eventsOf(service, 'invoice', invoice.id)).toEqual([
      { type: 'invoice.issued', actor: `user:${order.customerId}`, before: null, after: members },
    ]);
  });

  test('as HAL, with its items embedded', async () => {
    const { _links, items, ...members } = await invoiced(service);
    const Accept = 'application/hal+json';
    const one = await call(service, { path: `/v1/invoices/${members.id}`, as: 'user', headers: { Accept } });
    expect(one.headers.get('Content-Type')).toBe(Accept);
    expect(one.body).toEqual({ ...members, _links, _embedded: { item: items } });
    const path = `/v1/invoices?orderId=${members.orderId}`;
    const all = await call(service, { path, as: 'user', headers: { Accept } });
    expect(all.body._embedded.invoices).toEqual([one.body]);
    expect(all.body._links.self).toEqual({ href: `${service.url}${path}` });
  });

  test('only the customer, staff and keys with the scope read an invoice', async () => {
    const own = await invoiced(service, 'user');
    const others = await invoiced(service, 'editor');
    const path = `/v1/invoices/${others.id}`;
    const reading = await addKey(service, 'invoices:read');
    const foreign = await addKey(service, 'products:read');
    await play(service, { name: 'another’s', path, as: 'user', status: 404, error: 'NOT_FOUND' });
    await play(service, {
      name: 'to send another’s',
      method: 'POST',
      path: `${path}/send`,
      as: 'user',
      status: 404,
      error: 'NOT_FOUND',
    });
    await play(service, { name: 'editor', path: `/v1/invoices/${own.id}`, as: 'editor', status: 200 });
    await play(service, { name: 'admin', path, as: 'admin', status: 200 });
    await play(service, {
      name: 'a key that may not',
      path,
      headers: foreign,
      status: 403,
      error: 'FORBIDDEN',
    });
    const shown = await play(service, { name: 'a key', path, headers: reading, status: 200 });
    expect(Object.keys(shown.body._links)).toEqual(['self']);
    await play(service, {
      name: 'a key that may not send',
      method: 'POST',
      path: `${path}/send`,
      headers: reading,
      status: 403,
    });
    const editor = await call(service, { path: `/v1/invoices/${own.id}`, as: 'editor' });
    expect(Object.keys(editor.body._links)).toEqual(['self', 'order', 'send']);

    const idsOf = async (as: 'user' | 'editor' | 'admin', query = '') => {
      const listed = await call(service, { path: `/v1/invoices?perPage=100${query}`, as });
      return listed.body.data.map(({ id }: { id: number }) => id) as number[];
    };
    expect(await idsOf('user')).toContain(own.id);
    expect(await idsOf('user')).not.toContain(others.id);
    expect(await idsOf('user', `&customerId=${others.customerId}`)).toEqual([]);
    expect(await idsOf('user', `&orderId=${others.orderId}`)).toEqual([]);
    expect(await idsOf('editor')).toEqual(expect.arrayContaining([own.id, others.id]));
    expect(await idsOf('admin', `&customerId=${others.customerId}&orderId=${others.orderId}`)).toEqual([
      others.id,
    ]);
  });

  test('pages of a sorted list return every invoice once', async () => {
    for (let count = 0; count < 3; count++) await invoiced(service);
    const all = await numbersOf(service);
    const walked: string[] = [];
    let path = '/v1/invoices?sort=number&order=desc&limit=2';
    while (path !== '') {
      const page = await call(service, { path, as: 'admin' });
      walked.push(...page.body.data.map(({ number }: { number: string }) => number));
      path = page.body.links.next?.slice(service.url.length) ?? '';
    }
    expect(walked).toEqual(all.toReversed());
    for (const query of ['customerId=0', 'orderId=x', 'sort=total', 'perPage=101'])
      await play(service, {
        name: query,
        path: `/v1/invoices?${query}`,
        as: 'admin',
        status: 400,
        error: 'VALIDATION_FAILED',
      });
  });
});

/** Repeats the request while the response is 503: on a very busy machine a request may wait for too long. */
async function once503IsOver(ask: () => Promise<Received>): Promise<Received> {
  const response = await ask();
  return response.status === 503 ? once503IsOver(ask) : response;
}

describeOnDatabases('invoice numbers on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('concurrent payments get consecutive numbers, each once', async () => {
    const before = (await numbersOf(service)).length;
    const orders: number[] = [];
    for (let count = 0; count < 20; count++) orders.push(await placeOrder(service));
    const replica = kind === 'postgresql' ? await service.replica() : service;
    // Each order is paid twice, but only one of the payments issues an invoice.
    const responses = await Promise.all(
      orders.flatMap(id => [service, replica].map(each => once503IsOver(() => pay(each, id)))),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(20).fill(409)]);
    expect(await numbersOf(service)).toEqual(firstNumbers(before + 20));
  });

  test('a payment that fails after its number was taken leaves no gap', async () => {
    const before = await numbersOf(service);
    const [broken, whole] = [await placeOrder(service), await placeOrder(service)];
    // This order already has an invoice, so its payment fails at the last step.
    const { database } = service;
    const values = { number: 1_000_000, order_id: broken, customer_id: 1, document: '{}', version: 1 };
    const row = { ...values, sent_at: null, created_at: 0, updated_at: 0 };
    await database.write(session => session.run(database.build.insertInto('invoices').values(row).compile()));
    // Not through `call`: the contract has no response for an order with an invoice but no payment.
    const failed = await fetch(`${service.url}/v1/orders/${broken}/payment`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.tokens.user}` },
    });
    expect(failed.status).toBe(409);
    await database.write(session =>
      session.run(database.build.deleteFrom('invoices').where('order_id', '=', broken).compile()),
    );
    expect((await call(service, { path: `/v1/orders/${broken}`, as: 'user' })).body.status).toBe('PENDING');
    await pay(service, whole);
    await pay(service, broken);
    expect(await numbersOf(service)).toEqual(firstNumbers(before.length + 2));
  });
});
