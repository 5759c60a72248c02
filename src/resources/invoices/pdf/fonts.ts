/**
 * The fonts of documents: Noto Sans for Latin, Greek and Cyrillic letters, and its Japanese, Chinese and Korean
 * companions, which are read when a text first needs them. Documents embed only the glyphs that they show.
 */
import type { Font } from 'fontkit';
import { createDividedFont, forgetGlyphs, type LoadedFont, readLatin } from './font-files.ts';

type Weight = 'regular' | 'bold';
/** The fonts share most ideographs: the first one that has all characters of a text shows it. */
const eastAsian = ['japanese', 'simplified', 'traditional', 'korean'] as const;
type EastAsian = (typeof eastAsian)[number];
/** The name of one font file. */
export type FontName = Weight | `${EastAsian} ${number}`;

/** A piece of text in one font. */
interface Run {
  readonly font: FontName;
  readonly text: string;
}

export type Fonts = ReturnType<typeof createFonts>;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The graphemes of a text: characters with their combining marks. */
export function splitCharacters(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment);
}

const toCodePoints = (text: string) => Array.from(text, character => character.codePointAt(0) ?? 0);
/** One line: line breaks and tabs become spaces. */
const toLine = (text: string) =>
  text
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
/** Removes format characters, which are invisible. */
const keepVisible = (text: string) => text.replaceAll(/\p{Cf}+/gu, '');

export function createFonts() {
  const latin: Partial<Record<Weight, LoadedFont>> = {};
  const divided = {
    japanese: createDividedFont('jp'),
    simplified: createDividedFont('sc'),
    traditional: createDividedFont('tc'),
    korean: createDividedFont('kr'),
  };

  function readOwnFont(weight: Weight): LoadedFont {
    latin[weight] ??= readLatin(weight === 'bold' ? 'Bold' : 'Regular');
    return latin[weight];
  }

  function isOwn(weight: Weight, text: string): boolean {
    const { codePoints } = readOwnFont(weight);
    for (const character of text) if (!codePoints.has(character.codePointAt(0) ?? 0)) return false;
    return true;
  }

  /** The characters that only the East Asian fonts can show. */
  const findMissing = (weight: Weight, text: string) =>
    splitCharacters(text).filter(character => !isOwn(weight, character));

  /** The file that has a whole grapheme, with its marks. */
  function findFile(language: EastAsian, character: string): FontName | undefined {
    const { fileOf: fileOfCodePoint } = divided[language];
    let number: number | undefined;
    for (const part of character) {
      const next = fileOfCodePoint(part.codePointAt(0) ?? 0);
      if (next === undefined || next !== (number ?? next)) return undefined;
      number = next;
    }
    return number === undefined ? undefined : `${language} ${number}`;
  }

  /** The languages to try for these characters: the first that has all of them, or else each in turn. */
  function chooseLanguages(characters: readonly string[]): readonly EastAsian[] {
    const whole = eastAsian.find(language =>
      characters.every(character => findFile(language, character) !== undefined),
    );
    return whole === undefined ? eastAsian : [whole];
  }

  /** @returns a function that returns the font of a character of the text; undefined if no font has it */
  function createChooser(text: string, weight: Weight): (character: string) => FontName | undefined {
    const left = findMissing(weight, text);
    const languages = left.length === 0 ? [] : chooseLanguages(left);
    return character => {
      if (isOwn(weight, character)) return weight;
      for (const language of languages) {
        const name = findFile(language, character);
        if (name !== undefined) return name;
      }
      return undefined;
    };
  }

  /** Removes invisible characters, and replaces each character that no font has with a question mark. */
  function replaceMissing(line: string) {
    const fontOf = createChooser(keepVisible(line), 'regular');
    const characters = splitCharacters(line).map(keepVisible);
    const shown = characters
      .map(character => (character === '' || fontOf(character) !== undefined ? character : '?'))
      .join('');
    return { text: shown, isExact: shown === characters.join('') };
  }

  return {
    /** Reads the fonts that a text needs; without this call, characters of unread fonts are not shown. */
    async prepare(text: string): Promise<void> {
      const left = findMissing('regular', keepVisible(toLine(text)));
      if (left.length === 0) return;
      // Stops at a language with all characters, whatever was loaded before: the choice depends on this text alone.
      for (const language of eastAsian) {
        await divided[language].load(toCodePoints(left.join('')));
        if (left.every(character => findFile(language, character) !== undefined)) return;
      }
    },
    /** Clears all traces of the previous document; the next one must then be drawn without awaiting anything. */
    begin(): void {
      for (const font of Object.values(latin)) forgetGlyphs(font);
      for (const { read } of Object.values(divided)) for (const font of read()) forgetGlyphs(font);
    },
    font(name: FontName): Font {
      if (name === 'regular' || name === 'bold') return readOwnFont(name).font;
      const [language, number] = name.split(' ');
      // Boundary: the type of `name` guarantees a language and a number, which `split` does not preserve.
      return divided[language as EastAsian].file(Number(number)).font;
    },
    /** The text in pieces, each with a font that has all of its characters. */
    runs(text: string, bold: boolean): Run[] {
      const weight = bold ? 'bold' : 'regular';
      const fontOf = createChooser(text, weight);
      const runs: { font: FontName; text: string }[] = [];
      for (const character of splitCharacters(text)) {
        const font = fontOf(character) ?? weight;
        const last = runs.at(-1);
        if (last?.font === font) last.text += character;
        else runs.push({ font, text: character });
      }
      return runs;
    },
    /** The text as shown: on one line, with a question mark for each character that no font has. */
    shown(text: string): { readonly text: string; readonly isExact: boolean } {
      const first = replaceMissing(toLine(text));
      // Repeated: removing invisible characters may have joined a mark, or a space, with the preceding character.
      const second = replaceMissing(toLine(first.text));
      return { text: second.text, isExact: first.isExact && second.isExact };
    },
  };
}
