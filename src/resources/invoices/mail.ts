/** Composes the mails that carry an invoice, or say why it is withheld. */

import type { NewMail } from '../../mail/mails.ts';
import { composeMail } from '../../mail/template.ts';
import { formatMoney } from '../../money.ts';
import { formatInvoiceNumber, parseSnapshot, type StoredInvoice } from './store.ts';

export interface InvoiceMail {
  readonly pdf: Uint8Array;
  /** Whether the customer has confirmed the address. */
  readonly isConfirmed: boolean;
  readonly isByStaff: boolean;
}

/** The mail with the invoice. Its `about` names the invoice, so that sending it is recorded. */
export function composeInvoiceMail(
  row: StoredInvoice,
  { pdf, isConfirmed, isByStaff }: InvoiceMail,
): NewMail {
  const { seller, customer, currency, total } = parseSnapshot(row);
  const number = formatInvoiceNumber(row.number);
  const paragraphs = [
    `Thank you for your order. Invoice ${number} for ${formatMoney(total, currency)} (order ${row.order_id}) is attached. It is paid; you do not need to do anything.`,
    seller.name,
  ];
  return {
    to: { name: isConfirmed ? customer.name : '', address: customer.email },
    ...composeMail(
      `Invoice ${number} from ${seller.name}`,
      isConfirmed ? customer.name : undefined,
      paragraphs,
    ),
    attachments: [
      {
        filename: `${number}.pdf`,
        contentType: 'application/pdf',
        content: Buffer.from(pdf).toString('base64'),
      },
    ],
    about: { resource: 'invoice', resourceId: row.id },
    isConfirmed,
    isByStaff,
  };
}

/** Why customers do not receive the invoice itself, and what they can do. */
const reasons = {
  unconfirmed:
    'It is sent to confirmed addresses only. Confirm this one with the link in the mail that you received for your account, or with "forgot password", then have the invoice sent again. You can already read it when you sign in.',
  former:
    'The order was placed with this address, which no longer belongs to the account, so the invoice is not sent to it. Sign in with the current address of the account to read it and save it as a PDF.',
} as const;

/**
 * The mail that replaces the invoice when customers send it to an unconfirmed or former address. The address may be a
 * stranger's, who must not read what the customer has written.
 */
export function composeWithheldInvoiceMail(row: StoredInvoice, reason: keyof typeof reasons): NewMail {
  const { seller, customer } = parseSnapshot(row);
  const number = formatInvoiceNumber(row.number);
  const paragraphs = [
    `Invoice ${number} for order ${row.order_id} is ready. ${reasons[reason]}`,
    'If you did not order anything, ignore this mail.',
    seller.name,
  ];
  return {
    to: { name: '', address: customer.email },
    ...composeMail(`Invoice ${number} from ${seller.name}`, undefined, paragraphs),
    attachments: [],
  };
}
