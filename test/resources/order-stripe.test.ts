/** Payments through Stripe: its own library, against a Stripe of the test's own. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { stripeAmount } from '../../src/ports/stripe.ts';
import { contentsOf, writesNothing } from '../support/contents.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { act, eventsOf, halType, placeOrder, readOrder } from '../support/orders.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type FakeStripe, fakeStripe, type Intent, type Mood, report, reportAs } from '../support/stripe.ts';

const unreachable: [mood: Mood, status: number, error: string][] = [
  ['broken', 503, 'PAYMENT_UNAVAILABLE'],
  ['busy', 503, 'PAYMENT_UNAVAILABLE'],
  ['declining', 402, 'PAYMENT_DECLINED'],
  ['refusing', 422, 'PAYMENT_NOT_POSSIBLE'],
];

describeOnDatabases('payments through Stripe on %s', kind => {
  let stripe: FakeStripe;
  let service: TestService;
  beforeAll(async () => {
    stripe = fakeStripe();
    service = await startTestService(kind, stripe.settings);
  });
  afterEach(() => {
    stripe.mood = 'well';
  });
  afterAll(async () => {
    await service.stop();
    await stripe.stop();
  });

  /** An order whose payment has been opened. */
  async function opened() {
    const placed = await placeOrder(service);
    const answer = await act(service, placed, 'payment');
    const intent = stripe.intents.get(answer.body.payment?.reference);
    if (intent === undefined) throw new Error(`no payment was opened: ${answer.text}`);
    return { ...placed, answer, intent };
  }

  async function paymentOf(orderId: number) {
    const { build, read } = service.database;
    const query = build.selectFrom('payments').select(['provider', 'reference', 'status']);
    return read.first(query.where('order_id', '=', orderId).compile());
  }

  function succeeded(intent: Intent): Intent {
    stripe.pay(intent.id);
    return { ...intent, status: 'succeeded', amount_received: intent.amount };
  }

  const typesOf = async (id: number) => (await eventsOf(service, id)).map(({ type }) => type);
  const statusOf = async (placed: { path: string }) => (await readOrder(service, placed)).body.status;

  test('a payment is opened, and the order waits for its report', async () => {
    const { order, answer, intent } = await opened();
    const { client_secret: clientSecret, id: reference } = intent;
    expect(answer.body).toEqual({
      ...order,
      payment: { provider: 'stripe', status: 'pending', reference, clientSecret },
    });
    expect(intent).toMatchObject({
      amount: 15_900,
      currency: 'eur',
      metadata: { orderId: String(order.id) },
    });
    expect(await paymentOf(order.id)).toEqual({ provider: 'stripe', reference, status: 'pending' });
    const stored = await contentsOf(service);
    expect(stored.filter(line => line.includes(clientSecret))).toEqual([]);
    expect(JSON.stringify(service.log())).not.toContain(clientSecret);

    const reported = await report(service, succeeded(intent));
    expect([reported.status, reported.body]).toEqual([200, { received: true }]);
    const { body } = await readOrder(service, { path: `/v1/orders/${order.id}` });
    expect([body.status, body.version, Object.keys(body._links)]).toEqual([
      'PAID',
      2,
      ['self', 'items', 'customer'],
    ]);
    expect((await eventsOf(service, order.id)).map(({ type, actor }) => [type, actor])).toEqual([
      ['order.created', `user:${order.customerId}`],
      ['order.paid', 'stripe'],
    ]);
    expect(await paymentOf(order.id)).toEqual({ provider: 'stripe', reference, status: 'succeeded' });
  });

  test('a repeated payment finds the one that is open, whatever the key', async () => {
    const { path, order, answer } = await opened();
    const creations = () => stripe.asked.filter(({ form }) => form['metadata[orderId]'] === String(order.id));
    const again = await act(service, { path }, 'payment', 'user', { Accept: halType });
    expect(again.body.payment).toEqual(answer.body.payment);
    expect(creations()).toHaveLength(1);
    expect(creations()[0]?.idempotencyKey).toMatch(new RegExp(`^order-${order.id}-[0-9a-f]{24}$`));
  });

  test('payments at once open one', async () => {
    const placed = await placeOrder(service);
    const answers = await Promise.all(Array.from({ length: 8 }, () => act(service, placed, 'payment')));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.payment?.reference}`)).size).toBe(1);
    expect(await statusOf(placed)).toBe('PENDING');
  });

  test('a repetition with Idempotency-Key gets the first response, even when the order is paid by now', async () => {
    const placed = await placeOrder(service);
    const headers = { 'Idempotency-Key': `stripe-${placed.order.id}` };
    const first = await act(service, placed, 'payment', 'user', headers);
    const intent = stripe.intents.get(first.body.payment.reference);
    if (intent !== undefined) await report(service, succeeded(intent));
    const again = await act(service, placed, 'payment', 'user', headers);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(JSON.stringify(await contentsOf(service))).not.toContain(first.body.payment.clientSecret);
  });

  test('a payment that Stripe has taken already settles the order without waiting for the report', async () => {
    const { path, order, intent } = await opened();
    succeeded(intent);
    const again = await act(service, { path }, 'payment');
    expect([again.body.status, again.body.payment]).toEqual([
      'PAID',
      { provider: 'stripe', status: 'succeeded', reference: intent.id, clientSecret: null },
    ]);
    await report(service, succeeded(intent));
    expect(await typesOf(order.id)).toEqual(['order.created', 'order.paid']);
  });

  test('after a payment that was cancelled at Stripe, another one is opened', async () => {
    const { path, order, intent } = await opened();
    stripe.intents.set(intent.id, { ...intent, status: 'canceled' });
    const again = await act(service, { path }, 'payment');
    expect(again.body.payment.reference).not.toBe(intent.id);
    expect(await paymentOf(order.id)).toMatchObject({ reference: again.body.payment.reference });
  });

  test('reports come twice and at once: the order is paid once', async () => {
    const { path, order, intent } = await opened();
    const paid = succeeded(intent);
    const answers = await Promise.all(Array.from({ length: 6 }, () => report(service, paid)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const once = await contentsOf(service);
    await report(service, paid);
    expect(await contentsOf(service)).toEqual(once);
    expect(await statusOf({ path })).toBe('PAID');
    expect(await typesOf(order.id)).toEqual(['order.created', 'order.paid']);
  });

  test.each([
    ['another amount', { amount_received: 1 }],
    ['another currency', { currency: 'usd' }],
  ])('a report of %s changes nothing', async (_, wrong) => {
    const { path, intent } = await opened();
    await writesNothing(service, async () => {
      const reported = await report(service, { ...succeeded(intent), ...wrong });
      expect([reported.status, reported.body.error]).toEqual([422, 'PAYMENT_MISMATCH']);
    });
    expect(await statusOf({ path })).toBe('PENDING');
  });

  test('reports of what is not known, or does not matter, are acknowledged', async () => {
    const { intent } = await opened();
    await writesNothing(service, async () => {
      expect((await report(service, { ...intent, id: 'pi_of_another_shop' })).status).toBe(200);
      expect((await report(service, intent, { type: 'payment_intent.created' })).status).toBe(200);
    });
  });

  test('a report that is not signed, or signed wrongly or long ago, is refused', async () => {
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
      call(service, { method: 'POST', path, headers: { ...headers, ...more }, body });
    await writesNothing(service, async () => {
      const answers = [
        await post({}),
        await post({ 'Stripe-Signature': 'nonsense' }),
        await post({
          'Stripe-Signature': `t=${Math.floor(service.clock.now() / 1000)},v1=${'0'.repeat(64)}`,
        }),
        await report(service, paid, { secret: 'whsec_of_somebody_else' }),
        await report(service, paid, { at: service.clock.now() - 301_000 }),
      ];
      for (const { status, body } of answers)
        expect([status, body.error]).toEqual([400, 'INVALID_SIGNATURE']);
      const large = await call(service, { method: 'POST', path, headers, body: `"${'x'.repeat(262_144)}"` });
      expect([large.status, large.body.error]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    });
  });

  test('reports that Stripe has signed cost no quota; others do, until there are too many', async () => {
    const poor = await service.replica({ ...stripe.settings, RATE_LIMIT: '5', RATE_WINDOW: '7200' });
    // Of a window of its own: the tests before have sent some as well.
    const remaining = ({ headers }: { headers: Headers }) => headers.get('X-RateLimit-Remaining');
    const unsigned = () =>
      call(poor, { method: 'POST', path: '/v1/webhooks/stripe', body: { type: 'payment_intent.created' } });
    for (let left = 4; left >= 0; left--) {
      const answer = await unsigned();
      expect([answer.status, remaining(answer)]).toEqual([400, String(left)]);
    }
    const refused = await unsigned();
    expect([refused.status, refused.body.error, remaining(refused)]).toEqual([429, 'RATE_LIMITED', '0']);
    // Neither what others have sent from there nor its own number stands in Stripe's way.
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
  ])('a signed report that is no event is refused: %j', async value => {
    await writesNothing(service, async () => {
      const { status, body } = await reportAs(service, value);
      expect([status, body.error]).toEqual([400, 'VALIDATION_FAILED']);
    });
  });

  test('cancelling an order cancels its open payment', async () => {
    const { path, order, intent } = await opened();
    await act(service, { path }, 'cancel');
    await service.settle();
    expect(stripe.intents.get(intent.id)?.status).toBe('canceled');
    expect(await paymentOf(order.id)).toMatchObject({ status: 'cancelled' });
    const asked = stripe.asked.filter(({ path }) => path.endsWith(`${intent.id}/cancel`));
    expect(asked.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`cancel-${intent.id}`]);
  });

  test('a payment that comes after the cancellation is given back, once', async () => {
    const { path, order, intent } = await opened();
    const paid = succeeded(intent);
    await act(service, { path }, 'cancel');
    await Promise.all([report(service, paid), report(service, paid)]);
    await report(service, paid);
    await service.settle();
    await report(service, paid);
    await service.settle();
    expect(stripe.refunds.filter(reference => reference === intent.id)).toHaveLength(1);
    expect(await paymentOf(order.id)).toMatchObject({ status: 'refunded' });
    expect(await statusOf({ path })).toBe('CANCELLED');
  });

  test('what Stripe cannot be told now, it is told later', async () => {
    const { path, order, intent } = await opened();
    stripe.mood = 'broken';
    expect((await act(service, { path }, 'cancel')).status).toBe(200);
    await service.settle();
    expect(stripe.intents.get(intent.id)?.status).toBe('requires_payment_method');
    stripe.mood = 'well';
    service.clock.advance(2000);
    await service.settle();
    expect(stripe.intents.get(intent.id)?.status).toBe('canceled');
    expect(await paymentOf(order.id)).toMatchObject({ status: 'cancelled' });
  });

  test.each(unreachable)('Stripe is %s: nothing is half done', async (mood, status, error) => {
    const placed = await placeOrder(service);
    stripe.mood = mood;
    await writesNothing(service, async () => {
      const answer = await act(service, placed, 'payment', 'user', { 'Idempotency-Key': `mood-${mood}` });
      expect([answer.status, answer.body.error]).toEqual([status, error]);
      expect(answer.headers.has('Retry-After')).toBe(status === 503);
      expect(answer.text).not.toContain('sk_test');
    });
    stripe.mood = 'well';
    const again = await act(service, placed, 'payment', 'user', { 'Idempotency-Key': `mood-${mood}` });
    expect([again.status, again.body.payment.status]).toEqual([200, 'pending']);
  });

  test('an order that costs nothing needs no Stripe; what Stripe cannot count is refused', async () => {
    const free = await placeOrder(service, { product: { price: 0 } });
    const before = stripe.asked.length;
    expect((await act(service, free, 'payment')).body).toMatchObject({
      status: 'PAID',
      payment: { provider: 'manual' },
    });
    const dinar = await placeOrder(service, { product: { price: 1.234, currency: 'KWD' }, quantity: 1 });
    const refused = await act(service, dinar, 'payment');
    expect([refused.status, refused.body.error]).toEqual([422, 'PAYMENT_NOT_POSSIBLE']);
    expect(stripe.asked.length).toBe(before);
  });

  test('nobody who may not pay makes Stripe do anything', async () => {
    const placed = await placeOrder(service, { as: 'admin' });
    const before = stripe.asked.length;
    expect((await act(service, placed, 'payment', 'user')).status).toBe(404);
    expect((await act(service, placed, 'payment', 'editor')).status).toBe(403);
    expect((await act(service, placed, 'payment', 'admin', { 'If-Match': '"stale"' })).status).toBe(412);
    await act(service, placed, 'cancel', 'admin');
    expect((await act(service, placed, 'payment', 'admin')).status).toBe(409);
    expect(stripe.asked.length).toBe(before);
  });

  test('a payment that is open is not counted by hand when Stripe is no longer set', async () => {
    const { path } = await opened();
    const replica = await service.replica({ STRIPE_SECRET_KEY: '' });
    const answer = await act(replica, { path }, 'payment');
    expect([answer.status, answer.body.error]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
  });
});

test('Stripe is slow, and then dead: the caller is told to come back', async () => {
  const stripe = fakeStripe();
  const service = await startTestService('sqlite', stripe.settings);
  const placed = await placeOrder(service);
  const refused = async () => {
    const answer = await act(service, placed, 'payment');
    expect([answer.status, answer.body.error, answer.headers.get('Retry-After')]).toEqual([
      503,
      'PAYMENT_UNAVAILABLE',
      '5',
    ]);
  };
  stripe.mood = 'slow';
  const slow = refused();
  // Anyone else who works with the service meanwhile is not kept waiting.
  expect((await act(service, await placeOrder(service), 'cancel')).status).toBe(200);
  await slow;
  await stripe.stop();
  await refused();
  expect((await readOrder(service, placed)).body).toEqual(placed.order);
  await service.stop();
}, 15_000);

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
])('%p minor units of %s are %p to Stripe', (total, currency, amount) => {
  expect(stripeAmount({ total, currency })).toBe(amount);
});
