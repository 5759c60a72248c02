/**
 * Splits text into the words that are searched for: lower case, without diacritics. Both databases index these words
 * as they are and split nothing themselves, so that a query finds the same on both (docs/decisions/0014).
 */
import { foldRuns, maxWordLength } from './folded.ts';
import { findInchMarks, inchWords, replaceInchMarks } from './inches.ts';
import { createJoiner, hasDigit, isDigit, type Joiner, numeral } from './joined.ts';
import type { Run } from './unspaced.ts';

/** How many characters of a run `splitRuns` splits into words. */
const maxRunLength = 500;

/**
 * Generates the runs of a text and its marks for inches, in order. Of a very long run, only the beginning is split: a
 * text without blanks and punctuation is a single run.
 */
export function splitRuns(text: string): Generator<Run> {
  const marks = findInchMarks(text);
  return marks.length === 0 ? splitUnmarkedRuns(text, 0) : splitMarkedRuns(text, marks);
}

function* splitMarkedRuns(text: string, marks: ReturnType<typeof findInchMarks>): Generator<Run> {
  let last = 0;
  for (const { start, end } of marks) {
    yield* splitUnmarkedRuns(text.slice(last, start), last);
    yield { start, end, words: inchWords };
    last = end;
  }
  yield* splitUnmarkedRuns(text.slice(last), last);
}

/** @param offset where this text begins in the whole text */
const splitUnmarkedRuns = (text: string, offset: number): Generator<Run> =>
  isPlain(text) ? splitPlainRuns(text, offset) : splitFoldedRuns(text, offset);

function* splitFoldedRuns(text: string, offset: number): Generator<Run> {
  for (const found of foldRuns(text, maxRunLength))
    yield { ...found, start: offset + found.start, end: offset + found.end };
}

function* splitPlainRuns(text: string, offset: number): Generator<Run> {
  const small = text.toLowerCase();
  for (let end = 0; end < text.length; ) {
    const start = findWordStart(text, end);
    end = findWordEnd(text, start);
    if (end > start)
      yield { start: offset + start, end: offset + end, words: [getPlainWord(small, start, end)] };
  }
}

/** All words of a text in order, including repeated ones. */
export const splitWords = (text: string): string[] => splitCodeWords(replaceInchMarks(text));

/** The same for a code, which has no marks for inches. */
export function splitCodeWords(code: string): string[] {
  const words: string[] = [];
  collect(code, words);
  return words;
}

/**
 * Adds the words of a text to `into`, and after each word the joined words that end with it, and its parts: `t-shirt`
 * is also found by `tshirt`, `24 MB-01` by `24mb01`, `500 g` by `500g`, `WH-1000XM5` by `xm5`.
 * @param together receives joined words; by default `into`
 * @param inside receives parts of words; by default `together`
 * @returns how many words there are, without joined words and parts
 */
export function collectWords(
  text: string,
  into: string[],
  together: string[] = into,
  inside: string[] = together,
): number {
  return collect(replaceInchMarks(text), into, createJoiner(together, inside), inside);
}

/** The same for a text that may be very long, with a `yield` after some of its words. */
export function* collectWordsInSteps(text: string, into: string[]): Generator<undefined, number> {
  const replaced = replaceInchMarks(text);
  const join = createJoiner(into, into);
  return isPlain(replaced)
    ? collectPlain(replaced, into, join)
    : yield* collectFolded(replaced, into, join, into);
}

function collect(text: string, into: string[], join?: Joiner, inside?: string[]): number {
  if (isPlain(text)) return collectPlain(text, into, join);
  return finish(collectFolded(text, into, join, inside));
}

/** Does all steps of a generator at once. @returns its result */
export function finish<Result>(steps: Iterator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs between two yields in a text that must be folded. */
const runsAtOnce = 500;

function* collectFolded(
  text: string,
  into: string[],
  join: Joiner | undefined,
  inside: string[] | undefined,
): Generator<undefined, number> {
  let [count, runs, last] = [0, 0, 0];
  for (const { start, end, words, parts } of foldRuns(text)) {
    const [only] = words;
    for (const word of words) into.push(word);
    if (parts !== undefined && inside !== undefined) for (const part of parts) inside.push(part);
    if (words.length === 1 && only !== undefined && parts === undefined) {
      join?.(only, start - last === 1 ? text.charCodeAt(last) : 0, hasDigit(only), numeral.test(only));
      last = end;
    } else last = -1;
    count += words.length;
    runs += 1;
    if (runs % runsAtOnce === 0) yield;
  }
  return count;
}

function collectPlain(text: string, into: string[], join: Joiner | undefined): number {
  let count = 0;
  const small = text.toLowerCase();
  for (let end = 0; end < text.length; ) {
    const before = end;
    const start = findWordStart(text, end);
    end = findWordEnd(text, start);
    if (end === start) break;
    const word = getPlainWord(small, start, end);
    into.push(word);
    if (join !== undefined) {
      const last = Math.min(end, start + maxWordLength) - 1;
      // Read from the text: reading it from the word would first copy the word out of the text.
      const digit = isDigit(text.charCodeAt(start)) || isDigit(text.charCodeAt(last));
      const numerals = countDigits(text, start, end);
      const mixed = numerals > 0 && numerals < end - start;
      join(word, start - before === 1 ? text.charCodeAt(before) : 0, digit, mixed);
    }
    count += 1;
  }
  return count;
}

/*
 * Plain texts, of ASCII and common punctuation, are scanned by hand: nearly all texts are plain, every write splits
 * one, and regular expressions take several times as long.
 */

/** Whether a text is plain: except for capital letters, it has its words in their indexed form. */
export function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f && !isPunctuation(code)) return false;
  }
  return true;
}

/** The middle dot, which separates the fields of a text; dashes, quotation marks, bullets, dots. */
const isPunctuation = (code: number): boolean => code === 0xb7 || (code >= 0x2010 && code <= 0x2027);

function findWordStart(text: string, from: number): number {
  let index = from;
  while (index < text.length && !isAsciiWord(text.charCodeAt(index))) index++;
  return index;
}

function findWordEnd(text: string, from: number): number {
  let index = from;
  while (index < text.length && isAsciiWord(text.charCodeAt(index))) index++;
  return index;
}

/** The digits of the word between two places of a plain text. */
function countDigits(text: string, start: number, end: number): number {
  let digits = 0;
  for (let index = start; index < end; index++) if (text.charCodeAt(index) <= 0x39) digits++;
  return digits;
}

/** Letters in either case, and digits. */
const isAsciiWord = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);

const getPlainWord = (small: string, start: number, end: number): string =>
  small.slice(start, Math.min(end, start + maxWordLength));
