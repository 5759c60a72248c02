/**
 * The layout of an invoice: A4, with as many pages as the items need. The bytes depend only on the content of the
 * invoice, so that the entity tag never changes and is the same on every replica.
 */
import type { InvoiceContent, PrintedItem } from './content.ts';
import { createFonts } from './fonts.ts';
import { createSheet, type Sheet } from './sheet.ts';

/** The right edges of the columns of figures, and the position and width of names, in points from the left edge. */
const columns = { name: 50, nameWidth: 240, quantity: 335, unitPrice: 440, amount: 545 };
const small = 9;
const line = 13;
const grey = 0.45;

export type DrawInvoice = (invoice: InvoiceContent) => Promise<Uint8Array<ArrayBuffer>>;

/** @returns a function that draws invoices; it reads each font once */
export function createInvoiceDrawer(): DrawInvoice {
  const fonts = createFonts();
  return async invoice => {
    for (const text of collectTexts(invoice)) await fonts.prepare(text);
    fonts.begin();
    const options = {
      title: `Invoice ${invoice.number}`,
      author: invoice.seller.name,
      issuedAt: new Date(invoice.issuedAt),
      repeated: drawTableHead,
    };
    const sheet = createSheet(options, fonts);
    drawLetterhead(sheet, invoice);
    drawTableHead(sheet);
    for (const item of invoice.items) drawItemRow(sheet, item);
    drawTotals(sheet, invoice);
    return sheet.finish(invoice.number);
  };
}

/** The texts that users have written, in any language. */
function collectTexts({ seller, customer, items }: InvoiceContent): string[] {
  const described = items.flatMap(item => [item.name, ...item.details]);
  return [seller.name, ...seller.address, customer.name, customer.email, ...described];
}

function drawLetterhead(sheet: Sheet, { number, order, issueDate, seller, customer }: InvoiceContent): void {
  sheet.text('Invoice', { x: 50, size: 24, bold: true });
  sheet.text(seller.name, { right: 545, width: 320, size: 11, bold: true });
  sheet.down(line);
  for (const address of seller.address) {
    sheet.text(address, { right: 545, width: 320, size: small });
    sheet.down(line);
  }
  sheet.down(2 * line);
  const facts = [
    ['Invoice number', number],
    ['Date', issueDate],
    ['Order', order],
  ] as const;
  const start = sheet.position();
  for (const [name, value] of facts) {
    sheet.text(name, { x: 345, size: small, shade: grey });
    sheet.text(value, { right: 545, width: 110, size: small });
    sheet.down(line);
  }
  const afterFacts = sheet.position();
  sheet.moveTo(start);
  sheet.text('Billed to', { x: 50, size: small, shade: grey });
  sheet.down(line);
  for (const text of [customer.name, customer.email]) {
    for (const part of sheet.wrapped(text, 270, 10)) {
      sheet.text(part, { x: 50, size: 10 });
      sheet.down(line);
    }
  }
  sheet.moveTo(Math.min(sheet.position(), afterFacts) - line);
}

function drawTableHead(sheet: Sheet): void {
  const head = { size: small, bold: true };
  sheet.text('Item', { x: columns.name, ...head });
  sheet.text('Quantity', { right: columns.quantity, width: 60, ...head });
  sheet.text('Unit price', { right: columns.unitPrice, width: 95, ...head });
  sheet.text('Amount', { right: columns.amount, width: 95, ...head });
  sheet.down(6);
  sheet.rule();
  sheet.down(line);
}

function drawItemRow(sheet: Sheet, item: PrintedItem): void {
  const names = sheet.wrapped(item.name, columns.nameWidth, small);
  const details = item.details.flatMap(text => sheet.wrapped(text, columns.nameWidth, 7));
  sheet.reserve((names.length + details.length) * line + 4);
  const drawFigure = (text: string, right: number, width: number) =>
    sheet.text(text, { right, width, size: small });
  drawFigure(item.quantity, columns.quantity, 40);
  drawFigure(item.unitPrice, columns.unitPrice, 95);
  drawFigure(item.amount, columns.amount, 95);
  const drawLine = (text: string, style: { readonly size: number; readonly shade?: number }) => {
    // An item taller than a page continues on the next one.
    sheet.reserve(line);
    sheet.text(text, { x: columns.name, ...style });
    sheet.down(line);
  };
  for (const text of names) drawLine(text, { size: small });
  for (const text of details) drawLine(text, { size: 7, shade: grey });
  sheet.down(4);
}

function drawTotals(sheet: Sheet, { issueDate, total }: InvoiceContent): void {
  sheet.reserve(5 * line);
  sheet.rule();
  sheet.down(line + 4);
  sheet.text('Total', { x: 345, size: 11, bold: true });
  sheet.text(total, { right: columns.amount, width: 150, size: 11, bold: true });
  sheet.down(2 * line);
  sheet.text(`Paid in full on ${issueDate}.`, {
    right: columns.amount,
    width: 200,
    size: small,
  });
}
