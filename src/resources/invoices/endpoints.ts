/** Invoices over HTTP: paying an order issues them; here they are read as JSON, HAL or PDF, and sent by mail. */
import type { z } from 'zod';
import { allow, type Caller, staff } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { buildDateOptions } from '../../http/hal/index.ts';
import { pdf } from '../../http/negotiate.ts';
import { replyDocument, replyOk, replySecret } from '../../http/response/reply.ts';
import { queued } from '../../http/schema.ts';
import { createMailLimitError } from '../../mail/limits.ts';
import type { Session } from '../../storage/database.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import { may } from '../context.ts';
import { byId } from '../crud/index.ts';
import { createListEndpoint } from '../crud/list.ts';
import type { Stores } from '../stores.ts';
import { toEmailKey } from '../users/store.ts';
import { composeInvoiceMail, composeWithheldInvoiceMail } from './mail.ts';
import { createPdfs } from './pdf/index.ts';
import { buildInvoiceView, findChangeTime, readCustomers, requireVisible } from './representation.ts';
import * as schema from './schema.ts';
import { formatInvoiceNumber, parseSnapshot, type StoredInvoice } from './store.ts';

const tag = 'Invoices';
const path = '/invoices';

export function createInvoiceEndpoints(stores: Stores): Endpoint[] {
  const { database, paginator, mails, clock, invoices, orders, users } = stores;
  /** How the address on the invoice relates to its customer; `former`: the account no longer has it. */
  async function classifyAddress(
    session: Session,
    row: StoredInvoice,
  ): Promise<'confirmed' | 'unconfirmed' | 'former'> {
    const user = await users.find(session, row.customer_id);
    const { email } = parseSnapshot(row).customer;
    if (user === undefined || toEmailKey(user.email) !== toEmailKey(email)) return 'former';
    return user.verified_at === null ? 'unconfirmed' : 'confirmed';
  }

  const pdfs = createPdfs();
  return [
    createListEndpoint(paginator, {
      path,
      operationId: 'listInvoices',
      description: 'Staff see all invoices, other users only their own.',
      tag,
      access: allow.everyone('invoices:read'),
      query: schema.listInvoices,
      page: schema.invoicePage,
      name: 'invoices',
      list: invoices.list,
      sortColumns: schema.sortColumns,
      requested: ({ query, caller }) => ({ query, conditions: buildConditions(query, caller) }),
      async textsOf(context, rows) {
        const customers = await readCustomers(orders, database.read, rows, context.caller);
        return row => JSON.stringify(buildInvoiceView(row, customers, context));
      },
    }),
    createEndpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getInvoice',
      summary: 'Read an invoice',
      description: 'The application/pdf representation is the document that is sent to the customer.',
      tag,
      access: allow.everyone('invoices:read'),
      params: byId,
      responses: {
        200: {
          description: 'The invoice.',
          schema: schema.invoice,
          hal: schema.invoiceHal,
          otherMediaTypes: [pdf],
          headers: { 'Content-Disposition': 'With application/pdf: a file name.' },
        },
      },
      errors: ['SERVICE_BUSY'],
      async handle(context) {
        const { params, caller, mediaType } = context;
        const { id } = params;
        const row = requireVisible(await invoices.find(database.read, id), id, caller);
        if (mediaType !== pdf) {
          const customers = await readCustomers(orders, database.read, [row], caller);
          const moment = findChangeTime(row, customers, caller);
          const dated = moment === undefined ? {} : buildDateOptions(mediaType, moment);
          return replyOk(buildInvoiceView(row, customers, context), dated);
        }
        // The PDF shows the invoice as issued: it does not change when the invoice is sent.
        const options = { lastModified: row.created_at };
        return replyDocument(await pdfs.of(row), pdf, `${formatInvoiceNumber(row.number)}.pdf`, options);
      },
    }),
    createEndpoint({
      method: 'POST',
      path: `${path}/{id}/send`,
      operationId: 'sendInvoice',
      summary: 'Send an invoice by e-mail',
      description:
        'Sends the PDF to the address that the customer had when the order was placed. If customers send it themselves, and have not confirmed that address or now have another, the mail says so and has no PDF. Delivery is retried for about five days; once the mail server has accepted the PDF, the invoice has sentAt. Each request sends another mail unless it repeats an Idempotency-Key; 429 when the recipient has received too many mails.',
      tag,
      access: allow.everyone('invoices:write'),
      params: byId,
      responses: {
        202: {
          description: 'The mail was queued.',
          schema: queued,
          hal: queued,
          example: { status: 'queued' },
        },
      },
      errors: ['SERVICE_BUSY'],
      async handle({ params: { id }, caller, write, cause }) {
        const row = requireVisible(await invoices.find(database.read, id), id, caller);
        const isByStaff = may(caller, staff, undefined);
        const pdf = await pdfs.of(row);
        return write(async session => {
          const address = await classifyAddress(session, row);
          const isConfirmed = address === 'confirmed';
          const mail =
            isConfirmed || isByStaff
              ? composeInvoiceMail(row, { pdf, isConfirmed, isByStaff })
              : composeWithheldInvoiceMail(row, address);
          const refused = await mails.add(session, mail, cause());
          if (refused !== undefined) throw createMailLimitError(refused, clock.now());
          return replySecret(202, { status: 'queued' });
        });
      },
    }),
  ];
}

function buildConditions(query: z.output<typeof schema.listInvoices>, caller: Caller): Condition[] {
  // A filter narrows what the caller may see; it never widens it.
  const own = caller.kind === 'user' && caller.role === 'user' ? caller.userId : undefined;
  return [
    ...createEqualConditions({ customer_id: own }),
    ...createEqualConditions({ customer_id: query.customerId, order_id: query.orderId }),
  ];
}
