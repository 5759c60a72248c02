/** What happens when an order has been paid, however it was: one transaction for all of it. */
import type { Cause } from '../../events/outbox.ts';
import type { Transaction } from '../../storage/database.ts';
import type { OrderStore, StoredItem, StoredOrder, WholeOrder } from './store.ts';

/** Writes the invoice of an order that has just been paid, in the same transaction. */
export type IssueInvoice = (
  session: Transaction,
  order: StoredOrder,
  items: readonly StoredItem[],
  cause: Cause,
) => Promise<void>;

/** Moves an open order that is locked to PAID, and has its invoice issued. */
export type Settle = (session: Transaction, before: WholeOrder, cause: Cause) => Promise<WholeOrder>;

export function settlement(orders: OrderStore, issueInvoice: IssueInvoice): Settle {
  return async (session, before, cause) => {
    const paid = await orders.move(session, before, 'PAID', cause);
    await issueInvoice(session, paid.order, paid.items, cause);
    return paid;
  };
}
