/**
 * The fonts of documents: Noto Sans for Latin, Greek and Cyrillic letters, and its Japanese, Chinese and Korean
 * companions, each read when the first text needs it. Only the glyphs that are shown go into a document.
 */
import { readFileSync } from 'node:fs';
import { create } from 'fontkit';

export type FontName = 'regular' | 'bold' | 'japanese' | 'chinese' | 'korean';

/** A piece of text that one font shows. */
interface Run {
  readonly font: FontName;
  readonly text: string;
}

export interface Fonts {
  /** The font's file. */
  bytes(name: FontName): Buffer;
  /** The text in pieces, each with a font that has all its letters. */
  runs(text: string, bold: boolean): Run[];
  /** The text as it can be shown: on one line, and with a question mark for what no font has. */
  shown(text: string): { readonly text: string; readonly isExact: boolean };
}

const files: Readonly<Record<FontName, readonly [packageName: string, file: string]>> = {
  regular: ['@embedpdf/fonts-latin', 'NotoSans-Regular.ttf'],
  bold: ['@embedpdf/fonts-latin', 'NotoSans-Bold.ttf'],
  japanese: ['@embedpdf/fonts-jp', 'NotoSansJP-Regular.otf'],
  chinese: ['@embedpdf/fonts-sc', 'NotoSansHans-Regular.otf'],
  korean: ['@embedpdf/fonts-kr', 'NotoSansKR-Regular.otf'],
};
/** They share most ideographs: a text is shown by the first of them that has all of it. */
const eastAsian = ['japanese', 'chinese', 'korean'] as const;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The visible characters of a text, each with its marks. */
export function charactersOf(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment);
}

interface Font {
  readonly bytes: Buffer;
  readonly codePoints: ReadonlySet<number>;
}

export function createFonts(): Fonts {
  const read = new Map<FontName, Font>();

  function font(name: FontName): Font {
    const known = read.get(name);
    if (known !== undefined) return known;
    const [packageName, file] = files[name];
    // The packages export nothing but a list of their files: these lie beside it.
    const bytes = readFileSync(new URL(`../fonts/${file}`, import.meta.resolve(packageName)));
    const parsed = create(bytes);
    if (!('characterSet' in parsed)) throw new Error(`${file} holds several fonts`);
    const made = { bytes, codePoints: new Set(parsed.characterSet) };
    read.set(name, made);
    return made;
  }

  function has(name: FontName, text: string): boolean {
    const { codePoints } = font(name);
    for (const character of text) if (!codePoints.has(character.codePointAt(0) ?? 0)) return false;
    return true;
  }

  /** In the order in which they are tried; none of the large ones is read for a text that needs none. */
  function candidates(text: string, bold: boolean): FontName[] {
    const own: FontName = bold ? 'bold' : 'regular';
    if (has(own, text)) return [own];
    const others = charactersOf(text).filter(character => !has(own, character));
    const missing = others.join('');
    const whole = eastAsian.find(name => has(name, missing));
    return [own, ...(whole === undefined ? eastAsian : [whole])];
  }

  return {
    bytes: name => font(name).bytes,
    runs(text, bold) {
      const names = candidates(text, bold);
      if (names.length === 1) return names.map(name => ({ font: name, text }));
      const runs: { font: FontName; text: string }[] = [];
      for (const character of charactersOf(text)) {
        const name = names.find(candidate => has(candidate, character)) ?? names[0] ?? 'regular';
        const last = runs.at(-1);
        if (last?.font === name) last.text += character;
        else runs.push({ font: name, text: character });
      }
      return runs;
    },
    shown(text) {
      // Line breaks and tabs become spaces; what only directs other characters has nothing to show.
      const line = text
        .normalize('NFC')
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim();
      const visible = (part: string) => part.replaceAll(/\p{Cf}+/gu, '');
      const names = candidates(visible(line), false);
      const isShown = (part: string) => names.some(name => has(name, part));
      const characters = charactersOf(line).map(visible);
      const made = characters.map(part => (isShown(part) ? part : '?')).join('');
      return { text: made, isExact: made === characters.join('') };
    },
  };
}
