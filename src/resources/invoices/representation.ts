/** The representation of invoices: JSON or HAL, with the links that the caller may follow. */
import { admins, type Caller, roles, staff } from '../../http/access.ts';
import { createNotFoundError } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { addSelfLink, isHal, toHal } from '../../http/hal/index.ts';
import type { Session } from '../../storage/database.ts';
import { may, type RequestContext } from '../context.ts';
import type { OrderStore } from '../orders/store.ts';
import { type StoredInvoice, toInvoice } from './store.ts';

const maySeeCustomer = (caller: Caller, customerId: number) => may(caller, admins, 'users:read', customerId);

/** The customers of invoices that still exist and that the caller may see; one query. */
export async function readCustomers(
  store: Pick<OrderStore, 'customers'>,
  session: Session,
  rows: readonly StoredInvoice[],
  caller: Caller,
): Promise<Customers> {
  const ids = rows.map(row => row.customer_id).filter(id => maySeeCustomer(caller, id));
  return store.customers(session, [...new Set(ids)]);
}

/** Existing customers by id. */
export type Customers = Pick<ReadonlyMap<number, unknown>, 'has'>;

/** When the representation last changed; undefined if unknown: deleting the customer's account changes it too. */
export function findChangeTime(row: StoredInvoice, customers: Customers, caller: Caller): number | undefined {
  return maySeeCustomer(caller, row.customer_id) && !customers.has(row.customer_id)
    ? undefined
    : row.updated_at;
}

/** The body of a GET. */
export function buildInvoiceView(
  row: StoredInvoice,
  customers: Customers,
  { caller, url, mediaType }: RequestContext,
): object {
  const self = buildAddress(url, 'invoices', row.id);
  const isPermitted = (scope: string) => may(caller, roles, scope);
  const customer = customers.has(row.customer_id) && maySeeCustomer(caller, row.customer_id);
  const links = addSelfLink(self, {
    ...(isPermitted('orders:read') ? { order: { href: buildAddress(url, 'orders', row.order_id) } } : {}),
    ...(customer ? { customer: { href: buildAddress(url, 'users', row.customer_id) } } : {}),
    ...(isPermitted('invoices:write') ? { send: { href: `${self}/send`, method: 'POST' } } : {}),
  });
  const invoice = toInvoice(row);
  if (!isHal(mediaType)) return { ...invoice, _links: links };
  const { items, ...members } = invoice;
  return toHal(members, links, { item: items });
}

/** @throws HttpError 404 if there is no such invoice, or the caller may not know of it */
export function requireVisible(row: StoredInvoice | undefined, id: number, caller: Caller): StoredInvoice {
  if (row === undefined || !may(caller, staff, undefined, row.customer_id))
    throw createNotFoundError('invoice', id);
  return row;
}
