/**
 * The fonts of documents: Noto Sans for Latin, Greek and Cyrillic letters, and its Japanese, Chinese and Korean
 * companions, each read when the first text needs it. Only the glyphs that are shown go into a document.
 */
import type { Font } from 'fontkit';
import { createDividedFont, forgetGlyphs, type LoadedFont, readLatin } from './font-files.ts';

type Weight = 'regular' | 'bold';
/** They share most ideographs: a text is shown by the first of them that has all of it. */
const eastAsian = ['japanese', 'simplified', 'traditional', 'korean'] as const;
type EastAsian = (typeof eastAsian)[number];
/** One file of a font. */
export type FontName = Weight | `${EastAsian} ${number}`;

/** A piece of text that one font shows. */
interface Run {
  readonly font: FontName;
  readonly text: string;
}

export type Fonts = ReturnType<typeof createFonts>;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The visible characters of a text, each with its marks. */
export function splitCharacters(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment);
}

const toCodePoints = (text: string) => Array.from(text, character => character.codePointAt(0) ?? 0);
/** Line breaks and tabs become spaces. */
const toLine = (text: string) =>
  text
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
/** What only directs other characters has nothing to show. */
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

  /** What is left for the East Asian fonts. */
  const findMissing = (weight: Weight, text: string) =>
    splitCharacters(text).filter(character => !isOwn(weight, character));

  /** The file that shows a whole character, with its marks. */
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

  /** Those that are tried for what the own font has not: the first that has all of it, else each in turn. */
  function chooseLanguages(characters: readonly string[]): readonly EastAsian[] {
    const whole = eastAsian.find(language =>
      characters.every(character => findFile(language, character) !== undefined),
    );
    return whole === undefined ? eastAsian : [whole];
  }

  /** @returns the font of each character of a text; undefined where none has it */
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

  /** Leaves out what is not visible, and puts a question mark for each character that no font has. */
  function replaceMissing(line: string) {
    const fontOf = createChooser(keepVisible(line), 'regular');
    const characters = splitCharacters(line).map(keepVisible);
    const shown = characters
      .map(character => (character === '' || fontOf(character) !== undefined ? character : '?'))
      .join('');
    return { text: shown, isExact: shown === characters.join('') };
  }

  return {
    /** Reads the fonts that a text needs: without it, only characters of fonts that have been read are shown. */
    async prepare(text: string): Promise<void> {
      const left = findMissing('regular', keepVisible(toLine(text)));
      if (left.length === 0) return;
      // Until one has all of it, whatever has been read for other texts: so the choice depends on this text alone.
      for (const language of eastAsian) {
        await divided[language].load(toCodePoints(left.join('')));
        if (left.every(character => findFile(language, character) !== undefined)) return;
      }
    },
    /** Leaves nothing of the document before in the fonts; the next must be drawn to its end without waiting. */
    begin(): void {
      for (const font of Object.values(latin)) forgetGlyphs(font);
      for (const { read } of Object.values(divided)) for (const font of read()) forgetGlyphs(font);
    },
    font(name: FontName): Font {
      if (name === 'regular' || name === 'bold') return readOwnFont(name).font;
      const [language, number] = name.split(' ');
      // Boundary: `split` forgets that a name has the two parts that its type names, the first of them a language.
      return divided[language as EastAsian].file(Number(number)).font;
    },
    /** The text in pieces, each with a font that has all its letters. */
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
    /** The text as it can be shown: on one line, and with a question mark for what no font has. */
    shown(text: string): { readonly text: string; readonly isExact: boolean } {
      const first = replaceMissing(toLine(text));
      // Once more: what is not visible may have kept a mark, or a space, apart from the character before it.
      const second = replaceMissing(toLine(first.text));
      return { text: second.text, isExact: first.isExact && second.isExact };
    },
  };
}
