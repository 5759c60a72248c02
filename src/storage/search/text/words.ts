/** The words that a document is found by: those of all its fields, and those of its title a second time with a mark. */
import { takeTurn } from '../../../turns/index.ts';
import { collectWords, collectWordsInSteps, splitCodeWords } from './split.ts';

/** What is searched of a document. Of products by field, of all else a title and a text. */
export interface SearchText {
  readonly title: string;
  readonly body: string;
  readonly fields?: ProductTexts;
  /** Found only by requests for archived products. */
  readonly archived?: boolean;
}

/** What a product is found by besides its name and description. */
interface ProductTexts {
  readonly codes: readonly string[];
  readonly brand: string | null;
  readonly categories: readonly string[];
  readonly attributes: readonly string[];
  readonly tags: readonly string[];
}

/** Distinct words of a document that are indexed; more are left out. */
const mostWords = 2000;

/**
 * Marks a word as one of a title; no word contains one. There is one for each length of titles, the shortest first, so
 * that of very many documents with a word in their title those are found first that have little else in it.
 */
export const titleMarks = ['§', '¶', '¤', '¥', '¦'] as const;
/** Titles of up to so many words have the mark of this place. */
const titleLengths = [3, 6, 10, 16] as const;

function getTitleMark(words: number): string {
  const place = titleLengths.findIndex(length => words <= length);
  return titleMarks[place] ?? titleMarks[4];
}

/** The words of a document: those of its title once with the mark, then all. Both databases keep each once. */
export function toDocumentWords(document: SearchText): string[] {
  return toEntries(splitTexts(document));
}

/** The same, with turns of the event loop between its texts, and within long ones. */
export async function toDocumentWordsInSlices(document: SearchText): Promise<string[]> {
  const steps = splitTextByText(document);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return toEntries(value);
    const due = takeTurn();
    if (due !== undefined) await due;
  }
}

interface SplitTexts {
  /** All words, the first `titled` of which are those of the title. */
  readonly words: readonly string[];
  readonly titled: number;
  /** That of the title. */
  readonly mark: string;
}

function splitTexts(document: SearchText): SplitTexts {
  const steps = splitTextByText(document);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Characters from which a text is long: the time to split one grows with them. */
const longText = 4000;

/** Stops after each text, and within long ones. */
function* splitTextByText(document: SearchText): Generator<undefined, SplitTexts> {
  const words: string[] = [];
  const mark = getTitleMark(collectWords(document.title, words));
  const titled = words.length;
  for (const text of getTexts(document)) {
    if (text.length < longText) collectWords(text, words);
    else yield* collectWordsInSteps(text, words);
    yield;
  }
  for (const code of document.fields?.codes ?? []) collectCode(code, words);
  return { words, titled, mark };
}

function toEntries({ words, titled, mark }: SplitTexts): string[] {
  const isLong = titled + words.length > mostWords;
  const entries: string[] = [];
  for (let index = 0; index < titled; index++) entries.push(mark + words[index]);
  if (isLong) return selectDistinct(entries, words);
  for (const word of words) entries.push(word);
  return entries;
}

/** Of two lists in turn. */
function selectDistinct(...lists: readonly (readonly string[])[]): string[] {
  const distinct = new Set<string>();
  for (const list of lists) {
    for (const word of list) {
      // Before the others are even looked at: very long texts have very many.
      if (distinct.size === mostWords) return [...distinct];
      distinct.add(word);
    }
  }
  return [...distinct];
}

/** Characters of a code that is found without what stands between its parts. */
const longestCode = 40;

/** A code, in parts and as a whole. Letters within one of its words are left out: hardly anyone means them. */
export function collectCode(code: string, into: string[]): void {
  const first = into.length;
  const together: string[] = [];
  const inside: string[] = [];
  const words = collectWords(code, into, together, inside);
  const whole = into.slice(first).join('');
  for (const part of inside) if (/\d/.test(part)) into.push(part);
  if (words < 2) return;
  for (const word of together) into.push(word);
  // Often it has just been put together.
  if (whole.length <= longestCode && together.at(-1) !== whole) into.push(whole);
}

/** A code as it is compared as a whole: without what stands between its parts. */
export const toComparedCode = (code: string): string => splitCodeWords(code).join('');
/** Of how many parts a code consists. */
export const countCodeWords = (code: string): number => splitCodeWords(code).length;

/** All texts of a document but its title and codes. */
function getTexts({ body, fields }: SearchText): readonly string[] {
  if (fields === undefined) return [body];
  const { brand, categories, attributes, tags } = fields;
  return [body, ...(brand === null ? [] : [brand]), ...categories, ...attributes, ...tags];
}

/** What else than its title and text a document is found by, as it may be shown. */
export function getShownFields({ fields }: SearchText): readonly string[] {
  if (fields === undefined) return [];
  const { codes, brand, categories, attributes, tags } = fields;
  return [brand ?? '', ...categories, tags.join(', '), ...attributes, ...codes].filter(part => part !== '');
}

/** Whether two documents have the same texts. */
export function isSameText(one: SearchText, other: SearchText): boolean {
  return one.archived === other.archived && hasSameWords(one, other);
}

/** Whether documents say the same, wherever they are found. */
export function hasSameWords(one: SearchText, other: SearchText): boolean {
  return (
    one.title === other.title &&
    one.body === other.body &&
    JSON.stringify(one.fields) === JSON.stringify(other.fields)
  );
}

/** For very many documents: `toDocumentWords` with spaces between them, and the words that it may consist of, without marks. */
export function splitDocument(document: SearchText): { text: string; words: readonly string[] } {
  const split = splitTexts(document);
  const { words, titled, mark } = split;
  if (titled === 0 || titled + words.length > mostWords) return { text: toEntries(split).join(' '), words };
  // The same, without a list of all entries.
  return { text: `${mark}${words.slice(0, titled).join(` ${mark}`)} ${words.join(' ')}`, words };
}

/** In letters. A word of three can be meant by one of four; longer ones are not words. */
const shortestMisspelt = 3;
const longestMisspelt = 32;
const letters = /^[\p{L}\p{M}]+$/u;
const isMark = (code: number): boolean => code >= 0xa4 && code <= 0xb6;

/** What most entries of documents that cannot be misspelt are: marked, short, or a number. A quick test. */
export function isNoWord(entry: string): boolean {
  const first = entry.charCodeAt(0);
  return entry.length < shortestMisspelt || isMark(first) || (first >= 0x30 && first <= 0x39);
}

/** Whether this word may have been misspelt as another: it has letters only, neither too few nor too many. */
export function canBeMisspelt(entry: string): boolean {
  if (isNoWord(entry) || !letters.test(entry)) return false;
  const { length } = [...entry];
  return length >= shortestMisspelt && length <= longestMisspelt;
}
