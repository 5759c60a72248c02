/** Folds text that is not plain to the indexed form of words: lower case, without diacritics. */
import { toWordMap } from '../../../arrays/words.ts';
import { foldLetters } from './letters.ts';
import { findLastLetter, isDivided, isUnspaced, type Run, splitStretch, stretch } from './unspaced.ts';

/**
 * More marks on one letter than Unicode's stream-safe text has, and any language needs: sorting them takes quadratic
 * time. The two characters in addition to \p{M} become marks.
 */
const manyMarks = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
const marksAhead = /^[\p{M}\uff9e\uff9f]+/u;

/** Letters that Unicode does not decompose, and how they are typed on keyboards without them. */
const spelledOut = toWordMap('ß:ss ø:o æ:ae œ:oe đ:d ð:d ħ:h ł:l þ:th ı:i ς:σ');
const spelledOutLetters = new RegExp(`[${[...spelledOut.keys()].join('')}]`, 'g');

/**
 * The most characters of a folded text. One character may become eighteen. In real text of any language each becomes at
 * most three, so that nothing is left out of a description of the greatest length.
 */
const maxFoldedLength = 500_000;
/** Characters that are folded in one piece, and the most marks after them that belong to it. */
const pieceLength = 4000;
const maxSequenceLength = 64;

/** @param most after about this many characters, no more pieces are folded */
function foldText(text: string, most: number): string {
  if (text.length <= pieceLength) return foldPiece(text);
  let result = '';
  for (const { folded } of foldPieces(text, most)) result += folded;
  return result;
}

/** The same, piece by piece, with the position of each in the text. */
export function* foldPieces(
  text: string,
  most = maxFoldedLength,
): Generator<{ readonly start: number; readonly folded: string }> {
  let length = 0;
  for (let start = 0; start < text.length && length < most; ) {
    const end = findSequenceEnd(text, start + pieceLength);
    const folded = foldPiece(text.slice(start, end));
    length += folded.length;
    yield { start, folded };
    start = end;
  }
}

/** Separates fractions from numbers: `1½` is indexed like `1 1/2`. */
const fractions = /[\u00bc-\u00be\u2150-\u215f\u2189]/g;

const foldPiece = (text: string): string =>
  foldLetters(
    text.replace(manyMarks, '$1').replace(fractions, ' $& ').toLowerCase().normalize('NFKD').toLowerCase(),
  ).replace(spelledOutLetters, letter => spelledOut.get(letter) ?? letter);

/** The place, or the next one that splits neither a surrogate pair nor a letter and its marks. */
function findSequenceEnd(text: string, place: number): number {
  const code = text.charCodeAt(place);
  const end = code >= 0xdc00 && code <= 0xdfff ? place + 1 : place;
  const marks = marksAhead.exec(text.slice(end, end + maxSequenceLength))?.[0] ?? '';
  return end + marks.length;
}

const asciiText = /^[\0-\x7f]*$/;
/** Adjacent letters and digits of a folded run, or the separator of runs. */
const foldedWord = /[\p{L}\p{N}\p{M}]+|\n/gu;
/** Characters of runs that are folded together: folding each alone would take several times as long. */
const groupLength = 1000;

/** The most characters of a run without spaces that are split together. */
const maxPieceLength = 400;

/** Longer words are cut: queries do not have them, and PostgreSQL's index takes at most 2,046 bytes. */
export const maxWordLength = 64;

/** A run as it is written in the text. */
interface Found {
  readonly text: string;
  readonly index: number;
}

/** The runs of a text, some at a time; no more are searched for than are requested. */
function* groupRuns(text: string, maxRunLength: number): Generator<readonly Found[]> {
  let group: Found[] = [];
  let length = 0;
  for (const { 0: found, index } of text.matchAll(stretch)) {
    for (const piece of cutRun(found, index)) {
      group.push(piece);
      length += Math.min(piece.text.length, maxRunLength);
      if (length < groupLength) continue;
      yield group;
      group = [];
      length = 0;
    }
  }
  if (group.length > 0) yield group;
}

/**
 * The pieces of a run without spaces, which may be a whole text, so that no step takes long. Pieces that are split into
 * pairs of characters share one, for the pair at the cut.
 */
function* cutRun(run: string, index: number): Generator<Found> {
  const length = isUnspaced(run) ? maxPieceLength : run.length;
  for (let start = 0; ; ) {
    const end = findSequenceEnd(run, start + length);
    const text = run.slice(start, end);
    yield { text, index: index + start };
    if (end >= run.length) return;
    const last = isDivided(run) ? 0 : findLastLetter(text);
    start = last === 0 ? end : start + last;
  }
}

/**
 * The runs of a text and their words.
 * @param maxRunLength how many characters of a run are split into words
 */
export function* foldRuns(text: string, maxRunLength = Number.POSITIVE_INFINITY): Generator<Run> {
  let left = maxFoldedLength;
  for (const group of groupRuns(text, maxRunLength)) {
    const together = left > 0 ? foldGroup(group, maxRunLength, left) : keepAscii(group);
    left -= together.length;
    const parts = together.match(foldedWord) ?? [];
    let next = 0;
    for (const { text: found, index } of group) {
      const words: string[] = [];
      for (; next < parts.length; next++) {
        const part = parts[next];
        if (part === undefined || part === '\n') break;
        words.push(part);
      }
      next += 1;
      const runs = isUnspaced(found)
        ? splitStretch(found, words.join(''), index)
        : [{ start: index, end: index + found.length, words }];
      for (const run of runs) yield { ...run, words: run.words.map(cut) };
    }
  }
}

const foldGroup = (group: readonly Found[], maxRunLength: number, most: number): string =>
  foldText(group.map(({ text }) => shortenRun(text, maxRunLength)).join('\n'), most);

/** Keeps only runs that need no folding: for the rest of a text of which very much had to be folded. */
const keepAscii = (group: readonly Found[]): string =>
  group
    .map(({ text }) => (asciiText.test(text) ? text : ''))
    .join('\n')
    .toLowerCase();

const shortenRun = (found: string, longest: number): string =>
  found.length <= longest ? found : found.slice(0, longest).toWellFormed();

/** Cuts a word by code points: half a surrogate pair could not be stored. */
const cut = (word: string): string =>
  word.length <= maxWordLength
    ? word
    : [...word.slice(0, 2 * maxWordLength)].slice(0, maxWordLength).join('');
