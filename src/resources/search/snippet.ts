/** The excerpt of a text that shows why it was found: HTML whose only markup is `<mark>`. */

import type { Term } from '../../storage/search/expression.ts';
import { foldPieces, maxWordLength } from '../../storage/search/text/folded.ts';
import { findInchMarks, inchWords } from '../../storage/search/text/inches.ts';
import { addParts, isTight, maxParts } from '../../storage/search/text/joined.ts';
import { isPlain, splitRuns } from '../../storage/search/text/split.ts';
import type { Run } from '../../storage/search/text/unspaced.ts';
import { takeTurn } from '../../turns/index.ts';
import type { QueryWord } from './query/word.ts';

/** Characters before the first word found, and in total; a word is cut only if it is longer. */
const before = 60;
const length = 160;
/**
 * How many words that must be folded are examined before one is found: each takes nearly a microsecond, and a single
 * letter may stand for several. If the first match comes later, as in a long book, the beginning of the text is shown.
 */
const maxFolded = 15_000;
/** Characters of a text that are searched for words written apart: each word together with its neighbours. */
const maxJoinedLength = 2000;

/** Whether a word of a text is one of the query. */
export interface WordTest {
  (word: string): boolean;
  /** The beginnings of all such words. */
  readonly beginnings: readonly string[];
}

interface Marked {
  readonly start: number;
  readonly end: number;
}

interface Shown {
  readonly title: string;
  readonly body: string;
  /** Further texts that it is found by: each is shown only if it has one of the words found, and the body has none. */
  fields(): readonly string[];
}

/**
 * The excerpt of the body around the first word found; if the body has none, the body with the fields that have one;
 * else the title. If no single word is found, words that are written apart and found as one: `18V-55` by `18v55`.
 * A document has up to a megabyte of text, so this yields to the event loop between fields.
 */
export async function buildSnippet(shown: Shown, found: WordTest): Promise<string> {
  const { title, body } = shown;
  const inBody = findPiece(body, found);
  if (inBody !== undefined) return inBody;
  const fields = shown.fields();
  const finding: string[] = [];
  for (const field of fields) {
    await takeTurn();
    if (findPiece(field, found) !== undefined) finding.push(field);
  }
  const parts = body === '' ? finding : [body, ...finding];
  const whole = body === '' ? title : body;
  return (
    (finding.length === 0 ? undefined : findPiece(parts.join(' · '), found)) ??
    findPiece(title, found) ??
    (await findJoinedPiece([title, body, ...fields], found)) ??
    Bun.escapeHTML(whole.slice(0, findCut(whole, length)))
  );
}

/** The excerpt around the first word found; undefined if there is none. */
function findPiece(text: string, found: WordTest): string | undefined {
  const place = findPlace(text, found);
  if (place === undefined) return undefined;
  // The beginning of a long text need not be split: the excerpt begins less than this before the first word found.
  const start = place <= 2 * length ? 0 : text.lastIndexOf(' ', place - 2 * length) + 1;
  return findPieceAround(text, createWordMarker(found), start);
}

/** The same for words written apart, in the first of the texts that has them. */
async function findJoinedPiece(texts: readonly string[], found: WordTest): Promise<string | undefined> {
  // Hits for the code of a variant, for example, have no words to mark.
  if (found.beginnings.length === 0) return undefined;
  for (const text of texts) {
    await takeTurn();
    const beginning = text.slice(0, findCut(text, maxJoinedLength));
    const piece = findPieceAround(beginning, createJoinedMarker(found, beginning));
    if (piece !== undefined) return piece;
  }
  return undefined;
}

/** Returns the mark that ends with this run; the runs of a text must be passed in order. */
type Marker = (run: Run) => Marked | undefined;

const createWordMarker =
  (found: WordTest): Marker =>
  run =>
    run.words.some(word => found(word) || hasPart(word, found)) ? run : findPart(run, found);

/** Marks one character of a pair. */
function findPart(run: Run, found: WordTest): Marked | undefined {
  const place = run.parts?.findIndex(found) ?? -1;
  if (place < 0) return undefined;
  const start = run.start + place;
  return run.end - run.start === 2 ? { start, end: start + 1 } : run;
}

/** Marks runs that are one character apart and together form a word that is found, or that has a part that is. */
function createJoinedMarker(found: WordTest, text: string): Marker {
  let group: Run[] = [];
  return run => {
    const isNext = group.at(-1)?.end === run.start - 1 && run.words.length === 1 && run.parts === undefined;
    group = isNext ? [...group.slice(1 - maxParts), run] : [run];
    let word = run.words.join('');
    let hasParts = true;
    for (const { start, end, words } of group.slice(0, -1).reverse()) {
      word = words.join('') + word;
      hasParts &&= isTight(text.charCodeAt(end));
      if (found(word) || (hasParts && hasPart(word, found))) return { start, end: run.end };
    }
    return undefined;
  };
}

