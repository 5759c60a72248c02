/** Invoices as they are shown: in JSON or HAL, with the links that hold for anyone who asks. */
import { type Caller, maySee } from '../../http/access.ts';
import type { RequestUrl } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { versionRoot } from '../../http/hal/addresses.ts';
import { hal, isHal, type Links } from '../../http/hal/index.ts';
import { invoiceOf, type StoredInvoice } from './store.ts';

/** Who asks, where, and in which media type. */
export interface Viewer {
  readonly caller: Caller;
  readonly url: RequestUrl;
  readonly mediaType: string;
}

/** The representation that a GET answers. */
export function invoiceView(row: StoredInvoice, { caller, url, mediaType }: Viewer): object {
  const root = versionRoot(url);
  const self = `${root}/invoices/${row.id}`;
  const permitted = (scope: string) => caller.kind !== 'key' || caller.scopes.has(scope);
  const seesCustomer = permitted('users:read') && maySee(caller, row.customer_id, ['admin']);
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
  if (row === undefined || !maySee(caller, row.customer_id, ['admin', 'editor']))
    throw notFound('invoice', id);
  return row;
}
