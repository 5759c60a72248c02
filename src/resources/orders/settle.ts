/** What happens when an order has been paid or cancelled, however it was: one transaction for all of it. */
import type { Cause } from '../../events/outbox.ts';
import type { Transaction } from '../../storage/database.ts';
import type { PaymentStore } from './payments.ts';
import type { Reservations } from './reservations.ts';
import type { OrderStore, StoredItem, StoredOrder, WholeOrder } from './store.ts';

/** Writes the invoice of an order that has just been paid, in the same transaction. */
export type IssueInvoice = (
  session: Transaction,
  order: StoredOrder,
  items: readonly StoredItem[],
  cause: Cause,
) => Promise<void>;

/** Moves an open order that is locked to PAID, and has its invoice issued. */
export type CompletePayment = (session: Transaction, before: WholeOrder, cause: Cause) => Promise<WholeOrder>;

export function createCompletePayment(
  orders: OrderStore,
  { deduct }: Pick<Reservations, 'deduct'>,
  issueInvoice: IssueInvoice,
): CompletePayment {
  return async (session, before, cause) => {
    const paid = await orders.move(session, before, 'PAID', cause);
    await deduct(session, before.order.id, cause);
    await issueInvoice(session, paid.order, paid.items, cause);
    return paid;
  };
}

/** Moves an open order that is locked to CANCELLED: its reserved stock is released, an open payment cancelled. */
export type Cancel = (session: Transaction, before: WholeOrder, cause: Cause) => Promise<WholeOrder>;

export function createCancel(
  orders: OrderStore,
  payments: PaymentStore,
  { release }: Pick<Reservations, 'release'>,
): Cancel {
  return async (session, before, cause) => {
    const { id } = before.order;
    const payment = await payments.find(session, id);
    // Paid all the same, before the provider knows: then it is refunded.
    if (payment?.status === 'pending') await payments.cancel(session, payment, cause);
    const cancelled = await orders.move(session, before, 'CANCELLED', cause);
    await release(session, id, cause);
    return cancelled;
  };
}
