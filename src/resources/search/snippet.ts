/** The piece of a text that shows why it was found: HTML in which nothing is markup but `<mark>`. */

import type { Term } from '../../storage/search/expression.ts';
import { foldPieces, longestWord, type Run } from '../../storage/search/text/folded.ts';
import { findInchMarks, inchWords } from '../../storage/search/text/inches.ts';
import { addParts, isTight, mostParts } from '../../storage/search/text/joined.ts';
import { isPlain, splitRuns } from '../../storage/search/text/split.ts';
import { takeTurn } from '../../turns/index.ts';
import type { QueryWord } from './query/word.ts';

/** Characters before the first word found, and in all; words are not cut unless they are longer themselves. */
const before = 60;
const length = 160;
/**
 * Words that are looked at before one is found, of texts whose words have to be folded: nearly a microsecond each, and a
 * single letter may stand for several. What is found further on, as in a long book, is shown by the beginning of the text.
 */
const mostFolded = 15_000;
/** Characters of a text in which words that stand apart are looked for: each with those beside it. */
const longestJoined = 2000;

/** Whether a word of a text is one of the query. */
export interface WordTest {
  (word: string): boolean;
  /** All that such words begin with. */
  readonly beginnings: readonly string[];
}

interface Marked {
  readonly start: number;
  readonly end: number;
}

interface Shown {
  readonly title: string;
  readonly body: string;
  /** What else it is found by: shown only where the words found are in it. */
  readonly fields: readonly string[];
}

/**
 * The piece of the body around the first word found; where it has none, with the fields that have it; else the title. Where no
 * word is found by itself, what is written apart and found as one: `18V-55` by `18v55`. A document has up to a megabyte of
 * texts, so the event loop is given turns between them.
 */
export async function buildSnippet({ title, body, fields }: Shown, found: WordTest): Promise<string> {
  const inBody = findPiece(body, found);
  if (inBody !== undefined) return inBody;
  const finding: string[] = [];
  for (const field of fields) {
    const due = takeTurn();
    if (due !== undefined) await due;
    if (findPiece(field, found) !== undefined) finding.push(field);
  }
  const parts = body === '' ? finding : [body, ...finding];
  const shown = body === '' ? title : body;
  return (
    (finding.length === 0 ? undefined : findPiece(parts.join(' · '), found)) ??
    findPiece(title, found) ??
    (await findJoinedPiece([title, body, ...fields], found)) ??
    Bun.escapeHTML(shown.slice(0, findCut(shown, length)))
  );
}

/** Undefined when none of the words is there. */
function findPiece(text: string, found: WordTest): string | undefined {
  const place = findPlace(text, found);
  if (place === undefined) return undefined;
  // Of a long text, the words before need not be split: what is shown begins less than that before the first one found.
  const start = place <= 2 * length ? 0 : text.lastIndexOf(' ', place - 2 * length) + 1;
  return findPieceAround(text, createWordMarker(found), start);
}

/** The same of words that stand apart in the first of some texts that has them. */
async function findJoinedPiece(texts: readonly string[], found: WordTest): Promise<string | undefined> {
  // As for what is found by the code of a variant.
  if (found.beginnings.length === 0) return undefined;
  for (const text of texts) {
    const due = takeTurn();
    if (due !== undefined) await due;
    const beginning = text.slice(0, findCut(text, longestJoined));
    const piece = findPieceAround(beginning, createJoinedMarker(found, beginning));
    if (piece !== undefined) return piece;
  }
  return undefined;
}

/** What is marked with a run of a text, which is given in its order: it ends there. */
type Marker = (run: Run) => Marked | undefined;

const createWordMarker =
  (found: WordTest): Marker =>
  run =>
    run.words.some(word => found(word) || hasPart(word, found)) ? run : undefined;

/** Finds what several runs are together, with one character between each, or what is part of that. */
function createJoinedMarker(found: WordTest, text: string): Marker {
  let group: Run[] = [];
  return run => {
    const isNext = group.at(-1)?.end === run.start - 1 && run.words.length === 1;
    group = isNext ? [...group.slice(1 - mostParts), run] : [run];
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

/** @param start where no word is parted, and behind which what is marked first is by more than is shown before it */
function findPieceAround(whole: string, marker: Marker, start = 0): string | undefined {
  const text = whole.slice(start);
  let first: Marked | undefined;
  const starts: number[] = [];
  const marks: Marked[] = [];
  let end = 0;
  let left = isPlain(text) ? Number.POSITIVE_INFINITY : mostFolded;
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
    // What begins with a word that is marked already needs no mark of its own.
    if (hit !== undefined && (marks.at(-1)?.end ?? 0) <= hit.start) marks.push(hit);
  }
  if (first === undefined) return undefined;
  const { start: firstStart } = first;
  const begin = firstStart <= before ? 0 : (starts.find(at => at >= firstStart - before) ?? firstStart);
  const last = Math.min(end, findCut(text, begin + 2 * length));
  // What follows the last word of a text that fits belongs to it.
  const stop = text.length - begin <= length ? text.length : last;
  return `${start + begin > 0 ? '…' : ''}${markWords(text, begin, stop, marks)}${stop < text.length ? '…' : ''}`;
}

function hasPart(word: string, found: WordTest): boolean {
  const parts: string[] = [];
  addParts(word, parts);
  return parts.some(found);
}

/**
 * A place that all of the words are behind; undefined where a text certainly has none: most fields of most hits, which need
 * not be split for that.
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
    end = piece.slice(-2 * longestWord);
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

/** This place, or the one before when it would part a surrogate pair. */
function findCut(text: string, place: number): number {
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff ? place - 1 : Math.min(place, text.length);
}

/** Finds the words of a text that are marked. */
export const createWordTest = (words: readonly QueryWord[]): WordTest =>
  createTermTest(words.flatMap(({ alternatives }) => alternatives.flatMap(({ choice }) => choice)));

export function createTermTest(terms: readonly Term[]): WordTest {
  const whole = new Set(terms.map(({ word }) => word));
  const prefixes = terms.filter(({ prefix }) => prefix).map(({ word }) => word);
  const test = (word: string) => whole.has(word) || prefixes.some(prefix => word.startsWith(prefix));
  return Object.assign(test, { beginnings: [...whole] });
}
