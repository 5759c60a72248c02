/** Orders that are not paid in time: the first replica cancels each of them once, and their stock is released. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createCommandOutbox } from '../../../src/events/outbox.ts';
import { createQueue } from '../../../src/events/queue.ts';
import { createInvoiceStore } from '../../../src/resources/invoices/store.ts';
import { createPaymentStore } from '../../../src/resources/orders/payments.ts';
import { createStockReservations } from '../../../src/resources/orders/reservations.ts';
import { createCancel, createCompletePayment } from '../../../src/resources/orders/settle.ts';
import { createOrderStore } from '../../../src/resources/orders/store.ts';
import { createOrderTimeouts } from '../../../src/resources/orders/timeouts.ts';
import { createProductStore } from '../../../src/resources/products/store.ts';
import { createStockLocks } from '../../../src/resources/stock/locked.ts';
import { createVariantStore } from '../../../src/resources/variants/store.ts';
import { eventsOf } from '../../support/data/events.ts';
import { act, readOrder } from '../../support/data/orders.ts';
import { addStocked, ordered, shownOf } from '../../support/data/stock.ts';
import { call } from '../../support/http/http.ts';
import { fakeStripe, report } from '../../support/peers/stripe.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Less than the lifetime of access tokens. */
const seconds = 20;
const settings = { ORDER_TIMEOUT: String(seconds) };

/** The sweep of order timeouts for a service with this limit. */
function timeoutsOf({ database, clock }: TestService, limit: number | undefined) {
  const [outbox, queue] = [createCommandOutbox(database), createQueue(database)];
  const [orders, products] = [createOrderStore(database, outbox), createProductStore(database, outbox)];
  const variants = createVariantStore(database, outbox, products);
  const stock = createStockLocks(database, outbox, products, variants);
  const reservations = createStockReservations(database, stock);
  const payments = createPaymentStore(database, queue);
  const issuer = { seller: { name: 'Shop', address: [] }, timeZone: 'UTC' };
  const invoices = createInvoiceStore(database, outbox, issuer);
  const cancel = createCancel(orders, payments, reservations);
  const completePayment = createCompletePayment(orders, reservations, invoices);
  return createOrderTimeouts(
    { database, clock, queue, orders, payments, provider: undefined, cancel, completePayment },
    limit,
  );
}

