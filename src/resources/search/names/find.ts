/** Finds products by the words of their names and brands: those with all words of a query, the best first. */
import { computeRarity } from '../ranking/score.ts';
import { findWordsBeginningWith, gone, mostQuality, type NameArrays, type WordRange } from './arrays.ts';
import { generateTiers, type Layer, type NameGroup, removeForms } from './tiers.ts';

type Span = Pick<WordRange, 'low' | 'high'>;

export interface NameHit {
  readonly id: number;
  /** As of a hit that has all words. */
  readonly score: number;
}

/** So many products that have all words are compared: of more those with the shortest names. */
const mostCompared = 24;
/** Places that are read to find them: about a millisecond of work. */
const mostLooked = 10_000;
/** A word that one in so many products has, or more, is kept as a bitmap with a bit for each product. */
const rareShare = 200;
/** Of the words with one beginning, those that most products have. */
const mostCommon = 8;
const wordsCompared = 5000;
/** What a brand counts for beside a name. */
const ofBrand = 0.9;
/** As in ranking/score.ts. */
const shares = { words: 0.78, name: 0.14, together: 0.05, quality: 0.03 } as const;

/** How often products have a word. */
const countWord = ({ starts, lost }: NameArrays, word: number): number =>
  (starts[word + 1] ?? 0) - (starts[word] ?? 0) - (lost.words.get(word) ?? 0);

/** How often they have one of several words that follow each other. */
function countSpan({ starts, lost }: NameArrays, { low, high }: Span): number {
  const all = (starts[high] ?? 0) - (starts[low] ?? 0);
  if (high - low === 1) return all - (lost.words.get(low) ?? 0);
  let less = 0;
  for (const [word, count] of lost.words) if (word >= low && word < high) less += count;
  return all - less;
}

/** Those words that are counted most often, the commonest first; of words as common in their order. */
function selectCommonest({ low, high }: Span, most: number, count: (word: number) => number): number[] {
  const found: number[] = [];
  for (let word = low; word < Math.min(high, low + wordsCompared); word++) {
    const own = count(word);
    if (own === 0 || (found.length === most && own <= count(found[most - 1] ?? 0))) continue;
    let at = found.length;
    while (at > 0 && count(found[at - 1] ?? 0) < own) at--;
    found.splice(at, 0, word);
    if (found.length > most) found.pop();
  }
  return found;
}

/** The words of names that begin so, in the same order. @param later of products that are named otherwise than in `main` */
export function findCommonestWords(
  [main, later]: readonly NameArrays[],
  beginning: string,
  most: number,
): string[] {
  if (main === undefined) return [];
  const more = new Map<string, number>();
  if (later !== undefined) {
    const { low, high } = findWordsBeginningWith(later.words, beginning);
    for (let word = low; word < high; word++) more.set(later.words[word] ?? '', countWord(later, word));
  }
  const getWord = (word: number): string => main.words[word] ?? '';
  const count = (word: number): number =>
    countWord(main, word) + (more.size === 0 ? 0 : (more.get(getWord(word)) ?? 0));
  const found = selectCommonest(findWordsBeginningWith(main.words, beginning), most, count);
  // Those of both that are not found yet are no more common than the last of these.
  const counts = new Map([...more, ...found.map(word => [getWord(word), count(word)] as const)]);
  return [...counts]
    .sort(([one, first], [other, second]) => second - first || (one < other ? -1 : 1))
    .slice(0, most)
    .map(([word]) => word);
}

const countGroup = (arrays: NameArrays, group: NameGroup): number =>
  group.reduce((sum, range) => sum + countSpan(arrays, range), 0);

/**
 * @returns the best products with all words, at most so many: those that have the words themselves before those that have
 * forms of them
 */
export function findNames(layers: readonly Layer[], limit: number): NameHit[] {
  const weights = computeWeights(layers);
  const found = new Map<number, NameHit>();
  let most = 1;
  for (const tier of generateTiers(layers)) {
    if (found.size >= limit) break;
    const hits = findHits(tier, weights).filter(({ id }) => !found.has(id));
    for (const { id, score } of hits) found.set(id, { id, score: Math.min(most, score) });
    most = Math.min(most, hits.at(-1)?.score ?? 1);
  }
  return [...found.values()].slice(0, limit);
}

function computeWeights(layers: readonly Layer[]): number[] {
  const documents = layers.reduce((sum, { arrays }) => sum + arrays.ids.length - arrays.lost.products, 0);
  return (layers[0]?.groups ?? []).map((_, index) => {
    const counts = layers.map(({ arrays, groups }) => countGroup(arrays, groups[index] ?? []));
    const all = counts.reduce((sum, count) => sum + count, 0);
    return computeRarity(all, documents);
  });
}

/** Best first. */
function findHits(layers: readonly Layer[], weights: readonly number[]): NameHit[] {
  const hits = layers.flatMap(({ arrays, groups }) =>
    findMatchingPlaces(arrays, groups).map(place => ({
      id: arrays.ids[place] ?? 0,
      score: computeScore(arrays, place, groups, weights),
    })),
  );
  return hits.sort((one, other) => other.score - one.score || one.id - other.id);
}

