/** Words that are written apart or together: parts of a code, a number and its unit, what a hyphen or an apostrophe parts. */

/** Characters of a word made of several. */
const longest = 24;
/** So many words are put together at most. */
const mostParts = 4;
/** Of letters before a number, and after it: `GSR 18`, `500 grams`. */
const longestPrefix = 3;
const longestUnit = 5;
/** Longer numbers stand for themselves. */
const longestNumber = 8;
const space = 0x20;
const slash = 0x2f;
const dot = 0x2e;

/** Hyphens, apostrophes, the underscore and the ampersand: what they part is often written as one word. */
const isTight = (code: number): boolean =>
  code === 0x2d ||
  code === 0x27 ||
  code === 0x26 ||
  code === 0x5f ||
  code === 0x2019 ||
  code === 0x2018 ||
  code === 0x2010 ||
  code === 0x2011;

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** Whether it begins or ends with a digit, as nearly all words with digits do. */
export const hasDigit = (word: string): boolean =>
  isDigit(word.charCodeAt(0)) || isDigit(word.charCodeAt(word.length - 1));

const isNumber = (word: string): boolean =>
  isDigit(word.charCodeAt(0)) && isDigit(word.charCodeAt(word.length - 1));

/**
 * Whether two words with one character between them may be written as one.
 * @param first, second whether they have digits
 */
function isJoinable(before: string, first: boolean, word: string, second: boolean, between: number): boolean {
  // First, since nearly all words are parted so.
  if (between === space)
    return (
      (first || second) &&
      before.length <= (first ? longestNumber : longestPrefix) &&
      word.length <= (second ? longestNumber : longestUnit)
    );
  if (isTight(between)) return true;
  // Not decimal numbers and fractions.
  return (between === slash || between === dot) && (first || second) && !(isNumber(before) && isNumber(word));
}

/** Is given each word of a text in order, the one character before it (0 where there are more or none), and `hasDigit`. */
export type Joiner = (word: string, between: number, digit: boolean) => void;

/** @param into where words put together are added */
export function joiner(into: string[]): Joiner {
  let parts: string[] | undefined;
  let digits = false;
  let last = '';
  let lastHasDigit = false;
  return (word, between, digit) => {
    const before = last;
    const beforeHasDigit = lastHasDigit;
    last = word;
    lastHasDigit = digit;
    if (between === 0 || before === '' || !isJoinable(before, beforeHasDigit, word, digit, between)) {
      parts = undefined;
      return;
    }
    if (parts === undefined) {
      parts = [before];
      digits = beforeHasDigit;
    }
    digits ||= digit;
    let text = word;
    for (let index = parts.length - 1; index >= 0 && parts.length - index < mostParts; index--) {
      text = parts[index] + text;
      if (text.length > longest) break;
      // Of `state-of-the-art` only what begins with its beginning.
      if (digits || index === 0) into.push(text);
    }
    parts.push(word);
  };
}
