/** Cancelling and paying orders by hand: states, preconditions, and which of two requests wins. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Role } from '../../../src/http/access.ts';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { act, halType, placeOrder, readOrder } from '../../support/data/orders.ts';
import { call } from '../../support/http/http.ts';
import { send } from '../../support/http/raw.ts';
import { play } from '../../support/http/scenario.ts';
import { writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const actions = ['cancel', 'payment'] as const;

describeOnDatabases('actions on orders on %s', kind => {
  let service: TestService;
  let replica: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    replica = await service.replica();
  });
  afterAll(() => service.stop());

  test('a payment is recorded, and the order is PAID at once', async () => {
    const placed = await placeOrder(service);
    service.clock.advance(60_000);
    const paid = await act(service, placed, 'payment');
    const { cancel: _, pay: __, ...links } = placed.order._links;
    const invoices = { href: `${service.url}/v1/invoices?orderId=${placed.order.id}` };
    const _links = { ...links, invoices };
    const order = {
      ...placed.order,
      status: 'PAID',
      version: 2,
      updatedAt: nowOf(service),
      paidAt: nowOf(service),
      _links,
    };
    const payment = { provider: 'manual', status: 'succeeded', reference: null, clientSecret: null };
    expect([paid.status, paid.body]).toEqual([200, { ...order, payment }]);
    expect(paid.headers.get('Cache-Control')).toBe('no-store');
    expect((await readOrder(service, placed)).body).toEqual(order);
    const [, event] = await eventsOf(service, 'order', placed.order.id);
    const { _links: __links, ...before } = placed.order;
    const { _links: ___links, ...after } = order;
    expect(event).toEqual({
      type: 'order.paid',
      actor: `user:${placed.customerId}`,
      before,
      after,
    });
  });

  test.each(actions)(
    '%s: refused when the order has changed since the date of If-Unmodified-Since',
    async action => {
      const placed = await placeOrder(service);
      const shown = Date.parse(placed.order.updatedAt);
      const since = (moment: number) => ({ 'If-Unmodified-Since': new Date(moment).toUTCString() });
      await writesNothing(service, async () => {
        const refused = await act(service, placed, action, 'user', since(shown - 1000));
        expect([refused.status, refused.body.error]).toEqual([412, 'PRECONDITION_FAILED']);
      });
      expect((await act(service, placed, action, 'user', since(shown + 1000))).status).toBe(200);
    },
  );

  test('a cancelled order stays as it was, without links to change it', async () => {
    const placed = await placeOrder(service);
    service.clock.advance(60_000);
    const cancelled = await act(service, placed, 'cancel');
    const { cancel: _, pay: __, ..._links } = placed.order._links;
    expect([cancelled.status, cancelled.body]).toEqual([
      200,
      {
        ...placed.order,
        status: 'CANCELLED',
        version: 2,
        updatedAt: nowOf(service),
        cancelledAt: nowOf(service),
        _links,
      },
    ]);
    const read = await readOrder(service, placed);
    expect(read.body).toEqual(cancelled.body);
    expect(cancelled.headers.get('ETag')).toBe(read.headers.get('ETag'));
    expect((await eventsOf(service, 'order', placed.order.id)).map(({ type }) => type)).toEqual([
      'order.created',
      'order.cancelled',
    ]);
  });

  test.each([
    ['payment', 'cancel', 'ORDER_ALREADY_PAID'],
    ['payment', 'payment', 'ORDER_ALREADY_PAID'],
    ['cancel', 'cancel', 'ORDER_ALREADY_CANCELLED'],
    ['cancel', 'payment', 'ORDER_ALREADY_CANCELLED'],
  ] as const)('after %s, %s is refused', async (first, second, error) => {
    const placed = await placeOrder(service);
    await act(service, placed, first);
    const path = `${placed.path}/${second}`;
    await play(service, { name: second, method: 'POST', path, as: 'user', status: 409, error });
  });

  test.each(actions)(
    '%s: allowed to the customer and administrators; 403 for editors, 404 for others',
    async action => {
      const placed = await placeOrder(service);
      const scenario = { name: action, method: 'POST', path: `${placed.path}/${action}` } as const;
      await play(service, { ...scenario, as: 'editor', status: 403, error: 'FORBIDDEN' });
      const others = await placeOrder(service, { as: 'admin' });
      const path = `${others.path}/${action}`;
      await play(service, { ...scenario, path, as: 'user', status: 404, error: 'NOT_FOUND' });
      await play(service, { ...scenario, as: 'admin', status: 200 });
    },
  );

  test.each(actions)('%s: If-Match accepts the ETag of GET, in either media type', async action => {
    for (const type of ['application/json', halType]) {
      const placed = await placeOrder(service);
      const get = () => call(service, { path: placed.path, as: 'user', headers: { Accept: type } });
      const etag = (await get()).headers.get('ETag') ?? '';
      const other = await placeOrder(service);
      const stale = (await readOrder(service, other)).headers.get('ETag') ?? '';
      const scenario = {
        name: action,
        method: 'POST',
        path: `${placed.path}/${action}`,
        as: 'user',
      } as const;
      await play(service, {
        ...scenario,
        headers: { Accept: type, 'If-Match': stale },
        status: 412,
        error: 'PRECONDITION_FAILED',
      });
      const done = await play(service, {
        ...scenario,
        headers: { Accept: type, 'If-Match': etag },
        status: 200,
      });
      const { payment: _, ...representation } = done.body;
      expect(representation).toEqual((await get()).body);
    }
  });

  test('one of 20 concurrent payments in two processes succeeds', async () => {
    const placed = await placeOrder(service);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => act(index % 2 === 0 ? service : replica, placed, 'payment')),
    );
    const outcomes = responses.map(({ status, body }) => (status === 200 ? body.status : body.error));
    expect(outcomes.filter(outcome => outcome === 'PAID')).toHaveLength(1);
    expect(outcomes.filter(outcome => outcome === 'ORDER_ALREADY_PAID')).toHaveLength(19);
    const { body } = await readOrder(service, placed);
    expect([body.status, body.version]).toEqual(['PAID', 2]);
    expect((await eventsOf(service, 'order', placed.order.id)).map(({ type }) => type)).toEqual([
      'order.created',
      'order.paid',
    ]);
  });

  test('of a concurrent payment and cancellation one wins, and the other’s error names the winner', async () => {
    for (let round = 0; round < 5; round++) {
      const placed = await placeOrder(service);
      const responses = await Promise.all(
        actions.flatMap(action => [act(service, placed, action), act(replica, placed, action)]),
      );
      const { body } = await readOrder(service, placed);
      expect(body.version).toBe(2);
      const expected = body.status === 'PAID' ? 'ORDER_ALREADY_PAID' : 'ORDER_ALREADY_CANCELLED';
      const outcomes = responses.map(response =>
        response.status === 200 ? response.body.status : response.body.error,
      );
      expect(outcomes.sort()).toEqual([body.status, expected, expected, expected].sort());
    }
  });

  test('a repeated payment with its Idempotency-Key gets the first response', async () => {
    const placed = await placeOrder(service);
    const headers = { 'Idempotency-Key': `pay-${placed.order.id}` };
    const first = await act(service, placed, 'payment', 'user', headers);
    const again = await act(replica, placed, 'payment', 'user', headers);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    const cancelled = await act(service, placed, 'cancel', 'user', headers);
    expect([cancelled.status, cancelled.body.error]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('where staff record payments, customers have no such link and no such right', async () => {
    await using staffed = await service.replica({ PAYMENT_BY_HAND: 'staff' });
    const placed = await placeOrder(staffed);
    const linksFor = async (as: Role) => Object.keys((await readOrder(staffed, placed, as)).body._links);
    expect(Object.keys(placed.order._links)).not.toContain('pay');
    expect(await linksFor('user')).not.toContain('pay');
    expect(await linksFor('user')).toContain('cancel');
    expect(await linksFor('admin')).toContain('pay');
    await writesNothing(staffed, async () => {
      for (const as of ['user', 'editor'] as const) {
        const refused = await act(staffed, placed, 'payment', as);
        expect([refused.status, refused.body.error]).toEqual([403, 'FORBIDDEN']);
      }
    });
    expect((await readOrder(staffed, placed)).body.status).toBe('PENDING');
    const { status, body } = await act(staffed, placed, 'payment', 'admin');
    expect([status, body.status, body.payment.provider]).toEqual([200, 'PAID', 'manual']);
  });

  test('without Stripe, payment reports are refused', async () => {
    const path = '/v1/webhooks/stripe';
    await play(service, { name: 'report', method: 'POST', path, body: {}, status: 404, error: 'NOT_FOUND' });
    // Before the body: anyone could hold up memory with unfinished ones.
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n`;
    expect((await send(service.url, [head])).status).toBe(404);
  });
});
