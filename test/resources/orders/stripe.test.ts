/** Payments through Stripe: with Stripe's own library, against the test's own fake Stripe. */
import { expect, test } from 'bun:test';
import { toStripeAmount } from '../../../src/ports/stripe.ts';
import { eventsOf } from '../../support/data/events.ts';
import { act, halType, placeOrder, readOrder } from '../../support/data/orders.ts';
import { call } from '../../support/http/http.ts';
import { fakeStripe, type Mood, report } from '../../support/peers/stripe.ts';
import { stripeOrdersOn } from '../../support/peers/stripe-orders.ts';
import { contentsOf, writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, signIn, startTestService } from '../../support/service/service.ts';

const hour = 3_600_000;

const unreachable: [mood: Mood, status: number, error: string][] = [
  ['broken', 503, 'PAYMENT_UNAVAILABLE'],
  ['busy', 503, 'PAYMENT_UNAVAILABLE'],
  ['declining', 402, 'PAYMENT_DECLINED'],
  ['refusing', 422, 'PAYMENT_NOT_POSSIBLE'],
];

describeOnDatabases('payments through Stripe on %s', kind => {
  const on = stripeOrdersOn(kind);
  const { opened, paymentOf, statusOf, succeeded, typesOf } = on;

  test('a payment is opened, and the order waits for its report', async () => {
    const { order, response, intent } = await opened();
    const { client_secret: clientSecret, id: reference } = intent;
    expect(response.body).toEqual({
      ...order,
      payment: { provider: 'stripe', status: 'pending', reference, clientSecret },
    });
    expect(intent).toMatchObject({
      amount: 15_900,
      currency: 'eur',
      metadata: { orderId: String(order.id) },
    });
    expect(await paymentOf(order.id)).toEqual({ provider: 'stripe', reference, status: 'pending' });
    const stored = await contentsOf(on.service);
    expect(stored.filter(line => line.includes(clientSecret))).toEqual([]);
    expect(JSON.stringify(on.service.log())).not.toContain(clientSecret);

    const reported = await report(on.service, succeeded(intent));
    expect([reported.status, reported.body]).toEqual([200, { received: true }]);
    const { body } = await readOrder(on.service, { path: `/v1/orders/${order.id}` });
    expect([body.status, body.version, Object.keys(body._links)]).toEqual([
      'PAID',
      2,
      ['self', 'items', 'customer', 'invoices'],
    ]);
    expect((await eventsOf(on.service, 'order', order.id)).map(({ type, actor }) => [type, actor])).toEqual([
      ['order.created', `user:${order.customerId}`],
      ['order.paid', 'stripe'],
    ]);
    expect(await paymentOf(order.id)).toEqual({ provider: 'stripe', reference, status: 'succeeded' });
  });

  test('a repeated payment without Idempotency-Key returns the open payment', async () => {
    const { path, order, response } = await opened();
    const creations = () =>
      on.stripe.asked.filter(({ form }) => form['metadata[orderId]'] === String(order.id));
    const again = await act(on.service, { path }, 'payment', 'user', { Accept: halType });
    expect(again.body.payment).toEqual(response.body.payment);
    expect(creations()).toHaveLength(1);
    expect(creations()[0]?.idempotencyKey).toMatch(new RegExp(`^order-${order.id}-[0-9a-f]{24}$`));
  });

  test('concurrent payments open one payment', async () => {
    const placed = await placeOrder(on.service);
    const responses = await Promise.all(Array.from({ length: 8 }, () => act(on.service, placed, 'payment')));
    expect(new Set(responses.map(({ status, body }) => `${status} ${body.payment?.reference}`)).size).toBe(1);
    expect(await statusOf(placed)).toBe('PENDING');
  });

  test('of two requests in different hours that each open a payment, one counts', async () => {
    const stripe = fakeStripe();
    await using service = await startTestService(kind, stripe.settings);
    const placed = await placeOrder(service);
    const path = `${placed.path}/payment`;
    stripe.mood = 'slow';
    const arrived = async (count: number) => {
      while (stripe.asked.length < count) await new Promise(resolve => setImmediate(resolve));
    };
    const pay = async (count: number) => {
      // The token from an hour ago has expired.
      const token = await signIn(service.url, emailOf('user'));
      const headers = { Authorization: `Bearer ${token}` };
      const paying = call(service, { method: 'POST', path, headers });
      await arrived(count);
      return { paying, headers };
    };
    const early = await pay(1);
    service.clock.advance(hour);
    const late = await pay(2);
    stripe.mood = 'well';
    stripe.release();
    const responses = await Promise.all([early.paying, late.paying]);
    expect(stripe.intents.size).toBe(2);
    const [opened, refused] = responses.toSorted((a, b) => a.status - b.status);
    expect([opened?.status, opened?.body.payment.status]).toEqual([200, 'pending']);
    expect([refused?.status, refused?.body.error]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
    expect(refused?.headers.get('Retry-After')).toBe('5');
    const again = await call(service, { method: 'POST', path, headers: late.headers });
    expect([again.status, again.body.payment]).toEqual([200, opened?.body.payment]);
    // The customer confirms the payment that was opened, and the report settles the order.
    const intent = stripe.intents.get(opened?.body.payment.reference);
    stripe.pay(intent?.id ?? '');
    await report(service, { ...intent, status: 'succeeded', amount_received: intent?.amount ?? 0 });
    const order = await call(service, { path: placed.path, headers: late.headers });
    expect([order.body.status, stripe.refunds]).toEqual(['PAID', []]);
    await stripe.stop();
  });

  test('a repetition with Idempotency-Key gets the first response, even after the order is paid', async () => {
    const placed = await placeOrder(on.service);
    const headers = { 'Idempotency-Key': `stripe-${placed.order.id}` };
    const first = await act(on.service, placed, 'payment', 'user', headers);
    const intent = on.stripe.intents.get(first.body.payment.reference);
    if (intent !== undefined) await report(on.service, succeeded(intent));
    const again = await act(on.service, placed, 'payment', 'user', headers);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(JSON.stringify(await contentsOf(on.service))).not.toContain(first.body.payment.clientSecret);
  });

  test('a payment that Stripe has taken already settles the order without waiting for the report', async () => {
    const { path, order, intent } = await opened();
    succeeded(intent);
    const again = await act(on.service, { path }, 'payment');
    expect([again.body.status, again.body.payment]).toEqual([
      'PAID',
      { provider: 'stripe', status: 'succeeded', reference: intent.id, clientSecret: null },
    ]);
    await report(on.service, succeeded(intent));
    expect(await typesOf(order.id)).toEqual(['order.created', 'order.paid']);
  });

  test('after a payment that was cancelled at Stripe, another one is opened', async () => {
    const { path, order, intent } = await opened();
    on.stripe.intents.set(intent.id, { ...intent, status: 'canceled' });
    const again = await act(on.service, { path }, 'payment');
    expect(again.body.payment.reference).not.toBe(intent.id);
    expect(await paymentOf(order.id)).toMatchObject({ reference: again.body.payment.reference });
  });

  test('cancelling an order cancels its open payment', async () => {
    const { path, order, intent } = await opened();
    await act(on.service, { path }, 'cancel');
    await on.service.settle();
    expect(on.stripe.intents.get(intent.id)?.status).toBe('canceled');
    expect(await paymentOf(order.id)).toMatchObject({ status: 'cancelled' });
    const asked = on.stripe.asked.filter(({ path }) => path.endsWith(`${intent.id}/cancel`));
    expect(asked).toHaveLength(1);
  });

  test('a payment that Stripe has cancelled before, as after a lost response, counts as cancelled', async () => {
    const { path, order, intent } = await opened();
    on.stripe.move(intent.id, 'canceled');
    await act(on.service, { path }, 'cancel');
    await on.service.settle();
    expect(await paymentOf(order.id)).toMatchObject({ status: 'cancelled' });
  });

  test('a payment that arrives after the cancellation is refunded, once', async () => {
    const { path, order, intent } = await opened();
    const paid = succeeded(intent);
    await act(on.service, { path }, 'cancel');
    await Promise.all([report(on.service, paid), report(on.service, paid)]);
    await report(on.service, paid);
    await on.service.settle();
    await report(on.service, paid);
    await on.service.settle();
    // Not even a second request, which Stripe would recognize for a day.
    expect(on.stripe.asked.filter(({ form }) => form.payment_intent === intent.id)).toHaveLength(1);
    expect(await paymentOf(order.id)).toMatchObject({ status: 'refunded' });
    expect(await statusOf({ path })).toBe('CANCELLED');
  });

  test('a payment that was made before the cancellation is refunded, once, even without its report', async () => {
    const { path, order, intent } = await opened();
    const paid = succeeded(intent);
    await act(on.service, { path }, 'cancel');
    await on.service.settle();
    const refunded = () => on.stripe.refunds.filter(reference => reference === intent.id);
    expect(refunded()).toHaveLength(1);
    expect(await paymentOf(order.id)).toMatchObject({ status: 'refunded' });
    await report(on.service, paid);
    await on.service.settle();
    expect(refunded()).toHaveLength(1);
    expect(await paymentOf(order.id)).toMatchObject({ status: 'refunded' });
    expect(await statusOf({ path })).toBe('CANCELLED');
  });

  test('a payment in progress at the cancellation is refunded once it is made, even without its report', async () => {
    const { path, order, intent } = await opened();
    on.stripe.move(intent.id, 'processing');
    await act(on.service, { path }, 'cancel');
    await on.service.settle();
    expect(await paymentOf(order.id)).toMatchObject({ status: 'pending' });
    succeeded(intent);
    on.service.clock.advance(2000);
    await on.service.settle();
    expect(on.stripe.refunds.filter(reference => reference === intent.id)).toHaveLength(1);
    expect(await paymentOf(order.id)).toMatchObject({ status: 'refunded' });
    expect(await statusOf({ path })).toBe('CANCELLED');
  });

  test('a cancellation that Stripe cannot receive is retried later', async () => {
    const { path, order, intent } = await opened();
    on.stripe.mood = 'broken';
    expect((await act(on.service, { path }, 'cancel')).status).toBe(200);
    await on.service.settle();
    expect(on.stripe.intents.get(intent.id)?.status).toBe('requires_payment_method');
    on.stripe.mood = 'well';
    const isSaid = async () => JSON.stringify(await paymentOf(order.id)).includes('cancelled');
    // Stripe's time limit is real time: on a stalled machine one more attempt fails, and the next one comes later.
    for (let attempt = 1; attempt <= 5 && !(await isSaid()); attempt++) {
      on.service.clock.advance(1000 * 2 ** attempt);
      await on.service.settle();
    }
    expect(on.stripe.intents.get(intent.id)?.status).toBe('canceled');
    expect(await paymentOf(order.id)).toMatchObject({ status: 'cancelled' });
  });

  test.each(unreachable)('Stripe is %s: a payment fails and writes nothing', async (mood, status, error) => {
    const placed = await placeOrder(on.service);
    on.stripe.mood = mood;
    await writesNothing(on.service, async () => {
      const response = await act(on.service, placed, 'payment', 'user', {
        'Idempotency-Key': `mood-${mood}`,
      });
      expect([response.status, response.body.error]).toEqual([status, error]);
      expect(response.headers.has('Retry-After')).toBe(status === 503);
      expect(response.text).not.toContain('sk_test');
    });
    on.stripe.mood = 'well';
    const again = await act(on.service, placed, 'payment', 'user', { 'Idempotency-Key': `mood-${mood}` });
    expect([again.status, again.body.payment.status]).toEqual([200, 'pending']);
  });

  test('a free order needs no Stripe; an amount that Stripe cannot represent is refused', async () => {
    const free = await placeOrder(on.service, { product: { price: 0 } });
    const before = on.stripe.asked.length;
    expect((await act(on.service, free, 'payment')).body).toMatchObject({
      status: 'PAID',
      payment: { provider: 'manual' },
    });
    const dinar = await placeOrder(on.service, { product: { price: 1.234, currency: 'KWD' }, quantity: 1 });
    const refused = await act(on.service, dinar, 'payment');
    expect([refused.status, refused.body.error]).toEqual([422, 'PAYMENT_NOT_POSSIBLE']);
    expect(on.stripe.asked.length).toBe(before);
  });

  test('a refused payment sends no request to Stripe', async () => {
    const placed = await placeOrder(on.service, { as: 'admin' });
    const before = on.stripe.asked.length;
    expect((await act(on.service, placed, 'payment', 'user')).status).toBe(404);
    expect((await act(on.service, placed, 'payment', 'editor')).status).toBe(403);
    expect((await act(on.service, placed, 'payment', 'admin', { 'If-Match': '"stale"' })).status).toBe(412);
    await act(on.service, placed, 'cancel', 'admin');
    expect((await act(on.service, placed, 'payment', 'admin')).status).toBe(409);
    expect(on.stripe.asked.length).toBe(before);
  });

  test('an open payment is not recorded by hand when Stripe is no longer configured', async () => {
    const { path } = await opened();
    await using replica = await on.service.replica({ STRIPE_SECRET_KEY: '' });
    const response = await act(replica, { path }, 'payment');
    expect([response.status, response.body.error]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
  });
});

test('a payment is 503 with Retry-After when Stripe cannot be reached', async () => {
  const stripe = fakeStripe();
  const service = await startTestService('sqlite', stripe.settings);
  const placed = await placeOrder(service);
  await stripe.stop();
  const response = await act(service, placed, 'payment');
  expect([response.status, response.body.error, response.headers.get('Retry-After')]).toEqual([
    503,
    'PAYMENT_UNAVAILABLE',
    '5',
  ]);
  expect((await readOrder(service, placed)).body).toEqual(placed.order);
  await service.stop();
});

test.each([
  [1050, 'EUR', 1050],
  [500, 'JPY', 500],
  [5, 'ISK', 500],
  [5, 'UGX', 500],
  [1200, 'MGA', 12],
  [1250, 'MGA', undefined],
  [1230, 'KWD', 1230],
  [1234, 'KWD', undefined],
  [Number.MAX_SAFE_INTEGER, 'UGX', undefined],
])('%p minor units of %s are sent to Stripe as %p', (total, currency, amount) => {
  expect(toStripeAmount({ total, currency })).toBe(amount);
});
