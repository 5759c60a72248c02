/** The words that a document is found by: those of all its fields, and those of its title again with a mark. */
import { finishInSlices } from '../../../turns/slices.ts';
import { collectWords, collectWordsInSteps, finish, splitCodeWords } from './split.ts';

/** The searched texts of a document: title and body, and for products and articles further fields. */
export interface SearchText {
  readonly title: string;
  readonly body: string;
  readonly fields?: FurtherTexts;
  /** Whether only requests for archived products find it. */
  readonly archived?: boolean;
}

/** The texts that a document is found by in addition to its title and body. */
interface FurtherTexts {
  readonly codes: readonly string[];
  readonly brand: string | null;
  readonly categories: readonly string[];
  readonly attributes: readonly string[];
  readonly tags: readonly string[];
}

/** The most distinct words of a document that are indexed: the words at the end of a very long body are not. */
export const maxWords = 2000;

/**
 * Marks for the words of titles; no word contains one. There is a mark for each range of lengths, shortest first, so
 * that of very many documents with a word in their title, those with the shortest titles are found first.
 */
export const titleMarks = ['§', '¶', '¤', '¥', '¦'] as const;
/** The most words of a title for the mark at the same index. */
const titleLengths = [3, 6, 10, 16] as const;

function getTitleMark(words: number): string {
  const place = titleLengths.findIndex(length => words <= length);
  return titleMarks[place] ?? titleMarks[4];
}

/** The words of a document: those of its title with the mark, then all words. Both databases keep each word once. */
export function toDocumentWords(document: SearchText): string[] {
  return toEntries(finish(splitTextByText(document)));
}

/** The same, yielding to the event loop between texts, and within long ones. */
export const toDocumentWordsInSlices = async (document: SearchText): Promise<string[]> =>
  toEntries(await finishInSlices(splitTextByText(document)));

interface SplitTexts {
  /** All words, the first `titled` of which are those of the title. */
  readonly words: readonly string[];
  readonly titled: number;
  /** The mark of the title. */
  readonly mark: string;
}

/** Texts of at least this many characters are long: the time to split a text grows with its length. */
const longText = 4000;

/** Splits the texts of a document, with a `yield` after each text, and within long ones. */
function* splitTextByText(document: SearchText): Generator<undefined, SplitTexts> {
  const words: string[] = [];
  const mark = getTitleMark(collectWords(document.title, words));
  const titled = words.length;
  for (const code of document.fields?.codes ?? []) collectCode(code, words);
  for (const text of getTexts(document)) {
    if (text.length < longText) collectWords(text, words);
    else yield* collectWordsInSteps(text, words);
    yield;
  }
  return { words, titled, mark };
}

function toEntries({ words, titled, mark }: SplitTexts): string[] {
  const isLong = titled + words.length > maxWords;
  const entries: string[] = [];
  for (let index = 0; index < titled; index++) entries.push(mark + words[index]);
  if (isLong) return selectDistinct(entries, words);
  for (const word of words) entries.push(word);
  return entries;
}

/** The first distinct words of some lists. */
function selectDistinct(...lists: readonly (readonly string[])[]): string[] {
  const distinct = new Set<string>();
  for (const list of lists) {
    for (const word of list) {
      // Stops before reading the others: very long texts have very many words.
      if (distinct.size === maxWords) return [...distinct];
      distinct.add(word);
    }
  }
  return [...distinct];
}

/** The most characters of a code that is also found without its separators. */
const maxCodeLength = 40;

/** Adds the words of a code, in parts and as a whole. Parts of words that are only letters are omitted as unlikely. */
export function collectCode(code: string, into: string[]): void {
  const first = into.length;
  const together: string[] = [];
  const inside: string[] = [];
  const words = collectWords(code, into, together, inside);
  const whole = into.slice(first).join('');
  for (const part of inside) if (/\d/.test(part)) into.push(part);
  if (words < 2) return;
  for (const word of together) into.push(word);
  // Often the whole is the last of the joined words.
  if (whole.length <= maxCodeLength && together.at(-1) !== whole) into.push(whole);
}

/** The form in which whole codes are compared: without separators. */
export const toComparedCode = (code: string): string => splitCodeWords(code).join('');
/** How many parts a code has. */
export const countCodeWords = (code: string): number => splitCodeWords(code).length;

/** All texts of a document except its title and codes, the longest last. */
function getTexts({ body, fields }: SearchText): readonly string[] {
  if (fields === undefined) return [body];
  const { brand, categories, attributes, tags } = fields;
  return [...(brand === null ? [] : [brand]), ...categories, ...tags, ...attributes, body];
}

/** The texts, other than title and body, that a document is found by, in the form in which they are shown. */
export function getShownFields({ fields }: SearchText): readonly string[] {
  if (fields === undefined) return [];
  const { codes, brand, categories, attributes, tags } = fields;
  return [brand ?? '', ...categories, tags.join(', '), ...attributes, ...codes].filter(part => part !== '');
}

/** Whether two documents have the same texts, and both or neither are archived. */
export function isSameText(one: SearchText, other: SearchText): boolean {
  return one.archived === other.archived && hasSameWords(one, other);
}

/** Whether two documents have the same texts, archived or not. */
export function hasSameWords(one: SearchText, other: SearchText): boolean {
  return (
    one.title === other.title &&
    one.body === other.body &&
    JSON.stringify(one.fields) === JSON.stringify(other.fields)
  );
}

/** In letters. A word of three letters can be meant by one of four; longer texts are not words. */
const minMisspeltLength = 3;
const maxMisspeltLength = 32;
const letters = /^[\p{L}\p{M}]+$/u;
const isMark = (code: number): boolean => code >= 0xa4 && code <= 0xb6;

/** Whether a word may be misspelt: it has only letters, neither too few nor too many. */
export function canBeMisspelt(entry: string): boolean {
  const first = entry.charCodeAt(0);
  // Most others are marked, short, or begin with a digit: a quick test.
  if (entry.length < minMisspeltLength || isMark(first) || (first >= 0x30 && first <= 0x39)) return false;
  if (!letters.test(entry)) return false;
  const { length } = [...entry];
  return length >= minMisspeltLength && length <= maxMisspeltLength;
}
