/** The content of an invoice as texts, in the order in which they are read. The thread that draws them parses nothing. */
import { formatMoney, formatPrice } from '../../../money.ts';
import { type KeptItem, parseExactPrice, parseOptions } from '../../orders/store.ts';
import { formatInvoiceNumber, parseSnapshot, type Snapshot, type StoredInvoice } from '../store.ts';

export interface InvoiceContent extends Pick<Required<Snapshot>, 'seller' | 'customer' | 'issueDate'> {
  readonly number: string;
  readonly order: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  readonly items: readonly PrintedItem[];
  readonly total: string;
}

export interface PrintedItem {
  readonly name: string;
  /** Options and sku, each on lines of its own. */
  readonly details: readonly string[];
  readonly quantity: string;
  readonly unitPrice: string;
  readonly amount: string;
}

/** @throws StorageError `damaged` when the stored document cannot be read */
export function toContent(row: StoredInvoice): InvoiceContent {
  const { seller, customer, issueDate, items, total, currency } = parseSnapshot(row);
  return {
    number: formatInvoiceNumber(row.number),
    order: String(row.order_id),
    issuedAt: row.created_at,
    seller,
    customer,
    issueDate,
    items: items.map(item => toPrintedItem(item, currency)),
    total: formatMoney(total, currency),
  };
}

function toPrintedItem(item: KeptItem, currency: string): PrintedItem {
  // Without the currency, which only the total shows.
  const formatAmount = (minor: number) => formatMoney(minor, currency).slice(currency.length + 1);
  const options = Object.entries(parseOptions(item) ?? {}).map(([name, value]) => `${name}: ${value}`);
  const exact = parseExactPrice(item);
  return {
    name: item.name,
    details: [options.join(', '), item.sku ?? ''].filter(text => text !== ''),
    quantity: String(item.quantity),
    unitPrice: exact === undefined ? formatAmount(item.unit_price) : formatPrice(exact, currency),
    amount: formatAmount(item.total),
  };
}
