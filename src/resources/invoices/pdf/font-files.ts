/**
 * The files of the fonts: one each for Latin, Greek and Cyrillic letters, regular and bold; and those of Japanese,
 * Chinese and Korean, each divided into a hundred files of some hundred characters, which are read when they are needed.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { create, type Font } from 'fontkit';
import subsetFont from 'subset-font';
import { isObject } from '../../../json-object.ts';

/** What fontkit has read, and the characters in it. */
export interface LoadedFont {
  readonly font: Font;
  readonly codePoints: ReadonlySet<number>;
}

const toLoadedFont = (font: Font): LoadedFont => ({ font, codePoints: new Set(font.characterSet) });

export function readLatin(weight: 'Regular' | 'Bold'): LoadedFont {
  // The package exports nothing but a list of its files: they lie beside it.
  const folder = import.meta.resolve('@embedpdf/fonts-latin');
  return toLoadedFont(createSingleFont(readFileSync(new URL(`../fonts/NotoSans-${weight}.ttf`, folder))));
}

/**
 * A font that is divided into files.
 * @param code of the language, as in the name of the package
 */
export function createDividedFont(code: 'jp' | 'sc' | 'tc' | 'kr') {
  const packageName = `@fontsource-variable/noto-sans-${code}`;
  const files = new Map<number, Promise<LoadedFont>>();
  const read = new Map<number, LoadedFont>();
  let numbers: ReadonlyMap<number, number> | undefined;

  async function readOne(number: number): Promise<LoadedFont> {
    const path = import.meta.resolve(`${packageName}/files/noto-sans-${code}-${number}-wght-normal.woff2`);
    // The file has every weight, the thinnest by default; pdfkit can embed what has one.
    const bytes = await subsetFont(await readFile(new URL(path)), getCharacters(number), {
      targetFormat: 'truetype',
      variationAxes: { wght: 400 },
    });
    const made = toLoadedFont(createSingleFont(bytes));
    read.set(number, made);
    return made;
  }

  function getCharacters(number: number): string {
    const own = [...(numbers ?? [])].filter(([, file]) => file === number);
    return String.fromCodePoint(...own.map(([codePoint]) => codePoint));
  }

  function findFile(codePoint: number): number | undefined {
    const number = numbers?.get(codePoint);
    // What a file is listed with is not always in it.
    const has = number !== undefined && read.get(number)?.codePoints.has(codePoint) === true;
    return has ? number : undefined;
  }

  return {
    /** The number of the file that has the character, of those that have been read. */
    fileOf: findFile,
    /** Reads the files that are to have these characters. */
    async load(codePoints: readonly number[]): Promise<void> {
      numbers ??= parseFileNumbers(
        readFileSync(new URL(import.meta.resolve(`${packageName}/unicode.json`)), 'utf8'),
      );
      for (const codePoint of codePoints) {
        const number = numbers.get(codePoint);
        if (number !== undefined && !files.has(number)) files.set(number, readOne(number));
      }
      await Promise.all(files.values());
    },
    file(number: number): LoadedFont {
      const made = read.get(number);
      if (made === undefined) throw new Error(`${packageName}: file ${number} has not been read`);
      return made;
    },
    /** Those that have been read. */
    read: () => read.values(),
  };
}

/**
 * Has a font as it was when it was read. fontkit keeps every glyph with the characters that it was first requested for:
 * none, when that was as a part of an accented letter. What is drawn next would say those of the document before, in
 * what can be copied out of it and in its bytes. To read the fonts again would take ten times as long as a document.
 * @throws Error where fontkit keeps its glyphs elsewhere
 */
export function forgetGlyphs({ font }: LoadedFont): void {
  // Boundary: a private member of a pinned package, which its types do not have.
  const own = font as unknown as { _glyphs: unknown };
  if (!isObject(own._glyphs)) throw new Error('this release of fontkit keeps its glyphs elsewhere');
  own._glyphs = {};
}

function createSingleFont(bytes: Uint8Array): Font {
  const font = create(Buffer.from(bytes));
  if (!('characterSet' in font)) throw new Error('the file holds several fonts');
  return font;
}

/**
 * The number of the file of each character.
 * @param text JSON: `{"[4]": "U+1f1e6,U+2f00-2f0f", …, "latin": …}`; files without a number have what Noto Sans has
 */
function parseFileNumbers(text: string): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  // Boundary: the list of a pinned package.
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
