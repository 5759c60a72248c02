/** Orders that are paid through the tests' fake Stripe. */
import { afterAll, afterEach, beforeAll } from 'bun:test';
import { eventsOf } from '../data/events.ts';
import { act, type Placed, placeOrder, readOrder } from '../data/orders.ts';
import type { Received } from '../http/http.ts';
import { startTestService, type TestService } from '../service/service.ts';
import { type FakeStripe, fakeStripe, type Intent } from './stripe.ts';

export interface StripeOrders {
  /** Shared by all tests of the block. */
  readonly service: TestService;
  /** In the mood `well` at the beginning of each test. */
  readonly stripe: FakeStripe;
  /** An order whose payment has been opened. */
  opened(): Promise<Placed & { readonly response: Received; readonly intent: Intent }>;
  paymentOf(orderId: number): Promise<object | undefined>;
  /** The intent as Stripe reports it once the customer has paid. */
  succeeded(intent: Intent): Intent;
  /** The types of the order's events, oldest first. */
  typesOf(id: number): Promise<string[]>;
  statusOf(placed: { readonly path: string }): Promise<string>;
}

/** Call this in a block of tests: the service and the fake Stripe start and stop with the block. */
export function stripeOrdersOn(kind: TestService['kind']): StripeOrders {
  let stripe: FakeStripe;
  let service: TestService;
  beforeAll(async () => {
    stripe = fakeStripe();
    service = await startTestService(kind, stripe.settings);
  });
  afterEach(() => {
    stripe.mood = 'well';
    stripe.body = undefined;
  });
  afterAll(async () => {
    await service.stop();
    await stripe.stop();
  });
  return {
    get service() {
      return service;
    },
    get stripe() {
      return stripe;
    },
    async opened() {
      const placed = await placeOrder(service);
      const response = await act(service, placed, 'payment');
      const intent = stripe.intents.get(response.body.payment?.reference);
      if (intent === undefined) throw new Error(`no payment was opened: ${response.text}`);
      return { ...placed, response, intent };
    },
    async paymentOf(orderId) {
      const { build, read } = service.database;
      const query = build.selectFrom('payments').select(['provider', 'reference', 'status']);
      return read.first(query.where('order_id', '=', orderId).compile());
    },
    succeeded(intent) {
      stripe.pay(intent.id);
      return { ...intent, status: 'succeeded', amount_received: intent.amount };
    },
    typesOf: async id => (await eventsOf(service, 'order', id)).map(({ type }) => type),
    statusOf: async placed => (await readOrder(service, placed)).body.status,
  };
}
