/** Invoices as they are shown: in JSON or HAL, with the links that hold for the caller. */
import type { Caller } from '../../http/access.ts';
import { notFound } from '../../http/errors.ts';
import { versionRoot } from '../../http/hal/addresses.ts';
import { hal, isHal, type Links } from '../../http/hal/index.ts';
import { may, type RequestContext } from '../context.ts';
import { invoiceOf, type StoredInvoice } from './store.ts';

/** The representation that a GET answers. */
export function invoiceView(row: StoredInvoice, { caller, url, mediaType }: RequestContext): object {
  const root = versionRoot(url);
  const self = `${root}/invoices/${row.id}`;
  const permitted = (scope: string) => caller.kind !== 'key' || caller.scopes.has(scope);
  const seesCustomer = may(caller, ['admin'], 'users:read', row.customer_id);
  const links: Links = {
    self: { href: self },
    ...(permitted('orders:read') ? { order: { href: `${root}/orders/${row.order_id}` } } : {}),
    ...(seesCustomer ? { customer: { href: `${root}/users/${row.customer_id}` } } : {}),
    ...(permitted('invoices:write') ? { send: { href: `${self}/send`, method: 'POST' } } : {}),
  };
  const invoice = invoiceOf(row);
  if (!isHal(mediaType)) return { ...invoice, _links: links };
  const { items, ...members } = invoice;
  return hal(members, links, { item: items });
}

/** @throws HttpError 404 when there is no such invoice, or none that the caller may know of */
export function visible(row: StoredInvoice | undefined, id: number, caller: Caller): StoredInvoice {
  if (row === undefined || !may(caller, ['admin', 'editor'], undefined, row.customer_id))
    throw notFound('invoice', id);
  return row;
}
