/** The queries of orders and their items. Amounts are whole minor units; the items of an order never change. */
import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import { toMajor } from '../../money.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { computeChangeMoment, toDates, toIsoDate } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createSearchIndex } from '../../storage/search/index.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import { takeTurn } from '../../turns/index.ts';
import { toOrderText } from '../search/texts.ts';
import type { Order, OrderItem, Status } from './schema.ts';

/** An order row; name and address of the customer are those when the order was placed. */
export type StoredOrder = Omit<Row<'orders'>, 'status'> & { readonly status: Status };
export type StoredItem = Omit<Row<'order_items'>, 'reserved'>;

export type NewItem = Omit<StoredItem, 'id' | 'order_id'>;

interface NewOrder {
  readonly customer: { readonly id: number; readonly name: string; readonly email: string };
  readonly currency: string;
  readonly total: number;
  /** In the order requested, each with its reserved quantity. */
  readonly items: readonly (NewItem & { readonly reserved: number })[];
}

export interface WholeOrder {
  readonly order: StoredOrder;
  readonly items: readonly StoredItem[];
}

/** A user, as shown in orders. */
export type Customer = Pick<Row<'users'>, 'id' | 'name'>;

export type OrderStore = ReturnType<typeof createOrderStore>;

/** Items that one statement reads, with at most 2.5 MB of options; more than one order has. */
const itemsAtOnce = 500;

const itemColumns = [
  'order_id',
  'product_id',
  'variant_id',
  'name',
  'sku',
  'options',
  'quantity',
  'unit_price',
  'exact_price',
  'total',
] as const;
const columns = [
  'customer_id',
  'customer_name',
  'customer_email',
  'status',
  'currency',
  'total',
  'version',
  'created_at',
  'updated_at',
  'paid_at',
  'cancelled_at',
] as const;

/** The representation without links. */
export function toOrder({ order, items }: WholeOrder): Order {
  const { currency } = order;
  return {
    id: order.id,
    status: order.status,
    total: toMajor(order.total, currency),
    currency,
    customerId: order.customer_id,
    items: items.map(item => toItem(item, currency)),
    version: order.version,
    ...toDates(order),
    paidAt: toIsoDate(order.paid_at),
    cancelledAt: toIsoDate(order.cancelled_at),
  };
}

/** An item as stored in invoices: those from older releases lack later members. */
export type KeptItem = Omit<StoredItem, LaterMember> & Partial<Pick<StoredItem, LaterMember>>;
type LaterMember = 'variant_id' | 'options' | 'exact_price';

export function toItem(item: KeptItem, currency: string): OrderItem {
  return {
    id: item.id,
    productId: item.product_id,
    variantId: item.variant_id ?? null,
    name: item.name,
    sku: item.sku,
    options: parseOptions(item),
    quantity: item.quantity,
    unitPrice: parseExactPrice(item) ?? toMajor(item.unit_price, currency),
    total: toMajor(item.total, currency),
  };
}

/** The unit price, if it is not a whole number of minor units; undefined if `unit_price` is exact. */
export function parseExactPrice({ exact_price }: Pick<KeptItem, 'exact_price'>): number | undefined {
  return exact_price == null ? undefined : parseStored<number>(exact_price);
}

/** The options of the variant that was ordered; null for a product without variants. */
export function parseOptions({ options }: Pick<KeptItem, 'options'>): Record<string, string> | null {
  return options == null ? null : parseStored<Record<string, string>>(options);
}

export function createOrderStore(database: Database, outbox: Outbox) {
  const { build } = database;
  const search = createSearchIndex(database);
  const orders = createTableRows<StoredOrder>(database, 'orders', columns);
  const selectItems = build.selectFrom('order_items').select(['id', ...itemColumns]);
  const itemsById = prepareQuery<{ orderId: number }, StoredItem>(build, argument =>
    selectItems.where('order_id', '=', argument.orderId).orderBy('id'),
  );
  const changeOf = createChangeBuilder<WholeOrder & { readonly id: number }>('order', whole =>
    JSON.stringify(toOrder(whole)),
  );

  const readItems = (session: Session, orderId: number) => session.all(itemsById({ orderId }));

  return {
    find: orders.find,
    lock: orders.lock,
    /** In the order requested. */
    items: readItems,
    findItem: (session: Session, orderId: number, id: number) =>
      session.first(selectItems.where('order_id', '=', orderId).where('id', '=', id).compile()),
    /** The items of many orders, by order id. They never change, so they need not be read together. */
    async itemsOf(session: Session, orderIds: readonly number[]): Promise<ReadonlyMap<number, StoredItem[]>> {
      const items = new Map<number, StoredItem[]>();
      let unread = orderIds.toSorted((one, other) => one - other);
      while (unread.length > 0) {
        await takeTurn();
        const query = selectItems.where('order_id', 'in', unread).orderBy('order_id').orderBy('id');
        const rows = await session.all(query.limit(itemsAtOnce).compile());
        for (const [id, some] of Map.groupBy(rows, item => item.order_id)) items.set(id, some);
        // The last order may have further items: it is read again.
        const last = rows.length < itemsAtOnce ? undefined : rows.at(-1)?.order_id;
        unread = last === undefined ? [] : unread.slice(unread.indexOf(last));
      }
      return items;
    },
    /** The customers that still exist, by id. */
    async customers(session: Session, ids: readonly number[]): Promise<ReadonlyMap<number, Customer>> {
      if (ids.length === 0) return new Map();
      const query = build.selectFrom('users').select(['id', 'name']).where('id', 'in', ids);
      return new Map((await session.all(query.compile())).map(customer => [customer.id, customer]));
    },
    list: createLister<StoredOrder>(database, { table: 'orders', columns }),
    listItems: createLister<StoredItem>(database, { table: 'order_items', columns: itemColumns }),

    async insert(session: Transaction, { customer, currency, total, items: lines }: NewOrder, cause: Cause) {
      const values = {
        customer_id: customer.id,
        customer_name: customer.name,
        customer_email: customer.email,
        status: 'PENDING',
        currency,
        total,
        version: 1,
        created_at: cause.at,
        updated_at: cause.at,
        paid_at: null,
        cancelled_at: null,
      } as const;
      const id = await orders.insert(session, values);
      const rows = lines.map(line => ({ order_id: id, ...line }));
      await session.run(build.insertInto('order_items').values(rows).compile());
      const after = { order: { id, ...values }, items: await readItems(session, id) };
      await search.add(session, 'order', { id, ...toOrderText({ id }, after.items) });
      await outbox.record(session, changeOf('created', undefined, { id, ...after }), cause);
      return after;
    },

    /** Moves a locked order to another state (see rules.ts); returns it as stored. */
    async move(session: Transaction, before: WholeOrder, status: 'PAID' | 'CANCELLED', cause: Cause) {
      const changed = {
        status,
        version: before.order.version + 1,
        updated_at: computeChangeMoment(cause.at, before.order.updated_at),
        ...(status === 'PAID' ? { paid_at: cause.at } : { cancelled_at: cause.at }),
      };
      const order = { ...before.order, ...changed };
      const { id } = order;
      await orders.update(session, id, changed);
      const after = { order, items: before.items };
      const action = status === 'PAID' ? 'paid' : 'cancelled';
      await outbox.record(session, changeOf(action, { id, ...before }, { id, ...after }), cause);
      return after;
    },
  };
}
