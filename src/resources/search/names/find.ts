/** Finds products by the words of their names and brands: those with all words of a query, best first. */
import { computeRarity } from '../ranking/score.ts';
import { maxQuality, type NameArrays, toSpellingsOf } from './arrays.ts';
import {
  countSpan,
  findSpans,
  getWord,
  type Numbers,
  type Span,
  selectCommonest,
  walkPlaces,
  walkWords,
} from './merged.ts';
import { generateTiers, type Layer, type NameGroup, removeForms } from './tiers.ts';

export interface NameHit {
  readonly id: number;
  /** On the scale of hits that have all words. */
  readonly score: number;
}

/** How many products with all words are compared: if there are more, those with the shortest names. */
const maxCompared = 24;
/** Places that are read to find these products: about a millisecond of work. */
const maxVisited = 10_000;
/** A word that at least one in this many products has is kept as a bitmap with a bit for each product. */
const rareShare = 200;
/** How many of the words with one prefix are visited first: those that most products have. */
const maxCommon = 8;
/** The weight of a word in the brand, relative to one in the name. */
const ofBrand = 0.9;
/** The shares of a score, as in ranking/score.ts. */
const shares = { words: 0.78, name: 0.14, together: 0.05, quality: 0.03 } as const;

/** The words of names with a prefix: the commonest first, equally common ones in alphabetical order. */
export const findCommonestWords = (all: readonly NameArrays[], beginning: string, most: number): string[] =>
  selectCommonest(all, findSpans(all, beginning), most).map(({ numbers }) => getWord(all, numbers));

/** The commonest spelling of a word in names that differs from the normalized word; undefined if there is none. */
export function findSpelling(all: readonly NameArrays[], word: string): string | undefined {
  const spellings = toSpellingsOf(word);
  return findCommonestWords(all, spellings, 1)[0]?.slice(spellings.length);
}

const countGroup = (arrays: NameArrays, group: NameGroup): number =>
  group.reduce((sum, range) => sum + countSpan(arrays, range), 0);

/** How often products have any of the words that match a word of the query. */
const countIn = (layers: readonly Layer[], index: number): number =>
  layers.reduce((sum, { arrays, groups }) => sum + countGroup(arrays, groups[index] ?? []), 0);

/**
 * @returns the best products with all words, up to the limit: those with the words themselves come before those with
 * other forms of them
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
  return (layers[0]?.groups ?? []).map((_, index) => computeRarity(countIn(layers, index), documents));
}

/** The compared matches with their scores, best first. */
function findHits(layers: readonly Layer[], weights: readonly number[]): NameHit[] {
  const hits = findMatches(layers).map(({ arrays, groups, place }) => ({
    id: arrays.ids[place] ?? 0,
    score: computeScore(arrays, place, groups, weights),
  }));
  return hits.sort((one, other) => other.score - one.score || one.id - other.id);
}

/**
 * Words with a prefix, commonest first, from the compared names that have all words of a query themselves.
 * @param before the word that must come immediately before them, if any
 */
export function findCompletions(
  layers: readonly Layer[],
  beginning: string,
  most: number,
  before?: string,
): string[] {
  const counts = new Map<string, number>();
  for (const { arrays, place } of findMatches(removeForms(layers))) {
    const { words, offsets, sequence } = arrays;
    const own = sequence.subarray(offsets[place] ?? 0, offsets[place + 1] ?? 0);
    const following = own.filter(
      (_, index) => before === undefined || words[own[index - 1] ?? -1] === before,
    );
    for (const at of new Set(following)) {
      const word = words[at] ?? '';
      if (word.startsWith(beginning)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const found = [...counts].sort((one, other) => other[1] - one[1] || one[0].length - other[0].length);
  return found.slice(0, most).map(([word]) => word);
}

/** A product, by its place in one of the layers. */
interface Match extends Layer {
  readonly place: number;
}

/** Creates a test of whether a product of a layer has all words except the omitted one. */
function createTest({ arrays, groups }: Layer, omitted: number): (place: number) => boolean {
  const bits: Uint32Array[] = [];
  const tested: NameGroup[] = [];
  for (const [index, group] of groups.entries()) {
    if (index === omitted) continue;
    const cached = findBits(arrays, group);
    if (cached === undefined) tested.push(group);
    else bits.push(cached);
  }
  return place => isInAll(bits, place) && matches(arrays, place, tested);
}

/** Visits all words. If there are many, it first visits the commonest, which are then visited twice. */
function walkCommonestFirst(
  all: readonly NameArrays[],
  spans: readonly Span[],
  visit: (numbers: Numbers) => boolean,
): void {
  let words = 0;
  walkWords(all, spans, () => ++words <= maxCommon);
  const common = words > maxCommon ? selectCommonest(all, spans, maxCommon) : [];
  if (common.every(({ numbers }) => visit(numbers))) walkWords(all, spans, (_, ...numbers) => visit(numbers));
}

/** Some products with all words, shortest names first. */
function findMatches(layers: readonly Layer[]): Match[] {
  const all = layers.map(({ arrays }) => arrays);
  const counts = (layers[0]?.groups ?? []).map((_, index) => countIn(layers, index));
  const fewest = Math.min(...counts);
  if (counts.length === 0 || fewest === 0) return [];
  const rarest = counts.indexOf(fewest);
  const tests = layers.map(layer => createTest(layer, rarest));
  const found = new Map<number, Match>();
  let looked = 0;
  const isEnough = () => looked >= maxVisited || found.size >= maxCompared;
  const take = (index: number, place: number): boolean => {
    const layer = layers[index];
    looked += 1;
    if (layer !== undefined && tests[index]?.(place) === true)
      found.set(layer.arrays.ids[place] ?? 0, { ...layer, place });
    return !isEnough();
  };
  for (const at of layers[0]?.groups[rarest]?.keys() ?? []) {
    const spans = layers.map(({ groups }) => groups[rarest]?.[at] ?? { low: 0, high: 0 });
    walkCommonestFirst(all, spans, numbers => {
      if (!isEnough()) walkPlaces(all, numbers, take);
      return !isEnough();
    });
  }
  return [...found.values()];
}

/** The bitmap of a group; only for single words that many products have. */
function findBits(arrays: NameArrays, group: NameGroup): Uint32Array | undefined {
  if (countGroup(arrays, group) * rareShare < arrays.ids.length) return undefined;
  if (group.some(({ low, high }) => high - low > 1)) return undefined;
  const key = group.flatMap(({ low, high }) => (low === high ? [] : [low])).join();
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

// Plain loops: some searches call these functions thousands of times.
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
    (shares.quality * (qualities[place] ?? 0)) / maxQuality;
  return Math.round((0.5 + Math.min(1, value) / 2) * 10_000) / 10_000;
}
