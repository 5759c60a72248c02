/** What the mail says that carries an invoice. Names are other people's text: escaped in HTML. */
import type { NewMail } from '../../mail/mails.ts';
import { formatMoney } from '../../money.ts';
import { numberText, type StoredInvoice, snapshotOf } from './store.ts';

/** @param pdf the invoice; the mail is about it, so that its sending is taken note of */
export function invoiceMail(row: StoredInvoice, pdf: Uint8Array): NewMail {
  const { seller, customer, currency, total } = snapshotOf(row);
  const number = numberText(row.number);
  const paragraphs = [
    `Hello ${oneLine(customer.name)},`,
    `thank you for your order. Invoice ${number} over ${formatMoney(total, currency)} for order ${row.order_id} is attached. It has been paid; there is nothing left to do.`,
    seller.name,
  ];
  return {
    to: { name: customer.name, address: customer.email },
    subject: `Invoice ${number} from ${seller.name}`,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en">\n<body>\n${paragraphs.map(paragraph => `<p>${escaped(paragraph)}</p>`).join('\n')}\n</body>\n</html>\n`,
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

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, character => entities[character] ?? '');
