/** Finds hits for several words by reading all documents of the rare ones. */
import { mergeDistinct } from '../../../arrays/sorted.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import {
  computeSmallest,
  hasGuesses,
  isPossible,
  negligible,
  type QueryWord,
  removeGuesses,
  toExpression,
} from '../query/word.ts';
import type { HitReader } from './filtered.ts';
import { computeRarity } from './score.ts';

/** If fewer hits have all words, hits with fewer words are added. */
export const enoughHits = 50;
/** This many hits, and at least those with all words, are scored first: few requests read further. */
export const likelyHits = 25;
/** All documents of a word are read if about this few have it; a read returns at most `maxRead`. */
const fewHits = 1500;
const maxRead = 2000;

export interface GatherRequest {
  readonly reader: HitReader;
  readonly session: SearchSession;
  readonly words: readonly QueryWord[];
  /** The types whose hits are counted. */
  readonly visible: readonly DocumentType[];
  /** About how many documents there are. */
  readonly documents: number;
}

/** Hits that have some of the words. */
interface Gathered {
  /** Hits that have all words. */
  readonly all: readonly number[];
  /** Other hits, those with the most of the rare words first. */
  readonly some: readonly number[];
}

/**
 * If some of several words are rare, reads all their documents: one statement for each word then shows which documents
 * have all of the words, and which have most. Trying all words except one, except two, and so on would take very many
 * statements for a long query.
 * @returns undefined if there is only one word, none is rare, or a rare one has `maxRead` documents after all
 */
export async function gather(request: GatherRequest): Promise<Gathered | undefined> {
  const { reader, session, words, visible } = request;
  const few = words.filter(word => word.frequency <= fewHits && word.importance > negligible);
  const rare = few.filter(word => computeSmallest([word]) !== undefined);
  if (words.length === 1 || rare.length === 0 || !rare.some(isPossible)) return undefined;
  const possible = words.filter(isPossible);
  const getChoices = (word: QueryWord) => word.alternatives.map(({ choice }) => choice);
  const read: number[][] = [];
  for (const word of rare) {
    const page = { limit: maxRead, smallest: word.frequency };
    const positions = isPossible(word) ? await reader.page(session, [getChoices(word)], visible, page) : [];
    if (positions.length >= maxRead) return undefined;
    read.push(positions);
  }
  const readPositions = read.length === 1 ? (read[0] ?? []) : mergeDistinct(read);
  // The last word is also a prefix, of which very many documents may have one. Hits with the others would leave no room
  // for these: some are enough.
  const begun =
    readPositions.length < likelyHits ? [] : few.filter(word => !rare.includes(word) && isPossible(word));
  const others: (readonly number[])[] = [];
  for (const word of begun)
    others.push(await reader.page(session, [getChoices(word)], visible, { limit: enoughHits }));
  const positions = begun.length === 0 ? readPositions : mergeDistinct([readPositions, ...others]);
  const any = [...rare, ...begun].flatMap(getChoices);
  /** For each position, which of the words it has: one bit for each. */
  const had = new Uint32Array(positions.length);
  /** Whether it has one of them, other than a filler, without a guess. */
  const isSure = new Uint8Array(positions.length);
  const findAmong = (word: QueryWord) => reader.among(session, getChoices(word), positions, visible, any);
  for (const [index, word] of possible.entries()) {
    const own = read[rare.indexOf(word)] ?? (await findAmong(word));
    for (const at of findPlaces(positions, own)) had[at] = (had[at] ?? 0) | (1 << index);
    if (word.importance <= negligible) continue;
    const certain = removeGuesses(word);
    const sure = certain === word ? own : isPossible(certain) ? await findAmong(certain) : [];
    for (const at of findPlaces(positions, sure)) isSure[at] = 1;
  }
  const { all, some } = sortByWords({ positions, had, isSure }, request, possible);
  const whole = await keepCertain({ reader, session, visible }, words, all);
  return { all: whole, some: whole === all ? some : [...omit(all, whole), ...some].slice(0, enoughHits) };
}

/** Of hits that have all words, some perhaps only by guesses, keeps those that have all without guesses. */
async function keepCertain(
  { reader, session, visible }: Pick<GatherRequest, 'reader' | 'session' | 'visible'>,
  words: readonly QueryWord[],
  positions: readonly number[],
): Promise<readonly number[]> {
  if (positions.length === 0 || !words.some(hasGuesses)) return positions;
  const certain = words.map(removeGuesses);
  if (!certain.every(isPossible)) return [];
  const page = { limit: positions.length, smallest: positions.length };
  return reader.page(session, toExpression(certain), visible, page);
}

function omit(positions: readonly number[], others: readonly number[]): number[] {
  const left = new Set(others);
  return positions.filter(position => !left.has(position));
}

/** The places of `some` of the positions in the list of all. Both are ascending. */
function* findPlaces(positions: readonly number[], some: readonly number[]): Generator<number> {
  let at = 0;
  for (const position of some) {
    while (at < positions.length && (positions[at] ?? 0) < position) at++;
    if (positions[at] === position) yield at;
  }
}

interface Read {
  readonly positions: readonly number[];
  readonly had: Uint32Array;
  readonly isSure: Uint8Array;
}

/** Leaves out hits that have words by guesses only: those that have another word for certain are better. */
function sortByWords(
  { positions, had, isSure }: Read,
  { words, documents }: Pick<GatherRequest, 'words' | 'documents'>,
  possible: readonly QueryWord[],
): Gathered {
  const all: number[] = [];
  const some = new Map<number, number[]>();
  const hasAll = possible.length === words.length ? 2 ** possible.length - 1 : -1;
  let [lastBits, last]: [number, number[]] = [-1, []];
  for (let index = 0; index < positions.length; index++) {
    const position = positions[index] ?? 0;
    const bits = had[index] ?? 0;
    if (bits === hasAll) {
      all.push(position);
      continue;
    }
    if (isSure[index] === 0) continue;
    // Most documents have the same words as the one before.
    if (bits !== lastBits) {
      [lastBits, last] = [bits, some.get(bits) ?? []];
      some.set(bits, last);
    }
    if (last.length < enoughHits) last.push(position);
  }
  const worth = possible.map(
    ({ importance, frequency, closeness }) => importance * closeness * computeRarity(frequency, documents),
  );
  const computeWorth = (bits: number) =>
    worth.reduce((sum, value, index) => ((bits >>> index) & 1 ? sum + value : sum), 0);
  const best = [...some].map(([bits, those]) => ({ value: computeWorth(bits), those }));
  best.sort((one, other) => other.value - one.value);
  return { all, some: best.flatMap(({ those }) => those).slice(0, enoughHits) };
}
