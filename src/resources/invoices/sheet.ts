/** A PDF that is written from top to bottom: lines of text, and new pages where they are needed. */
import type { PDFFont, PDFPage } from 'pdf-lib';
import { winAnsi } from './winansi.ts';

/** A4, in points. */
const page = { width: 595.28, height: 841.89, left: 50, right: 545, top: 780, bottom: 80 };
const noteText =
  'Characters that this document cannot show are transliterated, or replaced by a question mark.';

export interface SheetOptions {
  readonly title: string;
  readonly author: string;
  /** The moment that the file says it was made at. */
  readonly issuedAt: Date;
  /** Drawn at the top of every page but the first. */
  readonly repeated: (sheet: Sheet) => void;
}

/** At `x`, or ending at `right`; in `width` it is made to fit by being set smaller. */
export type Placed = { readonly size: number; readonly bold?: boolean; readonly shade?: number } & (
  | { readonly x: number }
  | { readonly right: number; readonly width: number }
);

export interface Sheet {
  /** Writes at the present height. */
  text(text: string, placed: Placed): void;
  /** A line from margin to margin. */
  rule(): void;
  /** In points. */
  down(distance: number): void;
  /** Height above the bottom of the page, in points. */
  position(): number;
  moveTo(position: number): void;
  /** Begins a new page unless there is so much space left on this one. */
  reserve(height: number): void;
  /** The text in lines of at most this width. */
  wrapped(text: string, width: number, size: number): string[];
  /** @param name stands on every page, beside its number */
  finish(name: string): Promise<Uint8Array<ArrayBuffer>>;
}

export async function createSheet({ title, author, issuedAt, repeated }: SheetOptions): Promise<Sheet> {
  // Loaded with the first PDF: the service starts sooner without it.
  const { PDFDocument, StandardFonts, rgb } = await import('pdf-lib');
  const pdf = await PDFDocument.create({ updateMetadata: false });
  const regular = pdf.embedStandardFont(StandardFonts.Helvetica);
  const bold = pdf.embedStandardFont(StandardFonts.HelveticaBold);
  const supported = new Set(regular.getCharacterSet());
  let exact = true;
  let current = pdf.addPage([page.width, page.height]);
  let y = page.top;

  pdf.setTitle(title);
  pdf.setAuthor(shown(author));
  pdf.setProducer('Catalog');
  pdf.setLanguage('en');
  pdf.setCreationDate(issuedAt);
  pdf.setModificationDate(issuedAt);

  function shown(text: string): string {
    const made = winAnsi(text, supported);
    exact &&= made.exact;
    return made.text;
  }

  function draw(on: PDFPage, at: number, text: string, placed: Placed): void {
    const font = placed.bold === true ? bold : regular;
    const line = shown(text);
    const natural = widthOf(line, font, placed.size);
    const size = 'x' in placed ? placed.size : placed.size * Math.min(1, placed.width / natural || 1);
    const x = 'x' in placed ? placed.x : placed.right - widthOf(line, font, size);
    const shade = placed.shade ?? 0;
    on.drawText(line, { x, y: at, size, font, color: rgb(shade, shade, shade) });
  }

  const sheet: Sheet = {
    text: (text, placed) => draw(current, y, text, placed),
    rule() {
      current.drawLine({
        start: { x: page.left, y },
        end: { x: page.right, y },
        thickness: 0.5,
        color: rgb(0.6, 0.6, 0.6),
      });
    },
    down(distance) {
      y -= distance;
    },
    position: () => y,
    moveTo(position) {
      y = position;
    },
    reserve(height) {
      if (y - height >= page.bottom) return;
      current = pdf.addPage([page.width, page.height]);
      y = page.top;
      repeated(sheet);
    },
    wrapped: (text, width, size) => wrap(shown(text), regular, size, width),
    async finish(name) {
      const pages = pdf.getPages();
      for (const [index, one] of pages.entries()) {
        const footer = { size: 8, shade: 0.45 };
        draw(one, 40, name, { x: page.left, ...footer });
        draw(one, 40, `Page ${index + 1} of ${pages.length}`, { right: page.right, width: 200, ...footer });
        if (!exact) draw(one, 52, noteText, { x: page.left, ...footer });
      }
      return new Uint8Array(await pdf.save());
    },
  };
  return sheet;
}

/** As it is drawn: the font's own measure of a text moves pairs of letters together, which drawing does not. */
function widthOf(text: string, font: PDFFont, size: number): number {
  let width = 0;
  for (const character of text) width += font.widthOfTextAtSize(character, size);
  return width;
}

/** Breaks at spaces, and inside words that are longer than a line. */
function wrap(text: string, font: PDFFont, size: number, width: number): string[] {
  const fits = (candidate: string) => widthOf(candidate, font, size) <= width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const character of word) {
      if (!fits(line + character)) {
        lines.push(line);
        line = '';
      }
      line += character;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}
