/** The queries of invoices. They store what was invoiced: amounts in whole minor units, and the names of that time. */

import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import { toMajor } from '../../money.ts';
import type { Seller } from '../../settings/values.ts';
import { parseStored } from '../../storage/damage.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { computeChangeMoment, toIsoDate } from '../../storage/moments.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import type { Row } from '../../storage/tables.ts';
import { type KeptItem, type StoredItem, type StoredOrder, toItem } from '../orders/store.ts';
import type { Invoice } from './schema.ts';

/** An invoice row; its document is a Snapshot as JSON text. */
export type StoredInvoice = Row<'invoices'>;

/** What was invoiced, to whom and by whom; never changes after the invoice is issued. */
export interface Snapshot {
  readonly seller: Seller;
  readonly customer: { readonly name: string; readonly email: string };
  readonly currency: string;
  readonly items: readonly KeptItem[];
  readonly total: number;
  /** The day of issue, as the seller's calendar has it; missing in invoices of earlier releases, which used UTC. */
  readonly issueDate?: string;
}

export interface Issuer {
  readonly seller: Seller;
  /** The time zone of the day of issue. */
  readonly timeZone: string;
}

const columns = [
  'number',
  'order_id',
  'customer_id',
  'document',
  'sent_at',
  'version',
  'created_at',
  'updated_at',
] as const;

export const formatInvoiceNumber = (number: number) => `INV-${String(number).padStart(6, '0')}`;

export function parseSnapshot({
  document,
  created_at,
}: Pick<StoredInvoice, 'document' | 'created_at'>): Required<Snapshot> {
  const snapshot = parseStored<Snapshot>(document);
  return { ...snapshot, issueDate: snapshot.issueDate ?? toDay(created_at, 'UTC') };
}

/** @param moment epoch milliseconds @returns `2026-11-28` */
const toDay = (moment: number, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(moment);

/** The representation without links. */
export function toInvoice(row: StoredInvoice): Invoice {
  const { seller, customer, currency, items, total, issueDate } = parseSnapshot(row);
  const issuedAt = toIsoDate(row.created_at);
  return {
    id: row.id,
    number: formatInvoiceNumber(row.number),
    status: row.sent_at === null ? 'issued' : 'sent',
    orderId: row.order_id,
    customerId: row.customer_id,
    seller: { name: seller.name, address: [...seller.address] },
    customer,
    currency,
    items: items.map(item => toItem(item, currency)),
    total: toMajor(total, currency),
    version: row.version,
    issuedAt,
    issueDate,
    sentAt: toIsoDate(row.sent_at),
    createdAt: issuedAt,
    updatedAt: toIsoDate(row.updated_at),
  };
}

/** Omits an exact price of null, so that the text of most invoices is the same as in releases without exact prices. */
const toKeptItem = ({ exact_price, ...item }: StoredItem): KeptItem =>
  exact_price === null ? item : { ...item, exact_price };

/** @param issuer of new invoices */
export function createInvoiceStore(database: Database, outbox: Outbox, { seller, timeZone }: Issuer) {
  const { build } = database;
  const rows = createTableRows<StoredInvoice>(database, 'invoices', columns);
  const nextNumber = build
    .insertInto('counters')
    .values({ name: 'invoices', value: 1 })
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet(({ ref, eb }) => ({ value: eb(ref('counters.value'), '+', 1) })),
    )
    .returning('value')
    .compile();

  const changeOf = createChangeBuilder<StoredInvoice>('invoice', row => JSON.stringify(toInvoice(row)));

  return {
    find: rows.find,
    list: createLister<StoredInvoice>(database, { table: 'invoices', columns, longColumns: ['document'] }),

    /**
     * Issues the invoice of an order, in the transaction that pays it. The number is taken in the same transaction:
     * concurrent payments wait for one another, and one that fails leaves no gap.
     */
    async issue(session: Transaction, order: StoredOrder, items: readonly StoredItem[], cause: Cause) {
      const counted = await session.first(nextNumber);
      if (counted === undefined) throw new Error('INSERT … RETURNING gave no row');
      const snapshot: Snapshot = {
        seller,
        customer: { name: order.customer_name, email: order.customer_email },
        currency: order.currency,
        items: items.map(toKeptItem),
        total: order.total,
        issueDate: toDay(cause.at, timeZone),
      };
      const values = {
        number: counted.value,
        order_id: order.id,
        customer_id: order.customer_id,
        document: JSON.stringify(snapshot),
        sent_at: null,
        version: 1,
        created_at: cause.at,
        updated_at: cause.at,
      };
      const id = await rows.insert(session, values);
      await outbox.record(session, changeOf('issued', undefined, { id, ...values }), cause);
    },

    /** Records that an invoice was sent by mail. */
    async markSent(session: Transaction, id: number, cause: Cause): Promise<void> {
      const before = await rows.lock(session, id);
      if (before === undefined) return;
      const at = computeChangeMoment(cause.at, before.updated_at);
      const changed = { sent_at: cause.at, version: before.version + 1, updated_at: at };
      await rows.update(session, id, changed);
      await outbox.record(session, changeOf('sent', before, { ...before, ...changed }), cause);
    },
  };
}
