/** Stripe is unreachable, or something else responds: finished work stays, and nonsense is ignored. */
import { expect, test } from 'bun:test';
import { act, placeOrder, readOrder } from '../../support/data/orders.ts';
import { fakeStripe } from '../../support/peers/stripe.ts';
import { stripeOrdersOn } from '../../support/peers/stripe-orders.ts';
import { contentsOf, writesNothing } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService } from '../../support/service/service.ts';

describeOnDatabases('responses of Stripe on %s', kind => {
  const on = stripeOrdersOn(kind);
  const { opened, paymentOf, statusOf } = on;

  test.each([
    ['Stripe is down', {}],
    ['its condition no longer holds', { 'If-Match': '"stale"' }],
    ['its date is an old one', { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' }],
  ])('a repetition with Idempotency-Key gets the first response though %s', async (what, headers) => {
    const placed = await placeOrder(on.service);
    const key = { 'Idempotency-Key': `again-${placed.order.id}` };
    const first = await act(on.service, placed, 'payment', 'user', key);
    const before = on.stripe.asked.length;
    if (what === 'Stripe is down') on.stripe.mood = 'broken';
    const again = await act(on.service, placed, 'payment', 'user', { ...key, ...headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(on.stripe.asked.length).toBe(before);
  });

  test.each(['{}', 'null', '[]', '"pi_1"', '<html>', '{"id":"","object":"payment_intent"}'])(
    'only a payment intent opens a payment, not %s',
    async body => {
      const placed = await placeOrder(on.service);
      on.stripe.body = body;
      await writesNothing(on.service, async () => {
        const response = await act(on.service, placed, 'payment');
        expect([response.status, response.body.error]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
      });
      on.stripe.body = undefined;
      expect((await act(on.service, placed, 'payment')).body.payment.status).toBe('pending');
      expect((await act(on.service, placed, 'cancel')).status).toBe(200);
      await on.service.settle();
    },
  );

  test('a payment intent in a very long response opens no payment', async () => {
    const placed = await placeOrder(on.service);
    const intent = { id: 'pi_long', object: 'payment_intent', status: 'requires_payment_method' };
    const members = { ...intent, amount_received: 0, currency: 'eur', client_secret: 'pi_long_secret' };
    on.stripe.body = JSON.stringify({ ...members, description: 'x'.repeat(2_000_000) });
    await writesNothing(on.service, async () => {
      const response = await act(on.service, placed, 'payment');
      expect([response.status, response.body.error]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
    });
    on.stripe.body = undefined;
  });

  test('when Stripe refuses the key, the log names the setting', async () => {
    const placed = await placeOrder(on.service);
    on.stripe.mood = 'closed';
    const response = await act(on.service, placed, 'payment');
    on.stripe.mood = 'well';
    expect([response.status, response.body.error]).toEqual([503, 'PAYMENT_UNAVAILABLE']);
    const line = on.service.log().findLast(({ message }) => message === 'request failed');
    expect(line?.cause).toMatchObject({ reason: 'Stripe refused STRIPE_SECRET_KEY' });
  });

  test('a payment is cancelled only when Stripe’s response is a payment intent', async () => {
    const { path, order, intent } = await opened();
    on.stripe.body = '{}';
    expect((await act(on.service, { path }, 'cancel')).status).toBe(200);
    await on.service.settle();
    expect(await paymentOf(order.id)).toMatchObject({ status: 'pending' });
    on.stripe.body = undefined;
    for (
      let attempt = 1;
      attempt <= 5 && on.stripe.intents.get(intent.id)?.status !== 'canceled';
      attempt++
    ) {
      on.service.clock.advance(1000 * 2 ** attempt);
      await on.service.settle();
    }
    expect(await paymentOf(order.id)).toMatchObject({ status: 'cancelled' });
  });

  /** A payment as older releases stored it when Stripe's response was not a payment intent. */
  async function withoutReference(service: typeof on.service) {
    const placed = await placeOrder(service);
    const row = { order_id: placed.order.id, provider: 'stripe', reference: null, status: 'pending' };
    const times = { created_at: service.clock.now(), updated_at: service.clock.now() };
    const { build } = service.database;
    await service.database.write(session =>
      session.run(
        build
          .insertInto('payments')
          .values({ ...row, ...times })
          .compile(),
      ),
    );
    return placed;
  }

  test('an order whose payment has no reference can be cancelled', async () => {
    const placed = await withoutReference(on.service);
    expect((await act(on.service, placed, 'cancel')).status).toBe(200);
    await on.service.settle();
    expect([await statusOf(placed), await paymentOf(placed.order.id)]).toEqual([
      'CANCELLED',
      { provider: 'stripe', reference: null, status: 'cancelled' },
    ]);
  });

  test('an order whose payment has no reference times out', async () => {
    const stripe = fakeStripe();
    await using service = await startTestService(kind, { ...stripe.settings, ORDER_TIMEOUT: '20' });
    const placed = await withoutReference(service);
    service.clock.advance(20_000);
    await service.settle();
    expect((await readOrder(service, placed)).body.status).toBe('CANCELLED');
    expect((await contentsOf(service)).filter(line => line.includes('order-timeouts'))).toEqual([]);
    await stripe.stop();
  });
});
