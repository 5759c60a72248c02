/** Orders over HTTP: placing and reading them. Operations on an order are in actions.ts. */
import { z } from 'zod';
import { allow, type Caller, staff } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { HttpError, requireFound } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { replyCreated, replyOk } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Session } from '../../storage/database.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import { byId } from '../crud/index.ts';
import { createListEndpoint, replyPage } from '../crud/list.ts';
import type { Stores } from '../stores.ts';
import { priceLines } from './pricing.ts';
import {
  buildItemView,
  createShowOrder,
  readViews,
  requireChange,
  requireKnown,
  requireView,
} from './representation.ts';
import * as schema from './schema.ts';
import type { StoredOrder } from './store.ts';

const tag = 'Orders';
/** The settings that operations on what belongs to one order share. */
const reading = { method: 'GET', tag, access: allow.everyone('orders:read') } as const;
const itemParams = z.object({ id: identifier(), itemId: identifier() });
const nestedParams = z.object({ id: identifier(), orderId: identifier() });
const sorting =
  '`sort=total` sorts by the number of minor units (cents), regardless of the currency: JPY 500 comes before EUR 6.00. Only totals in the same currency are comparable.';
const one = { description: 'The order.', schema: schema.order, hal: schema.orderHal };

export function createOrderEndpoints(stores: Stores): Endpoint[] {
  const { database, config, paginator, orders, reservations, timeouts, users, payers } = stores;
  const showOrder = createShowOrder(payers);

  /** The user who owns the orders. @throws HttpError 404, also for a user that the caller may not know of */
  const requireCustomer = async (session: Session, id: number, caller: Caller) =>
    requireFound('user', id, may(caller, staff, undefined, id) ? await users.find(session, id) : undefined);

  const listed = {
    tag,
    description: sorting,
    page: schema.orderPage,
    name: 'orders',
    list: orders.list,
    sortColumns: schema.sortColumns,
    /** Reads orders with their items and customers; only the number of items decides how many queries that takes. */
    async textsOf(context: RequestContext, rows: readonly StoredOrder[]) {
      const views = await readViews(orders, database.read, rows);
      return ({ id }: StoredOrder) => {
        const view = views.get(id);
        if (view === undefined) throw new Error('an order of the page has no view');
        return JSON.stringify(showOrder(view, context));
      };
    },
  };

  return [
    createListEndpoint(paginator, {
      ...listed,
      path: '/users/{id}/orders',
      params: byId,
      operationId: 'listUserOrders',
      summary: 'List the orders of a user',
      access: allow.everyone('orders:read'),
      query: schema.listOrders,
      async requested({ params: { id }, query, caller }) {
        await requireCustomer(database.read, id, caller);
        return { query, conditions: createEqualConditions({ customer_id: id, status: query.status }) };
      },
    }),
    createEndpoint({
      method: 'POST',
      path: '/users/{id}/orders',
      operationId: 'createOrder',
      summary: 'Place an order',
      description:
        'Names and prices are those of the moment when the order is placed. Each line costs price × quantity, rounded half up to the minor unit of the currency; the order costs the sum of its lines. All products must have the same currency. A product may be named twice only in different variants; a product with variants is ordered by naming one. Tracked stock is reserved until the order is paid or cancelled; if there is not enough for every line, nothing is ordered.',
      tag,
      access: allow.everyone('orders:write'),
      params: byId,
      body: {
        kind: 'json',
        schema: schema.createOrder,
        example: { items: [{ productId: 2, quantity: 2 }] },
      },
      responses: { 201: { ...one, description: 'The order was placed.' } },
      errors: ['PRODUCT_UNAVAILABLE', 'OUT_OF_STOCK', 'MIXED_CURRENCIES', 'ORDER_TOO_LARGE'],
      handle(context) {
        const { body, params, caller, url, write, cause } = context;
        const { id } = params;
        return write(async session => {
          const customer = await requireCustomer(session, id, caller);
          requireChange(caller, id);
          const ordered = await reservations.read(session, body.items);
          const order = priceLines(body.items, ordered.named, config.DEFAULT_CURRENCY);
          const reserved = await ordered.reserve(session, cause());
          const items = order.items.map((item, index) => ({ ...item, reserved: reserved[index] ?? 0 }));
          const whole = await orders.insert(session, { ...order, customer, items }, cause());
          await timeouts.plan(session, whole.order);
          const location = buildAddress(url, 'orders', whole.order.id);
          return replyCreated(location, showOrder({ ...whole, customer }, context));
        });
      },
    }),
    createEndpoint({
      ...reading,
      path: '/users/{id}/orders/{orderId}',
      operationId: 'getUserOrder',
      summary: 'Read an order of a user',
      params: nestedParams,
      responses: { 200: one },
      async handle(context) {
        const { params, caller } = context;
        const { id, orderId } = params;
        const row = await orders.find(database.read, orderId);
        const own = row?.customer_id === id ? row : undefined;
        return replyOk(showOrder(await requireView(orders, database.read, own, orderId, caller), context));
      },
    }),
    createListEndpoint(paginator, {
      ...listed,
      path: '/orders',
      operationId: 'listOrders',
      summary: 'List the orders of all users',
      access: allow.staff('orders:read'),
      query: schema.listAllOrders,
      requested({ query }) {
        const { customerId, status } = query;
        return { query, conditions: createEqualConditions({ customer_id: customerId, status }) };
      },
    }),
    createEndpoint({
      ...reading,
      path: '/orders/{id}',
      operationId: 'getOrder',
      summary: 'Read an order',
      params: byId,
      responses: { 200: one },
      async handle(context) {
        const { params, caller } = context;
        const { id } = params;
        const row = await orders.find(database.read, id);
        return replyOk(showOrder(await requireView(orders, database.read, row, id, caller), context));
      },
    }),
    createEndpoint({
      ...reading,
      path: '/orders/{id}/items',
      operationId: 'listOrderItems',
      summary: 'List the items of an order',
      params: byId,
      query: schema.listItems,
      responses: { 200: { description: 'One page of items.', ...schema.itemPage } },
      errors: ['INVALID_CURSOR'],
      async handle(context) {
        const { query, params, caller, url } = context;
        const { id } = params;
        const order = requireKnown(await orders.find(database.read, id), id, caller);
        const request = paginator.request(
          query,
          createEqualConditions({ order_id: id }),
          { id: 'id' },
          'order items',
        );
        const listed = await orders.listItems(request);
        const texts = listed.rows.map(item => JSON.stringify(buildItemView(item, order, context)));
        const page = paginator.page(listed, request, { list: 'order items', url, items: texts });
        return replyPage(context, page, 'items');
      },
    }),
    createEndpoint({
      ...reading,
      path: '/orders/{id}/items/{itemId}',
      operationId: 'getOrderItem',
      summary: 'Read an item of an order',
      params: itemParams,
      responses: {
        200: { description: 'The item.', schema: schema.orderItem, hal: schema.orderItemHal },
      },
      async handle(context) {
        const { params, caller } = context;
        const { id, itemId } = params;
        const order = requireKnown(await orders.find(database.read, id), id, caller);
        const item = await orders.findItem(database.read, id, itemId);
        if (item === undefined)
          throw new HttpError('NOT_FOUND', {
            message: `Order ${id} has no item ${itemId || 'with this id'}.`,
          });
        return replyOk(buildItemView(item, order, context));
      },
    }),
  ];
}
