/** The representation of orders: JSON or HAL, with the links that the caller may follow. */

import { admins, type Caller, staff } from '../../http/access.ts';
import type { RequestUrl } from '../../http/endpoint.ts';
import { createNotFoundError, HttpError } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { addSelfLink, isHal, toHal } from '../../http/hal/index.ts';
import type { Session } from '../../storage/database.ts';
import { may, type RequestContext } from '../context.ts';
import { isOpen } from './rules.ts';
import type { OrderItem } from './schema.ts';
import {
  type Customer,
  type OrderStore,
  type StoredItem,
  type StoredOrder,
  toItem,
  toOrder,
  type WholeOrder,
} from './store.ts';

export interface OrderView extends WholeOrder {
  /** Undefined once the customer is deleted. */
  readonly customer: Customer | undefined;
}

/** Whether the caller may place, pay and cancel the orders of this user. */
function mayChange(caller: Caller, customerId: number): boolean {
  return may(caller, admins, 'orders:write', customerId);
}

/** Who may pay an order: anyone who may change it, or only staff, if payments are recorded by hand and so set. */
export type Payers = 'customers' | 'staff';

/** @param customerId the customer of the order */
function mayPay(caller: Caller, customerId: number, payers: Payers): boolean {
  return mayChange(caller, customerId) && (payers === 'customers' || may(caller, admins, undefined));
}

/** The body of a GET. @param payers who may pay orders, and therefore sees the link */
export const createShowOrder =
  (payers: Payers) =>
  ({ customer, ...whole }: OrderView, { caller, url, mediaType }: RequestContext): object => {
    const { order } = whole;
    const self = buildAddress(url, 'orders', order.id);
    const customerAddress =
      customer !== undefined && may(caller, admins, 'users:read', customer.id)
        ? buildAddress(url, 'users', customer.id)
        : undefined;
    const changeable = isOpen(order.status) && mayChange(caller, order.customer_id);
    const payable = isOpen(order.status) && mayPay(caller, order.customer_id, payers);
    const invoiced = order.paid_at !== null && may(caller, staff, 'invoices:read', order.customer_id);
    const invoices = `${buildAddress(url, 'invoices')}?orderId=${order.id}`;
    const links = addSelfLink(self, {
      items: { href: `${self}/items` },
      ...(customerAddress === undefined ? {} : { customer: { href: customerAddress } }),
      ...(invoiced ? { invoices: { href: invoices } } : {}),
      ...(changeable ? { cancel: { href: `${self}/cancel`, method: 'POST' } as const } : {}),
      ...(payable ? { pay: { href: `${self}/payment`, method: 'POST' } as const } : {}),
    });
    const shown = toOrder(whole);
    if (!isHal(mediaType)) return { ...shown, _links: links };
    const { items, ...members } = shown;
    const embedded =
      customer === undefined || customerAddress === undefined
        ? {}
        : { customer: { id: customer.id, name: customer.name, _links: addSelfLink(customerAddress) } };
    const addressed = items.map(item => addAddress(item, order.id, url));
    // The link `items` leads to their list; each embedded one is an `item` (IANA link relations).
    return toHal(members, links, { ...embedded, item: addressed });
  };

/** The body of a GET of an item. */
export function buildItemView(
  item: StoredItem,
  { id, currency }: StoredOrder,
  { url, mediaType }: RequestContext,
): object {
  const shown = toItem(item, currency);
  return isHal(mediaType) ? addAddress(shown, id, url) : shown;
}

const addAddress = (item: OrderItem, orderId: number, url: RequestUrl) => ({
  ...item,
  _links: addSelfLink(buildAddress(url, 'orders', orderId, 'items', item.id)),
});

/** Reads the items and customers of orders; the number of queries depends only on the number of items. */
export async function readViews(
  store: OrderStore,
  session: Session,
  orders: readonly StoredOrder[],
): Promise<ReadonlyMap<number, OrderView>> {
  const items = await store.itemsOf(
    session,
    orders.map(({ id }) => id),
  );
  const customers = await store.customers(session, [...new Set(orders.map(order => order.customer_id))]);
  return new Map(
    orders.map(order => [
      order.id,
      { order, items: items.get(order.id) ?? [], customer: customers.get(order.customer_id) },
    ]),
  );
}

/** @throws HttpError 404 if there is no such order, or the caller may not know of it */
export function requireKnown(order: StoredOrder | undefined, id: number, caller: Caller): StoredOrder {
  if (order !== undefined && may(caller, staff, undefined, order.customer_id)) return order;
  throw createNotFoundError('order', id);
}

/** The order with its items and customer. @throws HttpError 404 as `requireKnown` does */
export async function requireView(
  store: OrderStore,
  session: Session,
  order: StoredOrder | undefined,
  id: number,
  caller: Caller,
): Promise<OrderView> {
  const view = (await readViews(store, session, [requireKnown(order, id, caller)])).get(id);
  if (view === undefined) throw new Error('a view of one order gave none');
  return view;
}

/** @throws HttpError 403 for a caller who may see the order but not change it */
export function requireChange(caller: Caller, customerId: number): void {
  if (mayChange(caller, customerId)) return;
  throw new HttpError('FORBIDDEN', {
    message: 'Only the customer or an administrator may place, pay or cancel an order.',
  });
}

/** @throws HttpError 403 */
export function requirePayment(caller: Caller, customerId: number, payers: Payers): void {
  requireChange(caller, customerId);
  if (mayPay(caller, customerId, payers)) return;
  throw new HttpError('FORBIDDEN', {
    message: 'Only an administrator may record payments here; ask the shop how to pay.',
  });
}
