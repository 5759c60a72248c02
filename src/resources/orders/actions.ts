/** Operations on an order over HTTP: cancelling and paying it. */
import { type Access, allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint, type HandlerContext } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { type Reply, replyOk, replySecret } from '../../http/response/reply.ts';
import { type OpenPayment, PaymentError } from '../../ports/payment.ts';
import type { Session } from '../../storage/database.ts';
import type { RequestContext } from '../context.ts';
import { byId } from '../crud/index.ts';
import type { Stores } from '../stores.ts';
import type { StoredPayment } from './payments.ts';
import {
  createShowOrder,
  type OrderView,
  requireChange,
  requirePayment,
  requireView,
} from './representation.ts';
import { isOpen, requireOpen } from './rules.ts';
import * as schema from './schema.ts';
import type { StoredOrder } from './store.ts';

const tag = 'Orders';

const access: Access = allow.everyone('orders:write');

export function createOrderActions(stores: Stores): Endpoint[] {
  const { database, orders, payments, provider, completePayment, cancel, payers } = stores;
  const showOrder = createShowOrder(payers);

  /** @throws HttpError 404, 403 */
  async function requirePermitted(
    session: Session,
    order: StoredOrder | undefined,
    id: number,
    { caller }: RequestContext,
  ): Promise<OrderView> {
    const view = await requireView(orders, session, order, id, caller);
    requireChange(caller, view.order.customer_id);
    return view;
  }

  /**
   * Opens the payment with the provider, outside any transaction, since the provider may be slow. The result is
   * discarded if the order turns out not to be payable, which the transaction decides.
   */
  async function openPayment(
    { order }: OrderView,
    known: StoredPayment | undefined,
    at: number,
  ): Promise<OpenPayment | undefined> {
    const { id: orderId, total, currency, created_at: createdAt } = order;
    if (!isOpen(order.status) || total === 0) return undefined;
    if (provider === undefined) {
      // The customer may be about to confirm it: recording a manual payment too could mean being paid twice.
      if (known?.status === 'pending') throw createUnavailableError();
      return undefined;
    }
    try {
      return await provider.open({ orderId, total, currency, createdAt, at }, known?.reference ?? null);
    } catch (error) {
      throw error instanceof PaymentError ? toHttpError(error) : error;
    }
  }

  return [
    createEndpoint({
      method: 'POST',
      path: '/orders/{id}/cancel',
      operationId: 'cancelOrder',
      summary: 'Cancel an order',
      description:
        'Possible while the order is PENDING. Releases its reserved stock. If-Match takes the ETag of the order, from `GET /v1/orders/{id}`.',
      tag,
      access,
      params: byId,
      responses: {
        200: { description: 'The order was cancelled.', schema: schema.order, hal: schema.orderHal },
      },
      errors: ['ORDER_ALREADY_PAID', 'ORDER_ALREADY_CANCELLED', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, precondition, write, cause } = context;
        const { id } = params;
        return write(async session => {
          const before = await requirePermitted(session, await orders.lock(session, id), id, context);
          precondition(() => JSON.stringify(showOrder(before, context)), before.order.updated_at);
          requireOpen(before.order);
          const after = await cancel(session, before, cause());
          return replyOk(showOrder({ ...before, ...after }, context));
        });
      },
    }),
    createEndpoint({
      method: 'POST',
      path: '/orders/{id}/payment',
      operationId: 'payOrder',
      summary: 'Pay an order',
      description:
        'Possible while the order is PENDING. Without a payment provider, the payment is recorded and the order is PAID immediately; with PAYMENT_BY_HAND=staff, only administrators and API keys may do this. With a provider, the payment is created: the customer confirms it with `payment.clientSecret`, and the order is PAID when the provider reports it. If-Match takes the ETag of the order, from `GET /v1/orders/{id}`.',
      tag,
      access,
      params: byId,
      responses: {
        200: {
          description: 'The order and its payment.',
          schema: schema.paidOrder,
          hal: schema.paidOrderHal,
        },
      },
      errors: [
        'ORDER_ALREADY_PAID',
        'ORDER_ALREADY_CANCELLED',
        'PRECONDITION_FAILED',
        'PAYMENT_DECLINED',
        'PAYMENT_NOT_POSSIBLE',
        'PAYMENT_UNAVAILABLE',
      ],
      async handle(context) {
        const { params, caller, precondition, write, cause } = context;
        const { id } = params;
        const showView = (view: OrderView) => showOrder(view, context);
        const compare = (view: OrderView) =>
          precondition(() => JSON.stringify(showView(view)), view.order.updated_at);
        const current = await requirePermitted(
          database.read,
          await orders.find(database.read, id),
          id,
          context,
        );
        requirePayment(caller, current.order.customer_id, payers);
        // Before the provider, which may be unavailable, and the preconditions, which held for the first request.
        const stored = await readStoredReply(context);
        if (stored !== undefined) return stored;
        if (isOpen(current.order.status)) compare(current);
        const known = await payments.find(database.read, id);
        const open = await openPayment(current, known, cause().at);
        return write(async session => {
          const before = await requirePermitted(session, await orders.lock(session, id), id, context);
          compare(before);
          requireOpen(before.order);
          const payment = toPayment(id, open);
          // Another request has opened another payment since: that one counts, and a repeated request will find it.
          const latest = (await payments.find(session, id))?.reference ?? null;
          if (latest !== (known?.reference ?? null) && latest !== payment.reference)
            throw createUnavailableError();
          await payments.save(session, payment, cause().at);
          const settled =
            payment.status === 'succeeded' ? await completePayment(session, before, cause()) : before;
          const { provider: by, status, reference } = payment;
          const clientSecret = open?.clientSecret ?? null;
          return replySecret(200, {
            ...showView({ ...before, ...settled }),
            payment: { provider: by, status, reference, clientSecret },
          });
        });
      },
    }),
  ];
}

/** Ends a transaction whose only purpose was to find a stored response. */
class NothingStored extends Error {}

/** The stored response of the request that this one repeats; undefined if it repeats none. */
async function readStoredReply({
  header,
  write,
}: Pick<HandlerContext<unknown, unknown, unknown>, 'header' | 'write'>): Promise<Reply | undefined> {
  if (header('idempotency-key') === null) return undefined;
  try {
    return await write(() => Promise.reject(new NothingStored()));
  } catch (error) {
    if (error instanceof NothingStored) return undefined;
    throw error;
  }
}

/** The row of a payment that was opened with the provider or, if nothing was opened, recorded by hand. */
function toPayment(orderId: number, open: OpenPayment | undefined): StoredPayment {
  if (open === undefined)
    return { order_id: orderId, provider: 'manual', reference: null, status: 'succeeded' };
  const status = open.succeeded ? 'succeeded' : 'pending';
  return { order_id: orderId, provider: 'stripe', reference: open.reference, status };
}

/** Seconds until the client should retry. */
const retryAfter = '5';

const createUnavailableError = (cause?: unknown) =>
  new HttpError('PAYMENT_UNAVAILABLE', { headers: { 'Retry-After': retryAfter }, cause });

/** Maps a failure of the provider to an error for the caller; the provider's own message is only logged. */
function toHttpError(error: PaymentError): HttpError {
  switch (error.kind) {
    case 'declined':
      return new HttpError('PAYMENT_DECLINED', { cause: error });
    case 'impossible':
      return new HttpError('PAYMENT_NOT_POSSIBLE', { cause: error });
    default:
      return createUnavailableError(error);
  }
}
