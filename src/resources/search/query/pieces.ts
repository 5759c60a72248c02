/** The words of a query, before anything is read from the index. */
import { hasDigit } from '../../../storage/search/text/joined.ts';
import { splitRuns } from '../../../storage/search/text/split.ts';

/** Further words of a query are ignored. */
const maxWords = 20;
/** A shorter part is not a separate word: `t-shirt`. */
const minPartLength = 3;
const maxParts = 4;
const apostrophes = `'’‘`;
const hyphens = '-‐‑_&';
/** Articles and prepositions that lose their vowel before a noun: `l'huile`, `d'été`, `dell'olio`. */
const elided: ReadonlySet<string> = new Set(['l', 'd', 'un', 'dell', 'all', 'nell', 'dall', 'sull']);
/** Separators within a decimal number or a fraction. */
const points = '.,/';
/** Signs between measures: `80 × 202` is `80x202`. */
const times = /(?<=\p{N})\s*[×*]\s*(?=\p{N})/gu;

export interface Piece {
  readonly word: string;
  /** The parts of a word that is written with hyphens or the like. */
  readonly parts: readonly string[];
  /** The word together with the article that an apostrophe joins to it, as texts may write names: `loreal`. */
  readonly whole?: string;
  /** Whether it is a mark, and so complete: the mark for inches of `27"`. */
  readonly isMark?: boolean;
  /** Whether only a point, comma or slash separates it from the word before it: the `5kg` of `2.5kg`. */
  readonly isAdjacent?: boolean;
}

/** A distinct word of a query. */
export interface DistinctPiece extends Piece {
  /** The words before it, wherever it is in the query. */
  readonly before: ReadonlySet<string>;
}

interface Written {
  readonly word: string;
  /** The hyphen or apostrophe that joins it to the word before it, or an empty string. */
  readonly between: string;
  /** Whether it is a mark, and so complete: the mark for inches of `27"`. */
  readonly isMark: boolean;
  /** The point, comma or slash that alone separates it from the word before it, or an empty string. */
  readonly point: string;
  readonly start: number;
  readonly end: number;
  /** Whether the word is part of a text without spaces. */
  readonly isUnspaced: boolean;
}

/** The distinct words of a query, in order. Codes and words like `t-shirt` and `men's` are one word each. */
export function parsePieces(query: string): DistinctPiece[] {
  const pieces = new Map<string, DistinctPiece>();
  let last: string | undefined;
  for (const piece of generatePieces(query)) {
    if (pieces.size >= maxWords) break;
    const before = new Set(pieces.get(piece.word)?.before);
    if (last !== undefined) before.add(last);
    pieces.set(piece.word, { ...piece, before });
    last = piece.word;
  }
  return [...pieces.values()];
}

/** All words of a query, including repeated ones, without a limit. */
export function* generatePieces(query: string): Generator<Piece> {
  let group: Written[] = [];
  for (const written of parseWrittenWords(query.replace(times, 'x'))) {
    if (written.between === '' || group.length >= maxParts) {
      yield* toPieces(group);
      group = [];
    }
    group.push(written);
  }
  yield* toPieces(group);
}

function* parseWrittenWords(query: string): Generator<Written> {
  let last = -1;
  for (const { start, end, words, parts } of splitRuns(query)) {
    const isUnspaced = parts !== undefined;
    const isOne = words.length === 1 && !isUnspaced;
    const between = start - last === 1 && last >= 0 ? query.slice(last, start) : '';
    const isTight = between !== '' && (apostrophes.includes(between) || hyphens.includes(between));
    const isMark = !/[\p{L}\p{N}]/u.test(query.slice(start, end));
    for (const [index, word] of words.entries()) {
      const isFirst = index === 0 && isOne;
      yield {
        word,
        between: isFirst && isTight ? between : '',
        isMark,
        point: isFirst && points.includes(between) ? between : '',
        start,
        end,
        isUnspaced,
      };
    }
    last = isOne ? end : -1;
  }
}

/** A query that is being typed. */
export interface Beginning {
  /** The query with a completion instead of its last word. */
  complete(word: string): string;
  /** Whether no longer word completes the last one: the `s` of `men's`, the mark of `27"`. */
  readonly isComplete: boolean;
  /** The words that hyphens or the like join the last one to, as one word; an empty string if there are none. */
  readonly joined: string;
}

/** @param spell returns a word as it is shown */
export function parseBeginning(query: string, spell: (word: string) => string): Beginning {
  const all = [...parseWrittenWords(query)];
  // Pairs of characters are spelled together or not at all: a word in both kana is none.
  const isSpelled = all.every(
    ({ isUnspaced, word, start, end }) =>
      !isUnspaced || query.slice(start, end) === word || spell(word) !== word,
  );
  const toShown = ({ isUnspaced, word, start, end }: Written): string =>
    isUnspaced && !isSpelled ? query.slice(start, end) : spell(word);
  function writeBefore(next: Written, last: Written): string {
    const shown = toShown(last);
    if (!last.isUnspaced) return shown + (next.between || next.point || ' ');
    if (next.start >= last.end) return shown + query.slice(last.end, next.start);
    // If they begin together, the places of both are unknown, and the next one shows the text of both.
    return next.start === last.start ? '' : (firstLetter.exec(shown)?.[0] ?? '');
  }
  let [text, joined] = ['', ''];
  let last: Written | undefined;
  for (const written of all) {
    if (last !== undefined) text += writeBefore(written, last);
    joined = written.between === '' ? '' : joined + (last?.word ?? '');
    last = written;
  }
  return {
    complete: word => text + (word === last?.word ? toShown(last) : spell(word)),
    isComplete: last !== undefined && (last.isMark || isOwned(last)),
    joined,
  };
}

/** A pair of characters shares its second one with the next pair. */
const firstLetter = /^.[\p{M}\uff9e\uff9f]*/u;

const isOwned = ({ word, between }: Written): boolean =>
  word === 's' && between !== '' && apostrophes.includes(between);

/** Whether a word begins with an article that says nothing about what is searched for. */
function isElided([first, noun]: readonly Written[]): boolean {
  if (first === undefined || noun === undefined || !apostrophes.includes(noun.between)) return false;
  return elided.has(first.word) && noun.word.length >= minPartLength && !hasDigit(noun.word);
}

function toPieces(group: readonly Written[]): Piece[] {
  const words = group.map(({ word }) => word);
  const whole = words.join('');
  if (words.length < 2)
    return group.map(({ word, isMark, point }) => ({ word, parts: [], isMark, isAdjacent: point !== '' }));
  if (isElided(group)) {
    const pieces = toPieces(group.slice(1));
    return pieces.map(piece => (pieces.length === 1 ? { ...piece, whole } : piece));
  }
  const [, second] = group;
  if (group.length === 2 && second !== undefined && isOwned(second)) return [{ word: whole, parts: [] }];
  const isOne = words.some(word => hasDigit(word) || word.length < minPartLength);
  return isOne ? [{ word: whole, parts: words }] : words.map(word => ({ word, parts: [] }));
}