describeOnDatabases('order timeouts on %s', kind => {
  let service: TestService;
  let replica: TestService;
  beforeAll(async () => {
    service = await startTestService(kind, settings);
    replica = await service.replica();
  });
  afterAll(() => service.stop());

  /** Advances the clock and lets both replicas do what is due. */
  async function pass(milliseconds: number): Promise<void> {
    service.clock.advance(milliseconds);
    await service.settle();
  }
  const statusOf = async (one: { readonly path: string }) => (await readOrder(service, one)).body.status;
  const typesOf = async (id: number) =>
    (await eventsOf(service, 'order', id)).map(({ type, actor }) => [type, actor]);

  test('an order that is not paid in time is cancelled once, and its stock released', async () => {
    const lamp = await addStocked(service, 5);
    const [late, paid, cancelled] = [
      await ordered(service, [lamp, 1]),
      await ordered(replica, [lamp, 2]),
      await ordered(service, [lamp, 1]),
    ];
    await act(service, paid, 'payment');
    await act(service, cancelled, 'cancel');
    await pass(seconds * 1000 - 1);
    expect(await statusOf(late)).toBe('PENDING');
    expect(await shownOf(service, lamp)).toEqual({ onHand: 3, reserved: 1, available: true });
    await pass(1);
    expect(await Promise.all([late, paid, cancelled].map(statusOf))).toEqual([
      'CANCELLED',
      'PAID',
      'CANCELLED',
    ]);
    expect(await shownOf(replica, lamp)).toEqual({ onHand: 3, reserved: 0, available: true });
    expect((await typesOf(late.id)).slice(1)).toEqual([['order.cancelled', 'order-timeout']]);
    expect((await act(service, late, 'payment')).body.error).toBe('ORDER_ALREADY_CANCELLED');
    await pass(10 * seconds * 1000);
    expect(await typesOf(late.id)).toHaveLength(2);
    expect(await typesOf(cancelled.id)).toHaveLength(2);
    const { body } = await call(service, { path: '/v1/notifications?perPage=100', as: 'user' });
    const told = body.data.filter(({ resourceId }: { resourceId: number }) => resourceId === late.id);
    expect(told).toHaveLength(1);
  });

  test('many orders due at once, some paid at that moment, are each paid or cancelled once', async () => {
    const lamp = await addStocked(service, 100);
    const orders = await Promise.all(
      Array.from({ length: 30 }, (_, number) => ordered(number % 2 === 0 ? service : replica, [lamp, 2])),
    );
    service.clock.advance(seconds * 1000);
    await Promise.all([
      service.settle(),
      ...orders.filter((_, number) => number % 3 === 0).map(one => act(replica, one, 'payment')),
    ]);
    await service.settle();
    const ends = await Promise.all(orders.map(statusOf));
    const paid = ends.filter(status => status === 'PAID').length;
    expect(ends.filter(status => status === 'CANCELLED').length).toBe(30 - paid);
    expect(await shownOf(service, lamp)).toEqual({ onHand: 100 - 2 * paid, reserved: 0, available: true });
    for (const { id } of orders) expect(await typesOf(id)).toHaveLength(2);
  });

  test('a longer timeout also applies to orders that already wait', async () => {
    const patient = await startTestService(kind, { ORDER_TIMEOUT: String(2 * seconds) });
    try {
      const lamp = await addStocked(patient, 9);
      const short = await patient.replica(settings);
      const waits = await ordered(short, [lamp, 2]);
      await short.stop();
      for (const status of ['PENDING', 'CANCELLED']) {
        patient.clock.advance(seconds * 1000);
        await patient.settle();
        expect((await readOrder(patient, waits)).body.status).toBe(status);
      }
      expect(await shownOf(patient, lamp)).toEqual({ onHand: 9, reserved: 0, available: true });
    } finally {
      await patient.stop();
    }
  });

  test('a sweep finds orders from before the timeout was set, and skips those already queued', async () => {
    const own = await startTestService(kind, settings);
    try {
      const lamp = await addStocked(own, 9);
      const { database } = own;
      const [before, paid] = [await ordered(own, [lamp, 1]), await ordered(own, [lamp, 1])];
      await act(own, paid, 'payment');
      await own.settle();
      await database.write(session => session.run(database.build.deleteFrom('deliveries').compile()));
      await ordered(own, [lamp, 3]);
      own.clock.advance(seconds * 1000 - 1);
      const limited = timeoutsOf(own, seconds);
      expect([await limited.sweep(), await timeoutsOf(own, undefined).sweep()]).toEqual([0, 0]);
      own.clock.advance(1);
      expect([await limited.sweep(), await limited.sweep()]).toEqual([1, 0]);
      await own.settle();
      expect((await readOrder(own, before)).body.status).toBe('CANCELLED');
      expect(await limited.sweep()).toBe(0);
      expect(await shownOf(own, lamp)).toEqual({ onHand: 8, reserved: 0, available: true });

      // A delivery that was given up will cancel nothing.
      const last = await ordered(own, [lamp, 1]);
      const givenUp = database.build.updateTable('deliveries').set({ failed_at: own.clock.now() });
      await database.write(session => session.run(givenUp.compile()));
      own.clock.advance(seconds * 1000);
      expect([await limited.sweep(), await limited.sweep()]).toEqual([1, 0]);
      await own.settle();
      expect((await readOrder(own, last)).body.status).toBe('CANCELLED');
    } finally {
      await own.stop();
    }
  });

  test('an open payment is cancelled with the provider first, and a completed payment is kept', async () => {
    const stripe = fakeStripe();
    const paying = await startTestService(kind, { ...settings, ...stripe.settings });
    try {
      const lamp = await addStocked(paying, 5);
      const [open, late] = [await ordered(paying, [lamp, 1]), await ordered(paying, [lamp, 2])];
      const intentOf = async (one: { readonly path: string }) =>
        (await act(paying, one, 'payment')).body.payment.reference as string;
      const [first, second] = [await intentOf(open), await intentOf(late)];
      // The payment is confirmed, but its report has not arrived.
      stripe.pay(second);
      paying.clock.advance(seconds * 1000);
      await paying.settle();
      expect((await readOrder(paying, open)).body.status).toBe('CANCELLED');
      expect(stripe.intents.get(first)?.status).toBe('canceled');
      // Its report may never arrive.
      expect((await readOrder(paying, late)).body.status).toBe('PAID');
      const events = await eventsOf(paying, 'order', late.id);
      expect(events.map(({ type, actor }) => [type, actor]).slice(1)).toEqual([['order.paid', 'stripe']]);
      expect((await report(paying, stripe.intents.get(second))).status).toBe(200);
      paying.clock.advance(2000);
      await paying.settle();
      expect(await eventsOf(paying, 'order', late.id)).toEqual(events);
      expect(stripe.refunds).toEqual([]);
      expect(await shownOf(paying, lamp)).toEqual({ onHand: 3, reserved: 0, available: true });
    } finally {
      await paying.stop();
      await stripe.stop();
    }
  });

  test('an order that was paid with another amount is cancelled, and the payment refunded', async () => {
    const stripe = fakeStripe();
    const paying = await startTestService(kind, { ...settings, ...stripe.settings });
    try {
      const lamp = await addStocked(paying, 5);
      const late = await ordered(paying, [lamp, 1]);
      const reference: string = (await act(paying, late, 'payment')).body.payment.reference;
      stripe.pay(reference, 1);
      expect((await report(paying, stripe.intents.get(reference))).body.error).toBe('PAYMENT_MISMATCH');
      paying.clock.advance(seconds * 1000);
      await paying.settle();
      expect((await readOrder(paying, late)).body.status).toBe('CANCELLED');
      expect(stripe.refunds).toEqual([reference]);
      expect(await shownOf(paying, lamp)).toEqual({ onHand: 5, reserved: 0, available: true });
    } finally {
      await paying.stop();
      await stripe.stop();
    }
  });

  test('a payment that was opened while the former one was being cancelled stays open', async () => {
    const { database, clock } = service;
    const payments = createPaymentStore(database, createQueue(database));
    const { id } = await ordered(service, [await addStocked(service, 1), 1]);
    const opened = { order_id: id, provider: 'stripe', reference: 'pi_new', status: 'pending' } as const;
    await database.write(async session => {
      await payments.save(session, opened, clock.now());
      await payments.changeStatus(session, { ...opened, reference: 'pi_old' }, 'cancelled', clock.now());
    });
    expect(await payments.find(database.read, id)).toEqual(opened);
  });

  test('an order whose payment was in progress when it was due is cancelled once that payment has failed', async () => {
    const stripe = fakeStripe();
    const paying = await startTestService(kind, { ...settings, ...stripe.settings });
    try {
      const lamp = await addStocked(paying, 5);
      const late = await ordered(paying, [lamp, 1]);
      const intent: string = (await act(paying, late, 'payment')).body.payment.reference;
      stripe.move(intent, 'processing');
      paying.clock.advance(seconds * 1000);
      await paying.settle();
      expect((await readOrder(paying, late)).body.status).toBe('PENDING');
      // The bank has refused: the customer could try again.
      stripe.move(intent, 'requires_payment_method');
      paying.clock.advance(2000);
      await paying.settle();
      expect((await readOrder(paying, late)).body.status).toBe('CANCELLED');
      expect(stripe.intents.get(intent)?.status).toBe('canceled');
      expect(await shownOf(paying, lamp)).toEqual({ onHand: 5, reserved: 0, available: true });
    } finally {
      await paying.stop();
      await stripe.stop();
    }
  });

  test('while the provider is down, an order with an open payment waits, and an order without is cancelled', async () => {
    const stripe = fakeStripe();
    const paying = await startTestService(kind, { ...settings, ...stripe.settings });
    try {
      const lamp = await addStocked(paying, 5);
      const [opened, plain] = [await ordered(paying, [lamp, 1]), await ordered(paying, [lamp, 2])];
      expect((await act(paying, opened, 'payment')).status).toBe(200);
      stripe.mood = 'broken';
      paying.clock.advance(seconds * 1000);
      await paying.settle();
      expect((await readOrder(paying, plain)).body.status).toBe('CANCELLED');
      expect((await readOrder(paying, opened)).body.status).toBe('PENDING');
      // The timeout is already planned, so a sweep has nothing to do.
      expect(await timeoutsOf(paying, seconds).sweep()).toBe(0);
      stripe.mood = 'well';
      paying.clock.advance(2000);
      await paying.settle();
      expect((await readOrder(paying, opened)).body.status).toBe('CANCELLED');
      expect(stripe.refunds).toEqual([]);
      expect(await shownOf(paying, lamp)).toEqual({ onHand: 5, reserved: 0, available: true });
    } finally {
      await paying.stop();
      await stripe.stop();
    }
  });
});
