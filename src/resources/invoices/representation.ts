/** Invoices as they are shown: in JSON or HAL, with the links that hold for the caller. */
import { admins, type Caller, roles, staff } from '../../http/access.ts';
import { notFound } from '../../http/errors.ts';
import { addressOf } from '../../http/hal/addresses.ts';
import { hal, isHal, withSelf } from '../../http/hal/index.ts';
import { may, type RequestContext } from '../context.ts';
import { invoiceOf, type StoredInvoice } from './store.ts';

/** The representation that a GET answers. */
export function invoiceView(row: StoredInvoice, { caller, url, mediaType }: RequestContext): object {
  const self = addressOf(url, 'invoices', row.id);
  const permitted = (scope: string) => may(caller, roles, scope);
  const seesCustomer = may(caller, admins, 'users:read', row.customer_id);
  const links = withSelf(self, {
    ...(permitted('orders:read') ? { order: { href: addressOf(url, 'orders', row.order_id) } } : {}),
    ...(seesCustomer ? { customer: { href: addressOf(url, 'users', row.customer_id) } } : {}),
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
