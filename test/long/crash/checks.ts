/** What must hold after all crashes, for acknowledged writes, tables and mails. */

import { expect } from 'bun:test';
import { sql } from 'kysely';
import type { StoredEvent } from '../../../src/events/outbox.ts';
import { subscriptions } from '../../../src/events/subscriptions.ts';
import { toEventJson } from '../../../src/resources/events/store.ts';
import type { Database } from '../../../src/storage/database.ts';
import { type Place, totalsOf, withDatabaseOf } from '../../cli/program.ts';
import type { SmtpServer } from '../../support/peers/smtp.ts';
import type { DatabaseKind } from '../../support/service/service.ts';
import type { Attempt, Client, Item, Ledger } from './clients.ts';
import type { Operation } from './lives.ts';
import { mailsHold } from './mails.ts';

/** The state when no work is left. */
export interface Aftermath {
  readonly place: Place;
  readonly kind: DatabaseKind;
  /** The address of the running service, which gets no other requests. */
  readonly url: string;
  readonly admin: Client;
  readonly clients: readonly Client[];
  readonly ledger: Ledger;
  readonly smtp: Pick<SmtpServer, 'received'>;
  /** Prices in cents, by product. */
  readonly prices: ReadonlyMap<number, number>;
}

/** A representation, as a response showed it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
export type Shown = any;

export async function everythingHolds(aftermath: Aftermath): Promise<void> {
  const { place, kind, url, admin, clients, ledger } = aftermath;
  const list = (collection: string, { token } = admin) => walk(`${url}/v1/${collection}`, token);
  const orders: Shown[] = [];
  for (const client of clients) orders.push(...(await list(`users/${client.id}/orders`, client)));
  const [users, products, invoices] = [await list('users'), await list('products'), await list('invoices')];
  // Categories come from products that name them. Their counts of products are computed on reading.
  const categories = (await list('categories')).map(({ productCount: _, ...category }) => category);
  expect(await list('orders')).toBeArrayOfSize(orders.length);

  acknowledgedOrdersHold(aftermath, orders);
  const made = products.slice(aftermath.prices.size);
  expect(onlyOnce(made.map(({ sku }) => sku))).toEqual([]);
  expect(lostOf(ledger, 'product', new Map(made.map(product => [product.sku, product])))).toEqual([]);
  expect(lostOf(ledger, 'invite', new Map(users.map(user => [user.email, user])))).toEqual([]);
  await withDatabaseOf(place, async database => {
    await tablesHold(database);
    const now = { order: orders, user: users, invoice: invoices, product: products, category: categories };
    await eventsHold(database, ledger, now);
    await notificationsHold(database);
    if (kind === 'sqlite') await fileHolds(database);
    await mailsHold(database, aftermath, { users, invoices });
  });
  const { kept, counted } = await totalsOf(place);
  expect(kept).toEqual(counted);
}

/** The whole collection, page by page. */
async function walk(address: string, token: string): Promise<Shown[]> {
  const all: Shown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await fetch(`${address}?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const page: Shown = await response.json();
    all.push(...page.data);
    cursor = page.meta.nextCursor;
  }
  return all;
}

const wasDone = ({ answer }: Attempt) => answer !== undefined && answer.status < 300;
const of = ({ attempts }: Ledger, operation: Operation) =>
  attempts.filter(attempt => attempt.operation === operation);

/** The values that occur more than once. */
function onlyOnce<T>(values: readonly T[]): T[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

/** Acknowledged creations whose response differs from the present state. */
function lostOf(ledger: Ledger, operation: Operation, now: ReadonlyMap<string, Shown>): Attempt[] {
  const isAsTold = ({ subject, answer }: Attempt) => Bun.deepEquals(now.get(subject), answer?.body, true);
  return of(ledger, operation).filter(attempt => wasDone(attempt) && !isAsTold(attempt));
}

/** Each order was requested once, has the right total, and is as its customer's last response showed it. */
function acknowledgedOrdersHold({ ledger, prices }: Aftermath, orders: readonly Shown[]): void {
  const numberOf = ({ customerId, items }: Shown) => `${customerId}:${items[0]?.quantity}`;
  const now = new Map<string, Shown>(orders.map(order => [numberOf(order), order]));
  expect(onlyOnce(orders.map(numberOf))).toEqual([]);
  const asked = new Map(of(ledger, 'place').map(attempt => [attempt.subject, attempt]));
  const told = new Map<number, Shown>();
  for (const { answer } of asked.values()) if (answer !== undefined) told.set(answer.body.id, answer.body);
  const unknown = new Set<string>();
  for (const attempt of [...of(ledger, 'pay'), ...of(ledger, 'cancel')]) {
    if (attempt.answer === undefined) unknown.add(attempt.subject);
    else if (wasDone(attempt)) {
      const { payment: _, ...order } = attempt.answer.body;
      expect(told.get(order.id)?.status).toBe('PENDING');
      told.set(order.id, order);
    }
  }
  for (const order of orders) {
    const items: Item[] = (asked.get(numberOf(order))?.body as { items?: Item[] })?.items ?? [];
    const cents = items.reduce((sum, item) => sum + (prices.get(item.productId) ?? 0) * item.quantity, 0);
    expect(order.items.map(({ productId, quantity }: Item) => ({ productId, quantity }))).toEqual(items);
    expect(order.total).toBe(cents / 100);
    const last = told.get(order.id);
    // The events say more about an order that may have been paid or cancelled without a response.
    if (last !== undefined && !(last.status === 'PENDING' && unknown.has(String(order.id))))
      expect(order).toEqual(last);
  }
  expect([...told.keys()].filter(id => !orders.some(order => order.id === id))).toEqual([]);
  expect(now.size).toBeGreaterThan(0);
}

/** Queries that find impossible rows. */
const wrong = {
  'orders without items, or with another total': sql`select orders.id, orders.total, sum(order_items.total) as counted
    from orders left join order_items on order_items.order_id = orders.id
    group by orders.id, orders.total having sum(order_items.total) is null or sum(order_items.total) <> orders.total`,
  'items that cost something else': sql`select id from order_items
    where exact_price is null and total <> quantity * unit_price`,
  'states that are two, or none': sql`select id from orders where (paid_at is not null) <> (status = 'PAID')
    or (cancelled_at is not null) <> (status = 'CANCELLED')`,
  'paid orders without their invoice and payment, and the other way round': sql`select orders.id from orders
    left join invoices on invoices.order_id = orders.id left join payments on payments.order_id = orders.id
    where (orders.status = 'PAID') <> (invoices.id is not null) or (orders.status = 'PAID') <> (payments.id is not null)
      or invoices.customer_id <> orders.customer_id or payments.status <> 'succeeded'`,
  'numbers of invoices with a gap': sql`select count(*), max(number) from invoices
    having count(*) <> coalesce(max(number), 0) or min(number) <> 1
      or max(number) <> (select value from counters where name = 'invoices')`,
  'an order both paid and cancelled': sql`select resource_id from events
    where type in ('order.paid', 'order.cancelled') group by resource_id having count(*) > 1`,
};

async function tablesHold({ read, build }: Database): Promise<void> {
  for (const [what, query] of Object.entries(wrong))
    expect({ what, rows: await read.all(query.compile(build)) }).toEqual({ what, rows: [] });
}

type EventRow = StoredEvent & { readonly new_document: string };

/**
 * The events of each resource form one chain from its first version to its current one. The chain has all that was
 * acknowledged, and nothing that was not requested.
 */
async function eventsHold(
  { read, build }: Database,
  ledger: Ledger,
  now: Readonly<Record<string, readonly Shown[]>>,
): Promise<void> {
  const query = sql<EventRow>`select * from events order by id`;
  const rows = await read.all(query.compile(build));
  const chains = Map.groupBy(rows, row => `${row.resource} ${row.resource_id}`);
  expect(chains.size).toBe(Object.values(now).reduce((sum, { length }) => sum + length, 0));
  for (const [resource, all] of Object.entries(now)) {
    for (const { _links, ...shown } of all) {
      const chain = chains.get(`${resource} ${shown.id}`) ?? [];
      expect(chain.map(row => row.old_document)).toEqual([
        null,
        ...chain.slice(0, -1).map(row => row.new_document),
      ]);
      const documents: Shown[] = chain.map(row => JSON.parse(toEventJson(row)).after);
      expect(documents.at(-1)).toEqual(shown);
      if (resource === 'product' || resource === 'category') expect(documents).toBeArrayOfSize(1);
      else expect(documents.map(({ version }) => version)).toEqual(documents.map((_, index) => index + 1));
    }
  }
  patchesHold(ledger, rows);
}

/** Each patch has a unique name: it caused one event or, when it was not acknowledged, at most one. */
function patchesHold(ledger: Ledger, rows: readonly EventRow[]): void {
  const patched = rows.filter(({ type }) => type === 'user.updated').map(row => JSON.parse(row.new_document));
  const byName = new Map<string, Shown>(patched.map(user => [user.name, user]));
  expect(byName.size).toBe(patched.length);
  const asked = of(ledger, 'patch');
  for (const { subject, answer } of asked)
    if (answer !== undefined) expect(byName.get(subject)).toEqual(answer.body);
  const names = new Set(asked.map(({ subject }) => subject));
  expect([...byName.keys()].filter(name => !names.has(name))).toEqual([]);
}

async function notificationsHold({ read, build }: Database): Promise<void> {
  const types = sql.join(subscriptions.flatMap(subscription => subscription.types));
  const untold = sql`select events.id, events.type, count(notifications.id) as told from events
    left join notifications on notifications.event_id = events.id where events.type in (${types})
    group by events.id, events.type having count(notifications.id) <> 1`;
  expect(await read.all(untold.compile(build))).toEqual([]);
  const unfounded = sql`select id from notifications where not exists
    (select 1 from events where events.id = notifications.event_id and events.type = notifications.type
      and events.resource_id = notifications.resource_id and events.type in (${types}))`;
  expect(await read.all(unfounded.compile(build))).toEqual([]);
}

async function fileHolds({ read, build }: Database): Promise<void> {
  const integrity = sql<{ integrity_check: string }>`pragma integrity_check`.compile(build);
  expect(await read.all(integrity)).toEqual([{ integrity_check: 'ok' }]);
  expect(await read.all(sql`pragma foreign_key_check`.compile(build))).toEqual([]);
}
