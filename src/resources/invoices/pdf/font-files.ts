/**
 * The files of the fonts. Latin, Greek and Cyrillic letters share one file for regular and one for bold. Japanese,
 * Chinese and Korean are each divided into about a hundred files of some hundred characters, which are read on demand.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { create, type Font } from 'fontkit';
import subsetFont from 'subset-font';
import { isObject } from '../../../json-object.ts';
import { createOnce } from '../../../turns/once.ts';

/** A font as read by fontkit, and its characters. */
export interface LoadedFont {
  readonly font: Font;
  readonly codePoints: ReadonlySet<number>;
  /** The letters and marks that its accented letters are composed of. */
  readonly parts: readonly number[];
}

function toLoadedFont(font: Font): LoadedFont {
  const codePoints = new Set(font.characterSet);
  const parts = new Set<number>();
  for (const codePoint of codePoints) {
    const decomposed = [...String.fromCodePoint(codePoint).normalize('NFD')].map(
      part => part.codePointAt(0) ?? 0,
    );
    if (decomposed.length > 1) for (const part of decomposed) parts.add(part);
  }
  return { font, codePoints, parts: [...parts].filter(part => codePoints.has(part)) };
}

export function readLatin(weight: 'Regular' | 'Bold'): LoadedFont {
  // The package exports only a list of its files, which are in a folder beside it.
  const folder = import.meta.resolve('@embedpdf/fonts-latin');
  return toLoadedFont(createSingleFont(readFileSync(new URL(`../fonts/NotoSans-${weight}.ttf`, folder))));
}

/**
 * A font that is divided into files.
 * @param code the language, as in the name of the package
 */
export function createDividedFont(code: 'jp' | 'sc' | 'tc' | 'kr') {
  const packageName = `@fontsource-variable/noto-sans-${code}`;
  const read = new Map<number, LoadedFont>();
  const shareRun = createOnce<void>();
  let numbers: ReadonlyMap<number, number> | undefined;

  async function readOne(number: number): Promise<void> {
    const path = import.meta.resolve(`${packageName}/files/noto-sans-${code}-${number}-wght-normal.woff2`);
    // The file has every weight, the thinnest by default; pdfkit can only embed a font with a single weight.
    const bytes = await subsetFont(await readFile(new URL(path)), getCharacters(number), {
      targetFormat: 'truetype',
      variationAxes: { wght: 400 },
    });
    read.set(number, toLoadedFont(createSingleFont(bytes)));
  }

  function getCharacters(number: number): string {
    const own = [...(numbers ?? [])].filter(([, file]) => file === number);
    return String.fromCodePoint(...own.map(([codePoint]) => codePoint));
  }

  function findFile(codePoint: number): number | undefined {
    const number = numbers?.get(codePoint);
    // A file may lack characters that it is listed with.
    const has = number !== undefined && read.get(number)?.codePoints.has(codePoint) === true;
    return has ? number : undefined;
  }

  return {
    /** The number of the file that has the character, among those already read. */
    fileOf: findFile,
    /** Reads the files that should have these characters. */
    async load(codePoints: readonly number[]): Promise<void> {
      numbers ??= parseFileNumbers(
        readFileSync(new URL(import.meta.resolve(`${packageName}/unicode.json`)), 'utf8'),
      );
      const wanted = new Set(codePoints.flatMap(codePoint => numbers?.get(codePoint) ?? []));
      const unread = [...wanted].filter(number => !read.has(number));
      await Promise.all(unread.map(number => shareRun(String(number), () => readOne(number))));
    },
    file(number: number): LoadedFont {
      const made = read.get(number);
      if (made === undefined) throw new Error(`${packageName}: file ${number} has not been read`);
      return made;
    },
    /** The files already read. */
    read: () => read.values(),
  };
}

/**
 * Resets a font to its state after reading. fontkit caches every glyph with the characters of its first use. The next
 * document would inherit those characters, in its copied text and in its bytes. Reading the fonts again would take ten
 * times as long as a document.
 *
 * The font draws some accented letters as a letter and a mark: `ị` as `i` and a dot. If that were their first use, the
 * mark would have no characters and the `i` those of `ị`, and the text could not be copied. So they are used before.
 * @throws Error if fontkit stores its glyphs elsewhere
 */
export function forgetGlyphs({ font, parts }: LoadedFont): void {
  // Boundary: a private member of a pinned package, missing in its types.
  const own = font as unknown as { _glyphs: unknown };
  if (!isObject(own._glyphs)) throw new Error('this release of fontkit keeps its glyphs elsewhere');
  own._glyphs = {};
  for (const part of parts) font.glyphForCodePoint(part);
}

function createSingleFont(bytes: Uint8Array): Font {
  const font = create(Buffer.from(bytes));
  if (!('characterSet' in font)) throw new Error('the file holds several fonts');
  return font;
}

/**
 * Maps each character to the number of its file.
 * @param text JSON: `{"[4]": "U+1f1e6,U+2f00-2f0f", …, "latin": …}`; keys without a number cover what Noto Sans has
 */
function parseFileNumbers(text: string): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  // Boundary: the file list of a pinned package.
  for (const [key, ranges] of Object.entries(JSON.parse(text) as Record<string, string>)) {
    const number = Number(/^\[(\d+)\]$/.exec(key)?.[1]);
    if (Number.isNaN(number)) continue;
    for (const range of ranges.split(',')) {
      const [first = '', last = first] = range.replace('U+', '').split('-');
      const end = Number.parseInt(last, 16);
      for (let codePoint = Number.parseInt(first, 16); codePoint <= end; codePoint++)
        numbers.set(codePoint, number);
    }
  }
  return numbers;
}
