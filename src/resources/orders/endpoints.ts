/** Orders over HTTP: placing and reading them. What is done to one is in actions.ts. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint, type RequestUrl } from '../../http/endpoint.ts';
import { HttpError, notFound } from '../../http/errors.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { halCollection, isHal } from '../../http/hal/index.ts';
import { created, ok, type Reply } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Condition } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import type { UserStore } from '../users/store.ts';
import { priced } from './pricing.ts';
import {
  itemView,
  known,
  orderViewFor,
  type Payers,
  requireChange,
  viewsOf,
  visible,
} from './representation.ts';
import type { Reservations } from './reservations.ts';
import * as schema from './schema.ts';
import type { OrderStore } from './store.ts';
import type { OrderTimeouts } from './timeouts.ts';

const tag = 'Orders';
const params = z.object({ id: identifier() });
const itemParams = z.object({ id: identifier(), itemId: identifier() });
const nestedParams = z.object({ id: identifier(), orderId: identifier() });
const one = { description: 'The order.', schema: schema.order, hal: schema.orderHal };
const page = { description: 'One page of orders.', schema: schema.orderList, hal: schema.orderHalList };
const readers = ['admin', 'editor'] as const;

export interface OrderStores {
  readonly orders: OrderStore;
  readonly reservations: Pick<Reservations, 'read'>;
  readonly timeouts: Pick<OrderTimeouts, 'plan'>;
  readonly users: UserStore;
  readonly payers: Payers;
}

export function orderEndpoints(
  { database, config, paginator }: Dependencies,
  { orders, reservations, timeouts, users, payers }: OrderStores,
): Endpoint[] {
  const orderView = orderViewFor(payers);

  const noUser = (id: number) => notFound('user', id);

  /** One page of orders, with what belongs to them: as many queries however many orders. */
  async function list(
    query: z.output<typeof schema.listAllOrders>,
    conditions: readonly Condition[],
    viewer: RequestContext,
  ): Promise<Reply> {
    const { url, mediaType } = viewer;
    const request = paginator.request(query, conditions, schema.sortColumns, 'orders');
    const listed = await orders.list(request);
    const views = await viewsOf(orders, database.read, listed.rows);
    const text = paginator.envelope(listed, request, 'orders', url, ({ id }) => {
      const view = views.get(id);
      if (view === undefined) throw new Error('an order of the page has no view');
      return JSON.stringify(orderView(view, viewer));
    });
    return shown(text, 'orders', url, mediaType);
  }

  const shown = (envelope: string, relation: string, url: RequestUrl, mediaType: string): Reply =>
    ok(isHal(mediaType) ? halCollection(envelope, relation, selfAddress(url)) : envelope);

  return [
    endpoint({
      method: 'GET',
      path: '/users/{id}/orders',
      operationId: 'listUserOrders',
      summary: 'List the orders of a user',
      tag,
      access: allow.everyone('orders:read'),
      params,
      query: schema.listOrders,
      responses: { 200: page },
      errors: ['NOT_FOUND', 'INVALID_CURSOR'],
      async handle(input) {
        const { query, caller, params } = input;
        const { id } = params;
        const user = may(caller, readers, undefined, id) ? await users.find(database.read, id) : undefined;
        if (user === undefined) throw noUser(id);
        const own: Condition = { column: 'customer_id', operator: '=', value: id };
        return list(query, [own, ...byStatus(query.status)], input);
      },
    }),
    endpoint({
      method: 'POST',
      path: '/users/{id}/orders',
      operationId: 'createOrder',
      summary: 'Place an order',
      description:
        'Names and prices are those of the moment the order is placed. All products must have one currency, and none may be named twice, but in different variants; a product that has variants is ordered by one of them. What is in stock and tracked is reserved for the order until it is paid or cancelled; where there is not enough of all of it, nothing is ordered.',
      tag,
      access: allow.everyone('orders:write'),
      params,
      body: {
        kind: 'json',
        schema: schema.createOrder,
        example: { items: [{ productId: 1, quantity: 2 }] },
      },
      responses: { 201: { ...one, description: 'The order was placed.' } },
      errors: ['NOT_FOUND', 'PRODUCT_UNAVAILABLE', 'OUT_OF_STOCK', 'MIXED_CURRENCIES', 'ORDER_TOO_LARGE'],
      handle(input) {
        const { body, caller, url, cause } = input;
        const { id } = input.params;
        return input.write(async session => {
          const customer = may(caller, readers, undefined, id) ? await users.find(session, id) : undefined;
          if (customer === undefined) throw noUser(id);
          requireChange(caller, id);
          const ordered = await reservations.read(session, body.items);
          const order = priced(body.items, ordered.named, config.DEFAULT_CURRENCY);
          const reserved = await ordered.reserve(session, cause());
          const items = order.items.map((item, index) => ({ ...item, reserved: reserved[index] ?? 0 }));
          const whole = await orders.insert(session, { ...order, customer, items }, cause());
          await timeouts.plan(session, whole.order);
          const location = `${versionRoot(url)}/orders/${whole.order.id}`;
          return created(location, orderView({ ...whole, customer }, input));
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: '/users/{id}/orders/{orderId}',
      operationId: 'getUserOrder',
      summary: 'Read an order of a user',
      tag,
      access: allow.everyone('orders:read'),
      params: nestedParams,
      responses: { 200: one },
      errors: ['NOT_FOUND'],
      async handle(input) {
        const { id, orderId } = input.params;
        const row = await orders.find(database.read, orderId);
        const own = row?.customer_id === id ? row : undefined;
        return ok(orderView(await visible(orders, database.read, own, orderId, input.caller), input));
      },
    }),
    endpoint({
      method: 'GET',
      path: '/orders',
      operationId: 'listOrders',
      summary: 'List the orders of all users',
      tag,
      access: allow.staff('orders:read'),
      query: schema.listAllOrders,
      responses: { 200: page },
      errors: ['INVALID_CURSOR'],
      handle(input) {
        const { customerId, status } = input.query;
        const conditions: Condition[] =
          customerId === undefined ? [] : [{ column: 'customer_id', operator: '=', value: customerId }];
        return list(input.query, [...conditions, ...byStatus(status)], input);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/orders/{id}',
      operationId: 'getOrder',
      summary: 'Read an order',
      tag,
      access: allow.everyone('orders:read'),
      params,
      responses: { 200: one },
      errors: ['NOT_FOUND'],
      async handle(input) {
        const { id } = input.params;
        const row = await orders.find(database.read, id);
        return ok(orderView(await visible(orders, database.read, row, id, input.caller), input));
      },
    }),
    endpoint({
      method: 'GET',
      path: '/orders/{id}/items',
      operationId: 'listOrderItems',
      summary: 'List the items of an order',
      tag,
      access: allow.everyone('orders:read'),
      params,
      query: schema.listItems,
      responses: {
        200: { description: 'One page of items.', schema: schema.itemList, hal: schema.itemHalList },
      },
      errors: ['NOT_FOUND', 'INVALID_CURSOR'],
      async handle(input) {
        const { query, caller, url, mediaType } = input;
        const { id } = input.params;
        const order = known(await orders.find(database.read, id), id, caller);
        const conditions = [{ column: 'order_id', operator: '=', value: id } as const];
        const request = paginator.request(query, conditions, { id: 'id' }, 'order items');
        const listed = await orders.listItems(request);
        const text = paginator.envelope(listed, request, 'order items', url, item =>
          JSON.stringify(itemView(item, order, input)),
        );
        return shown(text, 'items', url, mediaType);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/orders/{id}/items/{itemId}',
      operationId: 'getOrderItem',
      summary: 'Read an item of an order',
      tag,
      access: allow.everyone('orders:read'),
      params: itemParams,
      responses: {
        200: { description: 'The item.', schema: schema.orderItem, hal: schema.orderItemHal },
      },
      errors: ['NOT_FOUND'],
      async handle(input) {
        const { id, itemId } = input.params;
        const order = known(await orders.find(database.read, id), id, input.caller);
        const item = await orders.findItem(database.read, id, itemId);
        if (item === undefined)
          throw new HttpError('NOT_FOUND', {
            message: `Order ${id} has no item ${itemId || 'with this id'}.`,
          });
        return ok(itemView(item, order, input));
      },
    }),
  ];
}

function byStatus(status: schema.Status | undefined): Condition[] {
  return status === undefined ? [] : [{ column: 'status', operator: '=', value: status }];
}
