/** The schema of invoices: representation in JSON and HAL, lists, and the response to sending one. */
import { z } from 'zod';
import { buildHalSchema, buildLinksSchema, buildPageSchemas } from '../../http/hal/index.ts';
import { listParameters } from '../../http/paginate.ts';
import { count, identifier, idFilter, text, timestamp } from '../../http/schema.ts';
import { amount, maxItems, orderItem } from '../orders/schema.ts';
import { email } from '../users/schema.ts';

const links = buildLinksSchema(['self'], ['order', 'customer', 'send']).describe(
  'order, customer and send are present only if the caller may use them.',
);

/** The content of an invoice never changes, except whether and when it was sent. */
const bare = z.object({
  id: identifier(),
  number: z
    .string()
    .max(20)
    .describe('Assigned without gaps, in the order in which invoices were issued.')
    .meta({ pattern: '^INV-\\d{6,10}$', examples: ['INV-000001'] }),
  status: z.enum(['issued', 'sent']),
  orderId: identifier(),
  customerId: identifier(),
  seller: z
    .object({
      name: text(200).meta({ examples: ['Catalog'] }),
      address: z.array(text(200)).max(8).describe('The address, line by line.'),
    })
    .meta({ id: 'Seller', description: 'The seller as set when the invoice was issued.' }),
  customer: z.object({ name: text(200).meta({ examples: ['Ada Winter'] }), email }).meta({
    id: 'InvoiceCustomer',
    description: 'The customer at the time of the order; the invoice is sent to this address.',
  }),
  currency: z
    .string()
    .meta({ pattern: '^[A-Z]{3}$', minLength: 3, maxLength: 3, examples: ['EUR'] })
    .describe('ISO 4217.'),
  items: z.array(orderItem).max(maxItems),
  total: amount.describe('The sum of the totals of the items, in major units of the currency.'),
  version: count(1).describe('Incremented with each change.'),
  issuedAt: timestamp(),
  issueDate: z.iso
    .date()
    .meta({ examples: ['2026-11-21'] })
    .describe("The day of issue in the seller's time zone, as the PDF shows it."),
  sentAt: timestamp().nullable().describe('When it was last sent by mail.'),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

export const invoice = bare.extend({ _links: links }).meta({ id: 'Invoice' });
export const invoiceHal = buildHalSchema(
  bare.omit({ items: true }),
  'InvoiceHal',
  links,
  z.object({ item: z.array(orderItem).max(maxItems).describe('The items.') }),
);
export const invoicePage = buildPageSchemas(invoice, invoiceHal, 'invoices', 'InvoiceList', {
  halName: 'InvoiceHalList',
});

export const sortColumns = {
  id: 'id',
  number: 'number',
  createdAt: 'created_at',
} as const;

export const listInvoices = z.object({
  customerId: idFilter('Only invoices of this user; users other than staff see only their own.'),
  orderId: idFilter('Only the invoice of this order.'),
  ...listParameters(sortColumns),
});

export type Invoice = z.output<typeof bare>;
