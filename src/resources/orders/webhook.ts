/**
 * Reports from Stripe over HTTP. They may arrive late, twice and in any order: each is applied to the current state of
 * the order, in one transaction, and a repetition changes nothing.
 */
import { z } from 'zod';
import type { Cause } from '../../events/outbox.ts';
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { createFieldError, HttpError } from '../../http/errors.ts';
import { parseJson } from '../../http/request/json.ts';
import { replySecret } from '../../http/response/reply.ts';
import { prose } from '../../http/schema.ts';
import { PaymentError, type PaymentMade, type PaymentReports } from '../../ports/payment.ts';
import type { Transaction } from '../../storage/database.ts';
import type { Stores } from '../stores.ts';
import { isOpen } from './rules.ts';
import type { StoredOrder } from './store.ts';

/** In bytes; Stripe's own events are far smaller. */
const bodyLimit = 262_144;

/** The members of Stripe's event that matter here. */
const stripeEvent = z
  .object({ id: prose(255), type: prose(255) })
  .meta({ id: 'StripeEvent', example: { id: 'evt_3PqXyz', type: 'payment_intent.created' } });
const received = z.object({ received: z.literal(true) }).meta({ id: 'StripeEventReceived' });

export function createStripeWebhook({
  orders,
  payments,
  reports,
  completePayment,
  unsignedReports,
}: Stores): Endpoint[] {
  /** @throws HttpError 422 if the amount is not the price of the order */
  function requireWhole(order: StoredOrder, made: PaymentMade): void {
    const { currency } = order;
    if (reports?.amountOf(order) === made.amount && currency.toLowerCase() === made.currency) return;
    throw new HttpError('PAYMENT_MISMATCH');
  }

  async function take(session: Transaction, made: PaymentMade, cause: Cause): Promise<void> {
    // Unknown payments belong to another installation with the same account.
    const named = await payments.findByReference(session, made.reference);
    const order = named === undefined ? undefined : await orders.lock(session, named.order_id);
    if (order === undefined) return;
    // Read again under the order's lock: another process may just have applied the report.
    const payment = await payments.find(session, order.id);
    if (payment?.reference !== made.reference) return;
    if (isOpen(order.status)) {
      requireWhole(order, made);
      await payments.save(session, { ...payment, status: 'succeeded' }, cause.at);
      await completePayment(session, { order, items: await orders.items(session, order.id) }, cause);
    } else if (payment.status === 'pending' || payment.status === 'cancelled') {
      // Paid after the order was cancelled.
      await payments.refund(session, payment, cause);
    }
  }

  /** The payment in a report; undefined if the report is irrelevant. @throws HttpError 400 */
  function read(body: Uint8Array, signature: string | null): Promise<PaymentMade | undefined> {
    if (reports === undefined) throw new Error('a report was read that the settings do not provide for');
    parseJson(body);
    return readVerifiedPayment(reports, body, signature);
  }

  return [
    createEndpoint({
      method: 'POST',
      path: '/webhooks/stripe',
      operationId: 'receiveStripeEvent',
      summary: 'Receive events from Stripe',
      description:
        'For Stripe only: the body must be signed with STRIPE_WEBHOOK_SECRET (header `Stripe-Signature`). `payment_intent.succeeded` makes the order PAID; the payment of a cancelled order is refunded. Other events are acknowledged and ignored.',
      tag: 'Orders',
      access: allow.public,
      body: {
        kind: 'raw',
        schema: stripeEvent,
        limit: bodyLimit,
      },
      responses: { 200: { description: 'The event was received.', schema: received } },
      errors: ['INVALID_SIGNATURE', 'PAYMENT_MISMATCH', 'NOT_FOUND', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE'],
      idempotent: false,
      ...(reports === undefined ? { notOffered: 'This service does not accept reports from Stripe.' } : {}),
      // Stripe may report as often as necessary: only requests without a valid signature are charged, after the check.
      exemptFromQuota: true,
      async handle({ body, header, address, charge, write, cause }) {
        let made: PaymentMade | undefined;
        try {
          made = await read(body, header('stripe-signature'));
        } catch (error) {
          if (!isSigned(error))
            await charge(unsignedReports, address, 'Too many reports without a valid signature');
          throw error;
        }
        const reply = replySecret(200, { received: true });
        if (made === undefined) return reply;
        return write(async session => {
          await take(session, made, { ...cause(), actor: 'stripe' });
          return reply;
        });
      },
    }),
  ];
}

/** Whether a report was refused for its content, which is validated only after the signature. */
const isSigned = (error: unknown) => error instanceof HttpError && error.code === 'VALIDATION_FAILED';

/** @throws HttpError 400 */
async function readVerifiedPayment(
  reports: PaymentReports,
  body: Uint8Array,
  signature: string | null,
): Promise<PaymentMade | undefined> {
  try {
    return await reports.read(body, signature);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    if (error.kind === 'malformed') throw createFieldError('body', 'type', 'must be a Stripe event');
    throw new HttpError('INVALID_SIGNATURE', { cause: error });
  }
}