/** The words that begin so in names that have all words of a query themselves, as far as these are compared: the commonest first. */
export function findCompletions(layers: readonly Layer[], beginning: string, most: number): string[] {
  const counts = new Map<string, number>();
  for (const { arrays, groups } of removeForms(layers)) {
    const { words, offsets, sequence } = arrays;
    for (const place of findMatchingPlaces(arrays, groups)) {
      const own = sequence.subarray(offsets[place] ?? 0, offsets[place + 1] ?? 0);
      for (const at of new Set(own)) {
        const word = words[at] ?? '';
        if (word.startsWith(beginning)) counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
  }
  const found = [...counts].sort((one, other) => other[1] - one[1] || one[0].length - other[0].length);
  return found.slice(0, most).map(([word]) => word);
}

/** Some products with all words, those with the shortest names first. */
function findMatchingPlaces(arrays: NameArrays, groups: readonly NameGroup[]): number[] {
  const rarest = groups.toSorted((one, other) => countGroup(arrays, one) - countGroup(arrays, other));
  const [first, ...others] = rarest;
  if (first === undefined || countGroup(arrays, first) === 0) return [];
  const bits: Uint32Array[] = [];
  const tested: NameGroup[] = [];
  for (const group of others) {
    const cached = findBits(arrays, group);
    if (cached === undefined) tested.push(group);
    else bits.push(cached);
  }
  const { places, qualities, starts } = arrays;
  const found = new Set<number>();
  let looked = 0;
  const collect = (low: number, high: number): void => {
    const start = starts[low] ?? 0;
    const end = Math.min(starts[high] ?? 0, start + mostLooked - looked);
    let at = start;
    for (; at < end && found.size < mostCompared; at++) {
      const place = places[at] ?? 0;
      if (isInAll(bits, place) && qualities[place] !== gone && matches(arrays, place, tested))
        found.add(place);
    }
    looked += at - start;
  };
  for (const range of first) {
    if (range.high - range.low > mostCommon)
      for (const word of selectCommonest(range, mostCommon, word => countWord(arrays, word)))
        collect(word, word + 1);
    collect(range.low, range.high);
  }
  return [...found];
}

/** For single words that many products have. */
function findBits(arrays: NameArrays, group: NameGroup): Uint32Array | undefined {
  if (countGroup(arrays, group) * rareShare < arrays.ids.length) return undefined;
  if (group.some(({ low, high }) => high - low > 1)) return undefined;
  const key = group.map(({ low }) => low).join();
  return arrays.bits.getOrCreate(key, () => collectBits(arrays, group));
}

function collectBits({ ids, starts, places }: NameArrays, group: NameGroup): Uint32Array {
  const bits = new Uint32Array((ids.length >>> 5) + 1);
  for (const { low, high } of group) {
    for (let at = starts[low] ?? 0; at < (starts[high] ?? 0); at++) {
      const place = places[at] ?? 0;
      bits[place >>> 5] = (bits[place >>> 5] ?? 0) | (1 << (place & 31));
    }
  }
  return bits;
}

// Written out: these are done thousands of times for some searches.
function isInAll(bits: readonly Uint32Array[], place: number): boolean {
  const index = place >>> 5;
  const bit = 1 << (place & 31);
  for (let at = 0; at < bits.length; at++) if (((bits[at]?.[index] ?? 0) & bit) === 0) return false;
  return true;
}

function matches({ offsets, sequence }: NameArrays, place: number, groups: readonly NameGroup[]): boolean {
  const end = offsets[place + 1] ?? 0;
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index];
    let isMatching = false;
    for (let at = offsets[place] ?? 0; group !== undefined && at < end && !isMatching; at++)
      isMatching = getFactor(group, sequence[at] ?? 0) > 0;
    if (!isMatching) return false;
  }
  return true;
}

function getFactor(group: NameGroup, word: number): number {
  for (let index = 0; index < group.length; index++) {
    const range = group[index];
    if (range !== undefined && word >= range.low && word < range.high) return range.factor;
  }
  return 0;
}

function computeScore(
  { offsets, sequence, lengths, qualities }: NameArrays,
  place: number,
  groups: readonly NameGroup[],
  weights: readonly number[],
): number {
  const [start, end] = [offsets[place] ?? 0, offsets[place + 1] ?? 0];
  const length = lengths[place] ?? 0;
  let [sum, most, inName, neighbours, last] = [0, 0, 0, 0, -2];
  for (const [index, group] of groups.entries()) {
    let [best, bestAt] = [0, -2];
    for (let at = start; at < end; at++) {
      const factor = getFactor(group, sequence[at] ?? 0) * (at - start < length ? 1 : ofBrand);
      if (factor > best) [best, bestAt] = [factor, at];
    }
    sum += best * (weights[index] ?? 0);
    most += weights[index] ?? 0;
    if (bestAt - start < length) inName += 1;
    if (bestAt === last + 1) neighbours += 1;
    last = bestAt;
  }
  const value =
    (shares.words * sum) / (most === 0 ? 1 : most) +
    shares.name * Math.min(1, inName / Math.max(1, length)) +
    (groups.length > 1 ? (shares.together * neighbours) / (groups.length - 1) : 0) +
    (shares.quality * (qualities[place] ?? 0)) / mostQuality;
  return Math.round((0.5 + Math.min(1, value) / 2) * 10_000) / 10_000;
}
