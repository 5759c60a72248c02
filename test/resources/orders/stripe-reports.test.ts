/** What Stripe reports about payments: once or twice, signed or not, right or wrong. */
import { expect, test } from 'bun:test';
import { act } from '../../support/data/orders.ts';
import { call } from '../../support/http/http.ts';
import { report, reportAs } from '../../support/peers/stripe.ts';
import { stripeOrdersOn } from '../../support/peers/stripe-orders.ts';
import { contentsOf, writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

/** A report about a payment intent whose id is invalid. */
const buildReport = (id: string) => ({
  type: 'payment_intent.succeeded',
  data: { object: { id, amount_received: 1, currency: 'eur' } },
});

describeOnDatabases('reports of Stripe on %s', kind => {
  const on = stripeOrdersOn(kind);
  const { opened, paymentOf, statusOf, succeeded, typesOf } = on;

  test('repeated and concurrent reports pay the order once', async () => {
    const { path, order, intent } = await opened();
    const paid = succeeded(intent);
    const responses = await Promise.all(Array.from({ length: 6 }, () => report(on.service, paid)));
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const once = await contentsOf(on.service);
    await report(on.service, paid);
    expect(await contentsOf(on.service)).toEqual(once);
    expect(await statusOf({ path })).toBe('PAID');
    expect(await typesOf(order.id)).toEqual(['order.created', 'order.paid']);
  });

  test('a payment that is reported after Stripe has cancelled it is refunded', async () => {
    const { path, order, intent } = await opened();
    await act(on.service, { path }, 'cancel');
    await on.service.settle();
    expect(await paymentOf(order.id)).toMatchObject({ status: 'cancelled' });
    await report(on.service, succeeded(intent));
    await on.service.settle();
    expect(on.stripe.refunds).toContain(intent.id);
    expect(await paymentOf(order.id)).toMatchObject({ status: 'refunded' });
    expect(await statusOf({ path })).toBe('CANCELLED');
  });

  test.each([
    ['another amount', { amount_received: 1 }],
    ['another currency', { currency: 'usd' }],
  ])('a report of %s changes nothing', async (_, wrong) => {
    const { path, intent } = await opened();
    await writesNothing(on.service, async () => {
      const reported = await report(on.service, { ...succeeded(intent), ...wrong });
      expect([reported.status, reported.body.error]).toEqual([422, 'PAYMENT_MISMATCH']);
    });
    expect(await statusOf({ path })).toBe('PENDING');
  });

  test('reports of unknown payments and irrelevant events are acknowledged', async () => {
    const { intent } = await opened();
    await writesNothing(on.service, async () => {
      expect((await report(on.service, { ...intent, id: 'pi_of_another_shop' })).status).toBe(200);
      expect((await report(on.service, intent, { type: 'payment_intent.created' })).status).toBe(200);
    });
  });

  test('a report that is unsigned, wrongly signed or signed long ago is refused', async () => {
    const { intent } = await opened();
    const paid = succeeded(intent);
    const body = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'payment_intent.succeeded',
      data: { object: paid },
    });
    const headers = { 'Content-Type': 'application/json' };
    const path = '/v1/webhooks/stripe';
    const post = (more: Record<string, string>) =>
      call(on.service, { method: 'POST', path, headers: { ...headers, ...more }, body });
    await writesNothing(on.service, async () => {
      const responses = [
        await post({}),
        await post({ 'Stripe-Signature': 'nonsense' }),
        await post({
          'Stripe-Signature': `t=${Math.floor(on.service.clock.now() / 1000)},v1=${'0'.repeat(64)}`,
        }),
        await report(on.service, paid, { secret: 'whsec_of_somebody_else' }),
        await report(on.service, paid, { at: on.service.clock.now() - 301_000 }),
      ];
      for (const { status, body } of responses)
        expect([status, body.error]).toEqual([400, 'INVALID_SIGNATURE']);
      const large = await call(on.service, {
        method: 'POST',
        path,
        headers,
        body: `"${'x'.repeat(262_144)}"`,
      });
      expect([large.status, large.body.error]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    });
  });

  test('reports signed by Stripe cost no quota; others do, and too many are refused', async () => {
    await using poor = await on.service.replica({
      ...on.stripe.settings,
      RATE_LIMIT: '5',
      RATE_WINDOW: '7200',
    });
    // A replica with a separate window, because the earlier tests also sent reports.
    const remaining = ({ headers }: { headers: Headers }) => headers.get('X-RateLimit-Remaining');
    const unsigned = () =>
      call(poor, { method: 'POST', path: '/v1/webhooks/stripe', body: { type: 'payment_intent.created' } });
    for (let left = 4; left >= 0; left--) {
      const response = await unsigned();
      expect([response.status, remaining(response)]).toEqual([400, String(left)]);
    }
    const refused = await unsigned();
    expect([refused.status, refused.body.error, remaining(refused)]).toEqual([429, 'RATE_LIMITED', '0']);
    // Signed reports pass although the quota of their address is used up, however many there are.
    for (let times = 0; times < 12; times++)
      expect((await report(poor, undefined, { type: 'payment_intent.created' })).status).toBe(200);
    const { intent } = await opened();
    expect((await report(poor, succeeded(intent))).status).toBe(200);
    expect((await unsigned()).status).toBe(429);
  });

  test.each([
    [null],
    ['x'],
    [[]],
    [{}],
    [{ type: 7 }],
    [{ type: 'payment_intent.succeeded' }],
    [{ type: 'payment_intent.succeeded', data: { object: null } }],
    [{ type: 'payment_intent.succeeded', data: { object: { id: 'pi_1', amount_received: '1' } } }],
    [buildReport('')],
    [buildReport('\0')],
    [buildReport('x'.repeat(256))],
  ])('a signed report that is not an event is refused: %j', async value => {
    await writesNothing(on.service, async () => {
      const { status, body } = await reportAs(on.service, value);
      expect([status, body.error]).toEqual([400, 'VALIDATION_FAILED']);
    });
  });
});
