/** Orders as they are shown: in JSON or HAL, with the links that hold for whoever asks. */

import { type Caller, maySee } from '../../http/access.ts';
import { versionRoot } from '../../http/addresses.ts';
import type { RequestUrl } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { hal, isHal, type Links } from '../../http/hal.ts';
import type { Session } from '../../storage/database.ts';
import { isOpen } from './rules.ts';
import { type Customer, type OrderStore, orderOf, type StoredOrder, type WholeOrder } from './store.ts';

/** Who asks, where, and in which media type. */
export interface Viewer {
  readonly caller: Caller;
  readonly url: RequestUrl;
  readonly mediaType: string;
}

export interface OrderView extends WholeOrder {
  /** Undefined when the customer is no longer there. */
  readonly customer: Customer | undefined;
}

/** Whether the caller may place, pay and cancel the orders of this user. */
export function mayChange(caller: Caller, customerId: number): boolean {
  if (caller.kind === 'key') return caller.scopes.has('orders:write');
  return maySee(caller, customerId, ['admin']);
}

/** Whether links may lead the caller to this user. */
function maySeeCustomer(caller: Caller, customerId: number): boolean {
  if (caller.kind === 'key') return caller.scopes.has('users:read');
  return maySee(caller, customerId, ['admin']);
}

/** The representation that a GET answers. */
export function orderView({ customer, ...whole }: OrderView, { caller, url, mediaType }: Viewer): object {
  const { order } = whole;
  const root = versionRoot(url);
  const self = `${root}/orders/${order.id}`;
  const customerLink =
    customer !== undefined && maySeeCustomer(caller, customer.id)
      ? { href: `${root}/users/${customer.id}` }
      : undefined;
  const changeable = isOpen(order.status) && mayChange(caller, order.customer_id);
  const links: Links = {
    self: { href: self },
    items: { href: `${self}/items` },
    ...(customerLink === undefined ? {} : { customer: customerLink }),
    ...(changeable
      ? {
          cancel: { href: `${self}/cancel`, method: 'POST' },
          pay: { href: `${self}/payment`, method: 'POST' },
        }
      : {}),
  };
  const { items, ...members } = orderOf(whole);
  if (!isHal(mediaType)) return { ...orderOf(whole), _links: links };
  const embedded =
    customer === undefined || customerLink === undefined
      ? {}
      : { customer: { id: customer.id, name: customer.name, _links: { self: customerLink } } };
  return hal(members, links, { ...embedded, items });
}

/** Reads what belongs to orders: their items and customers, one query each however many they are. */
export async function viewsOf(
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

/** @throws HttpError 404 when there is no such order, or none that the caller may know of */
export async function visible(
  store: OrderStore,
  session: Session,
  order: StoredOrder | undefined,
  id: number,
  caller: Caller,
): Promise<OrderView> {
  if (order === undefined || !maySee(caller, order.customer_id, ['admin', 'editor']))
    throw new HttpError('NOT_FOUND', { message: `There is no order ${id || 'with this id'}.` });
  const view = (await viewsOf(store, session, [order])).get(order.id);
  if (view === undefined) throw new Error('a view of one order gave none');
  return view;
}

/** @throws HttpError 403: those who may see an order but not change it are told so */
export function requireChange(caller: Caller, customerId: number): void {
  if (mayChange(caller, customerId)) return;
  throw new HttpError('FORBIDDEN', {
    message: 'Orders are placed, paid and cancelled by their customer or an administrator.',
  });
}
