/** Invoices as they are shown: in JSON or HAL, with the links that hold for the caller. */
import { admins, type Caller, roles, staff } from '../../http/access.ts';
import { notFound } from '../../http/errors.ts';
import { addressOf } from '../../http/hal/addresses.ts';
import { hal, isHal, withSelf } from '../../http/hal/index.ts';
import type { Session } from '../../storage/database.ts';
import { may, type RequestContext } from '../context.ts';
import type { OrderStore } from '../orders/store.ts';
import { invoiceOf, type StoredInvoice } from './store.ts';

const seesCustomer = (caller: Caller, customerId: number) => may(caller, admins, 'users:read', customerId);

/** The customers of invoices that the caller may see, as far as they are still there: one query. */
export async function customersOf(
  store: Pick<OrderStore, 'customers'>,
  session: Session,
  rows: readonly StoredInvoice[],
  caller: Caller,
): Promise<Customers> {
  const ids = rows.map(row => row.customer_id).filter(id => seesCustomer(caller, id));
  return store.customers(session, [...new Set(ids)]);
}

/** Those that are still there, by id. */
export type Customers = Pick<ReadonlyMap<number, unknown>, 'has'>;

/** When what is shown was last changed, where that is known: it also changes when the customer's account ends. */
export function changedAt(row: StoredInvoice, customers: Customers, caller: Caller): number | undefined {
  return seesCustomer(caller, row.customer_id) && !customers.has(row.customer_id)
    ? undefined
    : row.updated_at;
}

/** The representation that a GET answers. */
export function invoiceView(
  row: StoredInvoice,
  customers: Customers,
  { caller, url, mediaType }: RequestContext,
): object {
  const self = addressOf(url, 'invoices', row.id);
  const permitted = (scope: string) => may(caller, roles, scope);
  const customer = customers.has(row.customer_id) && seesCustomer(caller, row.customer_id);
  const links = withSelf(self, {
    ...(permitted('orders:read') ? { order: { href: addressOf(url, 'orders', row.order_id) } } : {}),
    ...(customer ? { customer: { href: addressOf(url, 'users', row.customer_id) } } : {}),
    ...(permitted('invoices:write') ? { send: { href: `${self}/send`, method: 'POST' } } : {}),
  });
  const invoice = invoiceOf(row);
  if (!isHal(mediaType)) return { ...invoice, _links: links };
  const { items, ...members } = invoice;
  return hal(members, links, { item: items });
}

/** @throws HttpError 404 when there is no such invoice, or none that the caller may know of */
export function visible(row: StoredInvoice | undefined, id: number, caller: Caller): StoredInvoice {
  if (row === undefined || !may(caller, staff, undefined, row.customer_id)) throw notFound('invoice', id);
  return row;
}
