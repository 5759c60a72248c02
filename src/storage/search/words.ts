/**
 * Text as the words that are searched for: small letters without diacritics. Both databases index these words
 * as they are and split nothing themselves, so that a query finds the same on both (docs/decisions/0014).
 */

/** Longer words are cut: nobody types them, and PostgreSQL's index takes 2,046 bytes at most. */
const longestWord = 64;
/** Distinct words of a document that are indexed; more are left out. */
const mostWords = 2000;

const run = /[\p{L}\p{N}\p{M}]+/gu;
const asciiText = /^[\0-\x7f]*$/;
/** Scripts written without spaces: each character is a word. All others: what stands together. */
const foldedWord =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]+/gv;
/** Accents of European scripts; the marks of others are letters to their readers. */
const diacritics = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]|\u3099|\u309a/g;

/** Letters that Unicode does not take apart, as people type them who do not have them. */
const spelledOut: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['ø', 'o'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['ħ', 'h'],
  ['ł', 'l'],
  ['þ', 'th'],
  ['ı', 'i'],
  ['ς', 'σ'],
]);
const spelledOutLetters = new RegExp(`[${[...spelledOut.keys()].join('')}]`, 'g');

/** A stretch of letters and digits in a text, and the words it is indexed as. */
export interface Run {
  /** Where it begins and ends in the text. */
  readonly start: number;
  readonly end: number;
  readonly words: readonly string[];
}

/** The runs of a text one after another, for as long as they are asked for. */
export function* runsOf(text: string): Generator<Run> {
  if (!isPlain(text)) {
    for (const { 0: found, index } of text.matchAll(run)) {
      yield { start: index, end: index + found.length, words: foldedWords(found) };
    }
    return;
  }
  const small = text.toLowerCase();
  for (let end = 0; end < text.length; ) {
    const start = wordStart(text, end);
    end = wordEnd(text, start);
    if (end > start) yield { start, end, words: [plainWord(small, start, end)] };
  }
}

/** All words of a text, in its order; what is repeated stands there again. */
export function wordsOf(text: string): readonly string[] {
  if (!isPlain(text)) return (text.match(run) ?? []).flatMap(foldedWords);
  const small = text.toLowerCase();
  const words: string[] = [];
  for (let end = 0; end < text.length; ) {
    const start = wordStart(text, end);
    end = wordEnd(text, start);
    if (end > start) words.push(plainWord(small, start, end));
  }
  return words;
}

/*
 * Plain texts, of ASCII and common punctuation, are walked through by hand: nearly all texts are such, every write
 * splits one, and regular expressions take several times as long.
 */

function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f && !isPunctuation(code)) return false;
  }
  return true;
}

/** The middle dot, which texts of several fields have between them; dashes, quotation marks, bullets, dots. */
const isPunctuation = (code: number): boolean => code === 0xb7 || (code >= 0x2010 && code <= 0x2027);

function wordStart(text: string, from: number): number {
  let index = from;
  while (index < text.length && !isAsciiWord(text.charCodeAt(index))) index++;
  return index;
}

function wordEnd(text: string, from: number): number {
  let index = from;
  while (index < text.length && isAsciiWord(text.charCodeAt(index))) index++;
  return index;
}

/** Letters, small or not, and digits. */
const isAsciiWord = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);

const plainWord = (small: string, start: number, end: number): string =>
  small.slice(start, Math.min(end, start + longestWord));

function foldedWords(found: string): readonly string[] {
  if (asciiText.test(found)) return cut([found.toLowerCase()]);
  const folded = found
    .toLowerCase()
    .normalize('NFKD')
    .toLowerCase()
    .replace(diacritics, '')
    .replace(spelledOutLetters, letter => spelledOut.get(letter) ?? letter);
  return cut(folded.match(foldedWord) ?? []);
}

function cut(words: readonly string[]): readonly string[] {
  if (words.every(word => word.length <= longestWord)) return words;
  // By code point: half a surrogate pair could not be stored.
  return words.map(word => (word.length <= longestWord ? word : [...word].slice(0, longestWord).join('')));
}

/** What is searched of a document. */
export interface SearchText {
  readonly title: string;
  readonly body: string;
}

/** Marks a word as one of a title; no word contains it. */
export const titleMark = '§';

/** The words of a document: those of its title once with the mark, then all. Both databases keep each once. */
export function documentWords({ title, body }: SearchText): string[] {
  return entriesOf(wordsOf(title), wordsOf(body));
}

function entriesOf(inTitle: readonly string[], inBody: readonly string[]): string[] {
  const entries = inTitle.map(word => titleMark + word);
  for (const word of inTitle) entries.push(word);
  for (const word of inBody) entries.push(word);
  return entries.length <= mostWords ? entries : [...new Set(entries)].slice(0, mostWords);
}

/**
 * For very many documents: `documentWords` with spaces between them, and the words that it may consist of, without
 * marks. Texts are put together from texts, because each marked word would be one more.
 */
export function splitDocument({ title, body }: SearchText): { text: string; words: readonly string[] } {
  const inTitle = wordsOf(title);
  const inBody = wordsOf(body);
  const words = [...inTitle, ...inBody];
  if (inTitle.length + words.length > mostWords) return { text: entriesOf(inTitle, inBody).join(' '), words };
  const text = words.join(' ');
  return {
    text: inTitle.length === 0 ? text : `${titleMark}${inTitle.join(` ${titleMark}`)} ${text}`,
    words,
  };
}

/** In letters. A word of three can be meant by one of four; longer ones are no words. */
const shortestMisspelt = 3;
const longestMisspelt = 32;
const letters = /^[\p{L}\p{M}]+$/u;
const markCode = titleMark.charCodeAt(0);

/** What most entries of documents that cannot be misspelt are: marked, short, or a number. A quick look. */
export function isNoWord(entry: string): boolean {
  const first = entry.charCodeAt(0);
  return entry.length < shortestMisspelt || first === markCode || (first >= 0x30 && first <= 0x39);
}

/** Whether somebody may mean this word by another: it has letters only, neither too few nor too many. */
export function canBeMisspelt(entry: string): boolean {
  if (isNoWord(entry) || !letters.test(entry)) return false;
  const { length } = [...entry];
  return length >= shortestMisspelt && length <= longestMisspelt;
}
