/**
 * Words that are written apart or together: parts of a code, a number and its unit, words with a hyphen or an
 * apostrophe. Words written apart are also found as one word, and words written together by their parts.
 */

const maxLength = 24;
/** The most words that are joined. */
export const maxParts = 4;
/** The most letters before a number, and after it: `GSR 18`, `500 grams`. */
const maxPrefixLength = 3;
export const maxUnitLength = 5;
/** Longer numbers are not joined across a space. */
const maxNumberLength = 8;
/** Shorter parts of a word are units and the like, which mean nothing alone. */
const minPartLength = 3;
const space = 0x20;
const slash = 0x2f;
const dot = 0x2e;

const tight = new Set([0x2d, 0x27, 0x26, 0x5f, 0x2019, 0x2018, 0x2010, 0x2011]);
/** Hyphens, apostrophes, the underscore and the ampersand: words that they separate are often written as one. */
export const isTight = (code: number): boolean => tight.has(code);

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** Whether it begins or ends with a digit, as nearly all words with digits do. */
export const hasDigit = (word: string): boolean =>
  isDigit(word.charCodeAt(0)) || isDigit(word.charCodeAt(word.length - 1));

const isNumber = (word: string): boolean =>
  isDigit(word.charCodeAt(0)) && isDigit(word.charCodeAt(word.length - 1));

/** A digit of any script. */
export const numeral = /\p{N}/u;
const isNumeral = (code: number): boolean =>
  isDigit(code) || (code > 0x7f && numeral.test(String.fromCharCode(code)));

/** Where the stretches of letters and of digits of a word end; undefined if there is one, or very many. */
function findEnds(word: string): readonly number[] | undefined {
  let ends: number[] | undefined;
  let last = isNumeral(word.charCodeAt(0));
  for (let index = 1; index < word.length; index++) {
    const is = isNumeral(word.charCodeAt(index));
    if (is === last) continue;
    last = is;
    ends ??= [];
    if (ends.push(index) >= maxParts) return;
  }
  ends?.push(word.length);
  return ends;
}

/** The stretches of letters and of digits of a word like `iphone14`; empty if there is one, or very many. */
export const splitLettersAndDigits = (word: string): readonly string[] =>
  findEnds(word)?.map((end, index, ends) => word.slice(ends[index - 1] ?? 0, end)) ?? [];

/** `20,000` is two words in a text. */
export const splitThousands = (word: string): string[] =>
  /^\d{4,6}$/.test(word) ? [word.slice(0, -3), word.slice(-3)] : [word];

export const isWholeNumber = (word: string): boolean => /^\p{N}+$/u.test(word);

/** As far as its form says: up to `maxUnitLength` letters, and perhaps a power, as in `m2`. */
const unitForm = /^\P{N}{1,5}[23]?$/u;

/** The end of a size: `3x1`, `m8x1`. */
const sizeEnd = /\p{N}x\p{N}+$/u;

/**
 * Whether a word continues a number after a point as the decimals of a measure: `5kg` after `2.`, which is not `25kg`,
 * or of a size: `25` after `M8x1.`. Three digits may be thousands: `10.000mAh` is `10000mAh`.
 * @param after the word after that, which is the unit if `word` has only digits
 */
export function isDecimal(number: string, word: string, after = ''): boolean {
  const [digits = word] = splitLettersAndDigits(word);
  if (!isWholeNumber(digits)) return false;
  if (!isWholeNumber(number)) return sizeEnd.test(number);
  if (digits.length === 3 && number.length <= 3 && !number.startsWith('0')) return false;
  return unitForm.test(digits === word ? after : word.slice(digits.length));
}

/** Adds the parts that a word of letters and digits is also found by: `1000xm5` by `1000`, `1000xm` and `xm5`. */
export function addParts(word: string, into: string[]): void {
  const ends = findEnds(word);
  if (ends === undefined) return;
  let start = 0;
  for (const first of ends) {
    for (const end of ends) {
      if (end >= first && end - start >= minPartLength && end - start < word.length)
        into.push(word.slice(start, end));
    }
    start = first;
  }
}

/**
 * Whether two words with one character between them may be written as one.
 * @param first, second whether they have digits
 */
function isJoinable(before: string, first: boolean, word: string, second: boolean, between: number): boolean {
  // First, since nearly all words are separated by a space.
  if (between === space)
    return (
      (first || second) &&
      before.length <= (first ? maxNumberLength : maxPrefixLength) &&
      word.length <= (second ? maxNumberLength : maxUnitLength)
    );
  if (isTight(between)) return true;
  // Not decimal numbers and fractions: `2.5kg` is not `25kg`.
  return (
    (between === slash || between === dot) &&
    (first || second) &&
    !(isNumber(before) && isNumber(word)) &&
    !isDecimal(before, word)
  );
}

/**
 * Takes each word of a text in order, the one character before it (0 if there are more or none), `hasDigit`, and
 * whether the word may have both letters and digits.
 */
export type Joiner = (word: string, between: number, digit: boolean, mixed: boolean) => void;

/**
 * @param into receives joined words
 * @param inside receives parts of words
 */
export function createJoiner(into: string[], inside: string[]): Joiner {
  let parts: string[] | undefined;
  let digits = false;
  let anyMixed = false;
  /** The index of the first part after the last space. */
  let unspaced = 0;
  let last = '';
  let lastHasDigit = false;
  let lastIsMixed = false;
  return (word, between, digit, mixed) => {
    const before = last;
    const beforeHasDigit = lastHasDigit;
    const beforeIsMixed = lastIsMixed;
    last = word;
    lastHasDigit = digit;
    lastIsMixed = mixed;
    if (mixed) addParts(word, inside);
    if (between === 0 || before === '' || !isJoinable(before, beforeHasDigit, word, digit, between)) {
      parts = undefined;
      return;
    }
    if (parts === undefined) {
      parts = [before];
      digits = beforeHasDigit;
      anyMixed = beforeIsMixed;
      unspaced = 0;
    }
    digits ||= digit;
    anyMixed ||= mixed;
    if (between === space) unspaced = parts.length;
    let text = word;
    for (let index = parts.length - 1; index >= 0 && parts.length - index < maxParts; index--) {
      text = parts[index] + text;
      if (text.length > maxLength) break;
      // Of `state-of-the-art`, only joined words that begin with its first word.
      if (digits || index === 0) into.push(text);
      // Across a space, two numbers would become one stretch of digits: `RTX4070 8GB`.
      if (anyMixed && index >= unspaced) addParts(text, inside);
    }
    parts.push(word);
  };
}
