/**
 * Text for the fonts that every PDF reader has: they know the 218 characters of WinAnsi (Windows-1252) and no
 * others. What they lack is transliterated where there is a usual way, and otherwise shown as a question mark.
 */

export interface Shown {
  readonly text: string;
  /** Whether it is what was asked for, character by character. */
  readonly exact: boolean;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Letters that do not come apart into a Latin letter and its marks. */
const latin: Readonly<Record<string, string>> = {
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
  ŧ: 't',
  ə: 'e',
  ẞ: 'SS',
  '−': '-',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '―': '—',
  '⁄': '/',
};

const cyrillicLetters = 'абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґјљњћђџў';
const cyrillicShown =
  'a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch  y  e yu ya yo i yi ye g j lj nj c dj dz u';
const cyrillic = Object.fromEntries(
  cyrillicShown.split(' ').map((shown, index) => [cyrillicLetters.charAt(index), shown]),
);
const table: ReadonlyMap<string, string> = new Map(Object.entries({ ...latin, ...cyrillic }));

/** @param supported the code points that the font knows */
export function winAnsi(text: string, supported: ReadonlySet<number>): Shown {
  const isSupported = (part: string) =>
    [...part].every(character => supported.has(character.codePointAt(0) ?? 0));
  let exact = true;
  let shown = '';
  // Line breaks and tabs become spaces; what only directs other characters has nothing to show.
  const line = text.normalize('NFC').replaceAll(/[\s\p{Cc}]+/gu, ' ');
  for (const { segment } of graphemes.segment(line)) {
    if (isSupported(segment)) {
      shown += segment;
      continue;
    }
    exact = false;
    shown += transliterated(segment, isSupported) ?? '?';
  }
  return { text: shown.trim(), exact };
}

/** One visible character in others; undefined when there is no usual way. */
function transliterated(segment: string, isSupported: (part: string) => boolean): string | undefined {
  const known = lookedUp(segment);
  if (known !== undefined) return known;
  let shown = '';
  for (const part of segment.normalize('NFKD')) {
    if (/^[\p{M}\p{Cf}]$/u.test(part)) continue;
    const one = isSupported(part) ? part : lookedUp(part);
    if (one === undefined) return undefined;
    shown += one;
  }
  return shown;
}

function lookedUp(letter: string): string | undefined {
  const exactly = table.get(letter);
  if (exactly !== undefined) return exactly;
  const lower = table.get(letter.toLowerCase());
  return lower === undefined ? undefined : lower.charAt(0).toUpperCase() + lower.slice(1);
}
