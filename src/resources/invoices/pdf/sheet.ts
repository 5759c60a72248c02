/** A PDF written from top to bottom: lines of text, with page breaks where needed. */
import PDFDocument from 'pdfkit';
import { type FontName, type Fonts, splitCharacters } from './fonts.ts';

/** A4, in points. */
const page = { width: 595.28, height: 841.89, left: 50, right: 545, top: 780, bottom: 80 };
const noteText = 'Characters that no font of this document has are shown as a question mark.';

type Pdf = InstanceType<typeof PDFDocument>;

export interface SheetOptions {
  readonly title: string;
  readonly author: string;
  /** The creation date stored in the file. */
  readonly issuedAt: Date;
  /** Draws the top of every page except the first. */
  readonly repeated: (sheet: Sheet) => void;
}

/** At `x`, or ending at `right`, where text wider than `width` is set smaller to fit. */
type Placed = { readonly size: number; readonly bold?: boolean; readonly shade?: number } & (
  | { readonly x: number }
  | { readonly right: number; readonly width: number }
);

export interface Sheet {
  /** Writes at the current height. */
  text(text: string, placed: Placed): void;
  /** Draws a line from margin to margin. */
  rule(): void;
  /** Moves down, by points. */
  down(distance: number): void;
  /** The height above the bottom of the page, in points. */
  position(): number;
  moveTo(position: number): void;
  /** Begins a new page unless this much space is left on the current one. */
  reserve(height: number): void;
  /** Splits the text into lines of at most this width; one without visible characters is an empty line. */
  wrapped(text: string, width: number, size: number): string[];
  /** @param name shown on every page, beside the page number */
  finish(name: string): Promise<Uint8Array<ArrayBuffer>>;
}

interface Pen {
  readonly pdf: Pdf;
  readonly fonts: Fonts;
}

/** @param fonts kept by the caller between documents */
export function createSheet({ title, author, issuedAt, repeated }: SheetOptions, fonts: Fonts): Sheet {
  const pdf = new PDFDocument({
    size: [page.width, page.height],
    margin: 0,
    bufferPages: true,
    lang: 'en',
    info: { Title: title, Author: author, Producer: 'Catalog', CreationDate: issuedAt, ModDate: issuedAt },
  });
  const chunks: Uint8Array[] = [];
  pdf.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  const ended = new Promise<void>(resolve => pdf.on('end', resolve));
  const pen: Pen = { pdf, fonts };
  let isExact = true;
  let y = page.top;

  function toShownText(text: string): string {
    const made = fonts.shown(text);
    isExact &&= made.isExact;
    return made.text;
  }

  const sheet: Sheet = {
    text: (text, placed) => write(pen, y, toShownText(text), placed),
    rule() {
      const height = page.height - y;
      pdf.moveTo(page.left, height).lineTo(page.right, height).lineWidth(0.5).stroke(toColour(0.6));
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
      pdf.addPage();
      y = page.top;
      repeated(sheet);
    },
    wrapped: (text, width, size) => wrap(pen, toShownText(text), size, width),
    async finish(name) {
      const { count } = pdf.bufferedPageRange();
      for (let index = 0; index < count; index += 1) {
        pdf.switchToPage(index);
        const footer = { size: 8, shade: 0.45 };
        write(pen, 40, name, { x: page.left, ...footer });
        write(pen, 40, `Page ${index + 1} of ${count}`, { right: page.right, width: 200, ...footer });
        if (!isExact) write(pen, 52, noteText, { x: page.left, ...footer });
      }
      pdf.end();
      await ended;
      return new Uint8Array(Buffer.concat(chunks));
    },
  };
  return sheet;
}

const toColour = (shade: number): string => {
  const part = Math.round(shade * 255)
    .toString(16)
    .padStart(2, '0');
  return `#${part}${part}${part}`;
};

function useFont({ pdf, fonts }: Pen, name: FontName, size: number): void {
  // Boundary: pdfkit also accepts a font of fontkit, although its types do not say so.
  const font = fonts.font(name) as unknown as PDFKit.Mixins.PDFFontSource;
  pdf.registerFont(name, font).font(name).fontSize(size);
}

/** @param at the height of the baseline above the bottom of the page */
function write(pen: Pen, at: number, text: string, placed: Placed): void {
  const bold = placed.bold === true;
  const natural = measureWidth(pen, text, placed.size, bold);
  const size = 'x' in placed ? placed.size : placed.size * Math.min(1, placed.width / natural || 1);
  let x = 'x' in placed ? placed.x : placed.right - measureWidth(pen, text, size, bold);
  pen.pdf.fillColor(toColour(placed.shade ?? 0));
  for (const run of pen.fonts.runs(text, bold)) {
    useFont(pen, run.font, size);
    pen.pdf.text(run.text, x, page.height - at, { lineBreak: false, baseline: 'alphabetic' });
    x += pen.pdf.widthOfString(run.text);
  }
}

function measureWidth(pen: Pen, text: string, size: number, bold = false): number {
  let width = 0;
  for (const run of pen.fonts.runs(text, bold)) {
    useFont(pen, run.font, size);
    width += pen.pdf.widthOfString(run.text);
  }
  return width;
}

/** Breaks at spaces, and inside words that are longer than a line. @returns at least one line, empty if need be */
function wrap(pen: Pen, text: string, size: number, width: number): string[] {
  const fits = (candidate: string) => measureWidth(pen, candidate, size) <= width;
  const widths = new Map<string, number>();
  const measureCharacter = (character: string): number => {
    const known = widths.get(character) ?? measureWidth(pen, character, size);
    widths.set(character, known);
    return known;
  };
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const characters = splitCharacters(word);
    let start = 0;
    do {
      const space = countWithin(characters, start, width, measureCharacter);
      const end = findEnd(characters, start, start + space, fits);
      line = characters.slice(start, end).join('');
      if (end < characters.length) lines.push(line);
      start = end;
    } while (start < characters.length);
  }
  if (line !== '' || lines.length === 0) lines.push(line);
  return lines;
}

/** @returns how many characters from `start` on fill this width, each measured alone */
function countWithin(
  characters: readonly string[],
  start: number,
  width: number,
  widthOfCharacter: (character: string) => number,
): number {
  let left = width;
  let end = start;
  while (end < characters.length && left >= 0) {
    left -= widthOfCharacter(characters[end] ?? '');
    end += 1;
  }
  return end - start;
}

/**
 * The end of the longest line from `start` that fits, with at least one character. Set together, characters are
 * slightly narrower or wider than alone. The search begins at `near`, close to the end, so that few lines are measured.
 */
function findEnd(
  characters: readonly string[],
  start: number,
  near: number,
  fits: (candidate: string) => boolean,
): number {
  const fitsTo = (end: number) => fits(characters.slice(start, end).join(''));
  let end = Math.min(near, characters.length);
  while (end > start + 1 && !fitsTo(end)) end -= 1;
  while (end < characters.length && fitsTo(end + 1)) end += 1;
  return Math.max(end, Math.min(start + 1, characters.length));
}