/** @param start a position that splits no word, farther before the first mark than the excerpt begins */
function findPieceAround(whole: string, marker: Marker, start = 0): string | undefined {
  const text = whole.slice(start);
  let first: Marked | undefined;
  const starts: number[] = [];
  const marks: Marked[] = [];
  let end = 0;
  let left = isPlain(text) ? Number.POSITIVE_INFINITY : maxFolded;
  for (const run of splitRuns(text)) {
    if (first === undefined) {
      starts.push(run.start);
      left -= run.words.length;
      if (left < 0) return undefined;
    }
    const hit = marker(run);
    first ??= hit;
    if (first === undefined) continue;
    const from = first.start - before;
    if (run.end - Math.max(from, 0) > length && end > 0) break;
    end = run.end;
    if (hit !== undefined) addMark(marks, hit, run.parts !== undefined);
  }
  if (first === undefined) return undefined;
  const { start: firstStart } = first;
  const begin = firstStart <= before ? 0 : (starts.find(at => at >= firstStart - before) ?? firstStart);
  const last = Math.min(end, findCut(text, begin + 2 * length));
  // If the rest of the text fits, the excerpt includes what follows the last word.
  const stop = text.length - begin <= length ? text.length : last;
  return `${start + begin > 0 ? '…' : ''}${markWords(text, begin, stop, marks)}${stop < text.length ? '…' : ''}`;
}

/** Skips a hit within the last mark; overlapping pairs of characters share one mark. */
function addMark(marks: Marked[], hit: Marked, isUnspaced: boolean): void {
  const last = marks.at(-1);
  if (last === undefined || last.end < hit.start || (last.end === hit.start && !isUnspaced)) marks.push(hit);
  else if (isUnspaced && last.end < hit.end) marks[marks.length - 1] = { start: last.start, end: hit.end };
}

function hasPart(word: string, found: WordTest): boolean {
  const parts: string[] = [];
  addParts(word, parts);
  return parts.some(found);
}

/**
 * A position that all of the words come after; undefined if a text certainly has none. Most fields of most hits have
 * none, and need not be split.
 */
function findPlace(text: string, found: WordTest): number | undefined {
  const mark = inchWords.some(found) ? findInchMarks(text).at(0)?.start : undefined;
  const word = findTermPlace(text, found);
  return mark === undefined || word === undefined ? (mark ?? word) : Math.min(mark, word);
}

function findTermPlace(text: string, { beginnings }: WordTest): number | undefined {
  if (isPlain(text)) {
    const small = text.toLowerCase();
    const places = beginnings.map(word => small.indexOf(word)).filter(place => place >= 0);
    return places.length === 0 ? undefined : Math.min(...places);
  }
  let [end, place] = ['', 0];
  for (const { start, folded } of foldPieces(text)) {
    const piece = end + folded;
    if (beginnings.some(word => piece.includes(word))) return place;
    // A word may begin in a piece and end in the next.
    end = piece.slice(-2 * maxWordLength);
    place = start;
  }
  return undefined;
}

function markWords(text: string, begin: number, stop: number, marks: readonly Marked[]): string {
  let html = '';
  let at = begin;
  for (const { start, end } of marks) {
    if (start >= stop) break;
    const until = Math.min(end, stop);
    html += `${Bun.escapeHTML(text.slice(at, start))}<mark>${Bun.escapeHTML(text.slice(start, until))}</mark>`;
    at = until;
  }
  return html + Bun.escapeHTML(text.slice(at, Math.max(at, stop)));
}

/** The place, or the one before it if it would split a surrogate pair. */
function findCut(text: string, place: number): number {
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff ? place - 1 : Math.min(place, text.length);
}

/** Tests which words of a text to mark. */
export const createWordTest = (words: readonly QueryWord[]): WordTest =>
  createTermTest(words.flatMap(({ alternatives }) => alternatives.flatMap(({ choice }) => choice)));

export function createTermTest(terms: readonly Term[]): WordTest {
  const whole = new Set(terms.map(({ word }) => word));
  const prefixes = terms.filter(({ prefix }) => prefix).map(({ word }) => word);
  const test = (word: string) => whole.has(word) || prefixes.some(prefix => word.startsWith(prefix));
  return Object.assign(test, { beginnings: [...whole] });
}
