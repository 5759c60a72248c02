/** What the mail says that carries an invoice. */
import { letter } from '../../mail/letter.ts';
import type { NewMail } from '../../mail/mails.ts';
import { formatMoney } from '../../money.ts';
import { numberText, type StoredInvoice, snapshotOf } from './store.ts';

/** @param pdf the invoice; the mail is about it, so that its sending is taken note of */
export function invoiceMail(row: StoredInvoice, pdf: Uint8Array): NewMail {
  const { seller, customer, currency, total } = snapshotOf(row);
  const number = numberText(row.number);
  const paragraphs = [
    `Thank you for your order. Invoice ${number} over ${formatMoney(total, currency)} for order ${row.order_id} is attached. It has been paid; there is nothing left to do.`,
    seller.name,
  ];
  return {
    to: { name: customer.name, address: customer.email },
    ...letter(`Invoice ${number} from ${seller.name}`, customer.name, paragraphs),
    attachments: [
      {
        filename: `${number}.pdf`,
        contentType: 'application/pdf',
        content: Buffer.from(pdf).toString('base64'),
      },
    ],
    about: { resource: 'invoice', resourceId: row.id },
  };
}
