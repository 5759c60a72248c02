/** Paying and cancelling orders, from whichever source: all effects happen in one transaction. */
import type { Cause } from '../../events/outbox.ts';
import type { Transaction } from '../../storage/database.ts';
import type { createInvoiceStore } from '../invoices/store.ts';
import type { PaymentStore } from './payments.ts';
import type { Reservations } from './reservations.ts';
import type { OrderStore, WholeOrder } from './store.ts';

/** Moves a locked open order to PAID, and issues its invoice. */
export type CompletePayment = ReturnType<typeof createCompletePayment>;

export function createCompletePayment(
  orders: OrderStore,
  { deduct }: Pick<Reservations, 'deduct'>,
  invoices: Pick<ReturnType<typeof createInvoiceStore>, 'issue'>,
) {
  return async (session: Transaction, before: WholeOrder, cause: Cause): Promise<WholeOrder> => {
    const paid = await orders.move(session, before, 'PAID', cause);
    await deduct(session, before.order.id, cause);
    await invoices.issue(session, paid.order, paid.items, cause);
    return paid;
  };
}

/** Moves a locked open order to CANCELLED, releases its reserved stock, and cancels its open payment. */
export type Cancel = (session: Transaction, before: WholeOrder, cause: Cause) => Promise<WholeOrder>;

export function createCancel(
  orders: OrderStore,
  payments: PaymentStore,
  { release }: Pick<Reservations, 'release'>,
): Cancel {
  return async (session, before, cause) => {
    const { id } = before.order;
    const payment = await payments.find(session, id);
    // If the customer pays before the provider has cancelled the payment, it is refunded.
    if (payment?.status === 'pending') await payments.cancel(session, payment, cause);
    const cancelled = await orders.move(session, before, 'CANCELLED', cause);
    await release(session, id, cause);
    return cancelled;
  };
}
