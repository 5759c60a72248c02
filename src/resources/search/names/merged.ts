/**
 * Reads two sets of name arrays as if they were one: results do not depend on which of the two holds a name, that is,
 * on whether the name has changed since all names were read.
 */
import { findWordsBeginningWith, gone, maxNameLength, type NameArrays } from './arrays.ts';

/** A range of consecutive words or places. */
export interface Span {
  readonly low: number;
  readonly high: number;
}

/** The number of a word in each of the arrays; undefined if an array lacks it. */
export type Numbers = readonly (number | undefined)[];

interface MergedWord {
  readonly numbers: Numbers;
  /** How often products have it. */
  readonly count: number;
}

/** How many of the words with one prefix are compared: the first ones. */
const wordsCompared = 5000;
const nothing: Span = { low: 0, high: 0 };

const countWord = ({ starts, lost }: NameArrays, word: number): number =>
  (starts[word + 1] ?? 0) - (starts[word] ?? 0) - (lost.words.get(word) ?? 0);

/** How often products have any word of a range. */
export function countSpan(arrays: NameArrays, { low, high }: Span): number {
  if (high - low === 1) return countWord(arrays, low);
  const { starts, lost } = arrays;
  let less = 0;
  for (const [word, count] of lost.words) if (word >= low && word < high) less += count;
  return (starts[high] ?? 0) - (starts[low] ?? 0) - less;
}

export const getWord = (all: readonly NameArrays[], numbers: Numbers): string =>
  all.map(({ words }, index) => words[numbers[index] ?? -1]).find(word => word !== undefined) ?? '';

/** The words with a prefix, in each of the arrays. */
export const findSpans = (all: readonly NameArrays[], beginning: string): Span[] =>
  all.map(({ words }) => findWordsBeginningWith(words, beginning));

/**
 * Visits words in alphabetical order, each once. Words that only dropped products have are skipped.
 * @param visit receives the word's count and its number in each of the arrays; returns false to stop
 */
export function walkWords(
  [main, later]: readonly NameArrays[],
  [span = nothing, other = nothing]: readonly Span[],
  visit: (count: number, number?: number, laterNumber?: number) => boolean,
): void {
  let [at, then] = [span.low, other.low];
  for (let isWanted = true; isWanted && (at < span.high || then < other.high); ) {
    const word = at < span.high ? main?.words[at] : undefined;
    const laterWord = then < other.high ? later?.words[then] : undefined;
    const number = laterWord === undefined || (word !== undefined && word <= laterWord) ? at++ : undefined;
    const laterNumber =
      word === undefined || (laterWord !== undefined && laterWord <= word) ? then++ : undefined;
    let count = 0;
    if (main !== undefined && number !== undefined) count += countWord(main, number);
    if (later !== undefined && laterNumber !== undefined) count += countWord(later, laterNumber);
    isWanted = count === 0 || visit(count, number, laterNumber);
  }
}

/** The words with the highest counts, commonest first; equally common ones in alphabetical order. */
export function selectCommonest(
  all: readonly NameArrays[],
  spans: readonly Span[],
  most: number,
): MergedWord[] {
  const found: MergedWord[] = [];
  let compared = 0;
  walkWords(all, spans, (count, number, laterNumber) => {
    if (found.length < most || count > (found[most - 1]?.count ?? 0)) {
      let at = found.length;
      while (at > 0 && (found[at - 1]?.count ?? 0) < count) at--;
      found.splice(at, 0, { numbers: [number, laterNumber], count });
      if (found.length > most) found.pop();
    }
    return ++compared < wordsCompared;
  });
  return found;
}

/** Whether a product sorts before one of the other arrays: by the length of its name, then by id. */
function isBefore(one: NameArrays, place: number, other: NameArrays, otherPlace: number): boolean {
  const length = Math.min(maxNameLength, one.lengths[place] ?? 0);
  const otherLength = Math.min(maxNameLength, other.lengths[otherPlace] ?? 0);
  if (length !== otherLength) return length < otherLength;
  return (one.ids[place] ?? 0) < (other.ids[otherPlace] ?? 0);
}

/** Where the products with a word are in `places`. */
const findPlaces = (arrays: NameArrays | undefined, word: number | undefined): Span =>
  arrays === undefined || word === undefined
    ? nothing
    : { low: arrays.starts[word] ?? 0, high: arrays.starts[word + 1] ?? 0 };

/**
 * Visits the products that have a word, shortest names first.
 * @param visit receives the index of the arrays and the place in them; returns false to stop
 */
export function walkPlaces(
  [main, later = main]: readonly NameArrays[],
  [word, laterWord]: Numbers,
  visit: (index: number, place: number) => boolean,
): void {
  if (main === undefined || later === undefined) return;
  const [span, other] = [findPlaces(main, word), findPlaces(later, laterWord)];
  let [at, then] = [span.low, other.low];
  for (let isWanted = true; isWanted && (at < span.high || then < other.high); ) {
    const place = at < span.high ? main.places[at] : undefined;
    const laterPlace = then < other.high ? later.places[then] : undefined;
    if (laterPlace === undefined || (place !== undefined && isBefore(main, place, later, laterPlace))) {
      at++;
      isWanted = place === undefined || main.qualities[place] === gone || visit(0, place);
    } else {
      then++;
      isWanted = visit(1, laterPlace);
    }
  }
}
