/** The words of a query, before anything is read from the index. */
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { splitRuns } from '../../../storage/search/text/split.ts';

/** Words of a query that count; more are left out. */
const mostWords = 20;
/** A part of fewer letters is no word of its own: `t-shirt`. */
const shortestPart = 3;
const mostParts = 4;
const apostrophes = `'’‘`;
const hyphens = '-‐‑_&';
/** Between measures: `80 × 202` is `80x202`. */
const times = /(?<=\p{N})\s*[×*]\s*(?=\p{N})/gu;

/** A word that is searched for. */
export interface Piece {
  readonly word: string;
  /** Of one that is written with hyphens or the like: what stands between them. */
  readonly parts: readonly string[];
  /** Whether it is complete by what it is. */
  readonly isMark?: boolean;
}

interface Written {
  readonly word: string;
  /** The only character before it, or none. */
  readonly between: string;
  /** Whether it is complete by what it is: the mark for inches of `27"`. */
  readonly isMark: boolean;
}

/** The distinct words of a query, in order. Parts of codes and of words like `t-shirt` and `men's` are one. */
export function parsePieces(query: string): Piece[] {
  const pieces = new Map<string, Piece>();
  for (const piece of generatePieces(query)) if (pieces.size < mostWords) pieces.set(piece.word, piece);
  return [...pieces.values()];
}

/** The same with those that are repeated, and however many. */
export function* generatePieces(query: string): Generator<Piece> {
  let group: Written[] = [];
  for (const written of parseWrittenWords(query.replace(times, 'x'))) {
    if (written.between === '' || group.length >= mostParts) {
      yield* toPieces(group);
      group = [];
    }
    group.push(written);
  }
  yield* toPieces(group);
}

function* parseWrittenWords(query: string): Generator<Written> {
  let last = -1;
  for (const { start, end, words } of splitRuns(query)) {
    const between = start - last === 1 && last >= 0 ? query.slice(last, start) : '';
    const isTight = between !== '' && (apostrophes.includes(between) || hyphens.includes(between));
    const isMark = !/[\p{L}\p{N}]/u.test(query.slice(start, end));
    for (const [index, word] of words.entries()) {
      yield { word, between: index === 0 && isTight && words.length === 1 ? between : '', isMark };
    }
    last = words.length === 1 ? end : -1;
  }
}

/** What stands before the last word of a query, as its completions are shown behind it. */
export interface Beginning {
  readonly text: string;
  /** Whether the last word goes on as nothing else: the `s` of `men's`, the mark of `27"`. */
  readonly isComplete: boolean;
}

/** @param spell a word as it is shown */
export function parseBeginning(query: string, spell: (word: string) => string): Beginning {
  let text = '';
  let last: Written | undefined;
  for (const written of parseWrittenWords(query)) {
    if (last !== undefined) text += spell(last.word) + (written.between === '' ? ' ' : written.between);
    last = written;
  }
  return { text, isComplete: last !== undefined && (last.isMark || isOwned(last)) };
}

const isOwned = ({ word, between }: Written): boolean =>
  word === 's' && between !== '' && apostrophes.includes(between);

function toPieces(group: readonly Written[]): Piece[] {
  const words = group.map(({ word }) => word);
  const whole = words.join('');
  if (words.length < 2) return group.map(({ word, isMark }) => ({ word, parts: [], isMark }));
  const [, second] = group;
  if (group.length === 2 && second !== undefined && isOwned(second)) return [{ word: whole, parts: [] }];
  const isOne = words.some(word => hasDigit(word) || word.length < shortestPart);
  return isOne ? [{ word: whole, parts: words }] : words.map(word => ({ word, parts: [] }));
}
