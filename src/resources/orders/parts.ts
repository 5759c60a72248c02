/** Everything about orders, put together. */
import type { Config } from '../../config.ts';
import type { Consumer } from '../../events/dispatcher.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Payments } from '../../ports/payment.ts';
import { stripeProvider, stripeReports } from '../../ports/stripe.ts';
import type { Services } from '../services.ts';
import { orderActions } from './actions.ts';
import { type OrderStores, orderEndpoints } from './endpoints.ts';
import { paymentConsumer, paymentStore } from './payments.ts';
import { type IssueInvoice, settlement } from './settle.ts';
import { stripeWebhook } from './webhook.ts';

export interface OrderParts {
  readonly endpoints: readonly Endpoint[];
  readonly consumer: Consumer;
}

export function orderParts(
  services: Services,
  { orders, products, users, issueInvoice }: OrderStores & { readonly issueInvoice: IssueInvoice },
): OrderParts {
  const { database, queue, config, clock } = services;
  const payments = paymentStore(database, queue);
  const settle = settlement(orders, issueInvoice);
  const { provider, reports } = paymentsOf(config, clock);
  return {
    endpoints: [
      ...orderEndpoints(services, { orders, products, users }),
      ...orderActions(services, { orders, payments, provider, settle }),
      ...stripeWebhook({ orders, payments, reports, settle }),
    ],
    consumer: paymentConsumer(database, provider, clock.now),
  };
}

/** Reports are still taken where no new payments are opened any more. */
function paymentsOf(
  { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_URL }: Config,
  clock: Clock,
): Payments {
  return {
    provider: STRIPE_SECRET_KEY === undefined ? undefined : stripeProvider(STRIPE_SECRET_KEY, STRIPE_URL),
    reports: STRIPE_WEBHOOK_SECRET === undefined ? undefined : stripeReports(STRIPE_WEBHOOK_SECRET, clock),
  };
}
