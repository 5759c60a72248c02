/** Which documents are scored: those with all words or, where they are few, with fewer; of very many the likeliest. */

import type { Expression, Term } from '../../../storage/search/expression.ts';
import { type DocumentType, getDocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import { titleMarks } from '../../../storage/search/text/words.ts';
import { takeTurn } from '../../../turns/index.ts';
import { hasGuesses, type QueryWord, removeGuesses } from '../query/word.ts';
import type { HitReader } from './filtered.ts';
import { computeRarity } from './score.ts';
import { generateWithFewer } from './subsets.ts';

/** So many hits are put in order at most; what comes after them is in the order of the index. */
export const mostCandidates = 200;
/** The same for a search that needs only some hits. */
export const fewCandidates = 40;
/** Where fewer hits have all words, others are added that have fewer. */
const enoughHits = 50;
/** So many hits, and those that have all words, are scored first: few requests read further. */
const likelyHits = 25;
/** Questions to the index about hits with fewer words. */
const mostQuestions = 64;
/** Words that so few documents have are read as a whole; of each question no more hits than this. */
const fewHits = 1500;
const mostRead = 2000;
/** Words that say nothing are no reason to be read. */
export const negligible = 0.2;

export interface Candidates {
  readonly positions: readonly number[];
  /** How many of them, from the first on, are likely to be better than all others. */
  readonly likely?: number;
  /** How many of them, from the first on, have all words. */
  readonly whole: number;
  /** All hits, where they are more than the candidates. */
  readonly all: Expression | undefined;
  /** Those that have all words. */
  readonly expression: Expression;
  readonly counts: ReadonlyMap<DocumentType, number>;
}

export interface CandidateRequest {
  readonly reader: HitReader;
  readonly session: SearchSession;
  readonly words: readonly QueryWord[];
  /** The types whose hits are counted. */
  readonly visible: readonly DocumentType[];
  /** Some of those: the types whose hits are returned. */
  readonly types: readonly DocumentType[];
  /** About how many documents there are. */
  readonly documents: number;
  /** Whether some good hits are enough, without their number. */
  readonly few: boolean;
  /** Whether hits have all words, however few do. */
  readonly strict?: boolean;
}

/** @param mark only words of titles with this mark */
function toExpression(words: readonly QueryWord[], mark?: string): Expression {
  const markTerm = (term: Term): Term => (mark === undefined ? term : { ...term, mark });
  return words.map(({ alternatives }) => alternatives.map(({ choice }) => choice.map(markTerm)));
}

const createEmptyCandidates = (types: readonly DocumentType[]): Candidates => ({
  positions: [],
  whole: 0,
  all: undefined,
  expression: [],
  counts: countByType([], types),
});

export async function findCandidates(request: CandidateRequest): Promise<Candidates> {
  const { reader, session, visible } = request;
  const words = request.words.map(removeGuesses);
  const all = toExpression(words);
  if (request.few && words.length > 0 && visible.length > 0) {
    const some = await readLikeliest(request, words, fewCandidates);
    const counts = countByType(some, visible);
    if (some.length > 0)
      return { positions: some, whole: some.length, all: undefined, expression: all, counts };
  }
  const complete = await completeCandidates(request);
  if (complete !== undefined) return complete;
  const counts = await reader.counts(session, all, visible, computeSmallest(words));
  const positions = await readLikeliestOfMany(request, words, mostCandidates);
  return { positions, whole: positions.length, all, expression: all, counts };
}

/** The candidates where they are all hits; undefined where more have all words. */
export async function completeCandidates(request: CandidateRequest): Promise<Candidates | undefined> {
  const { reader, session, visible } = request;
  const words = request.words.map(removeGuesses);
  if (words.length === 0 || visible.length === 0) return createEmptyCandidates(visible);
  const all = toExpression(words);
  const gathered = await gather(request);
  if (gathered !== undefined && gathered.all.length <= mostCandidates)
    return collectFewCandidates(request, all, gathered.all, gathered.some);
  const smallest = computeSmallest(words);
  if ((await reader.cached(session, all, visible, smallest)) !== undefined) return undefined;
  const first = await reader.page(session, all, visible, { limit: mostCandidates + 1, smallest });
  return first.length > mostCandidates ? undefined : collectFewCandidates(request, all, first, []);
}

/** Of candidates that are all hits, those that are accepted. */
export function filterCandidates(
  { positions, likely = positions.length, whole, all, expression }: Candidates,
  types: readonly DocumentType[],
  accepts: (position: number) => boolean,
): Candidates {
  const kept = positions.filter(accepts);
  return {
    positions: kept,
    likely: positions.slice(0, likely).filter(accepts).length,
    whole: positions.slice(0, whole).filter(accepts).length,
    all,
    expression,
    counts: countByType(kept, types),
  };
}

/** @param first those that have all words; @param some others, the best first, if they are known */
async function collectFewCandidates(
  request: CandidateRequest,
  expression: Expression,
  first: readonly number[],
  some: readonly number[],
): Promise<Candidates> {
  const { types, visible } = request;
  const others = some.slice(0, Math.max(0, enoughHits - first.length));
  const isEnough = request.strict === true || first.length >= enoughHits;
  const positions = isEnough ? first : await addWithFewerWords(request, [...first, ...others]);
  const isWanted = (position: number) => types.includes(getDocumentType(position));
  const likely = positions.slice(0, Math.max(first.length, likelyHits));
  return {
    positions: positions.filter(isWanted),
    likely: likely.filter(isWanted).length,
    whole: first.filter(isWanted).length,
    all: undefined,
    expression,
    counts: countByType(positions, visible),
  };
}

export function countByType(positions: readonly number[], types: readonly DocumentType[]) {
  const counts = new Map<DocumentType, number>(types.map(type => [type, 0]));
  for (const position of positions)
    counts.set(getDocumentType(position), (counts.get(getDocumentType(position)) ?? 0) + 1);
  return counts;
}

/** No more documents than this have all of the words; undefined where that is not known. */
function computeSmallest(words: readonly QueryWord[]): number | undefined {
  const bounded = words.filter(({ alternatives }) =>
    alternatives.every(({ choice }) =>
      choice.every(({ prefix, longer }) => prefix !== true || longer !== undefined),
    ),
  );
  return bounded.length === 0 ? undefined : Math.min(...bounded.map(({ frequency }) => frequency));
}

/** Of very many hits: with all words in a title, short titles before long ones, then others. */
async function readLikeliestOfMany(
  request: CandidateRequest,
  words: readonly QueryWord[],
  limit: number,
): Promise<number[]> {
  const { reader, session, types } = request;
  const found = new Set<number>();
  const smallest = computeSmallest(words);
  for (const mark of [...titleMarks, undefined]) {
    const page = { limit: mark === undefined ? limit : limit - found.size, smallest };
    for (const position of await reader.page(session, toExpression(words, mark), types, page))
      found.add(position);
    if (found.size >= limit) break;
  }
  return [...found].slice(0, limit);
}

/** Adds hits that lack words, until there are enough: all but the commonest first. */
async function addWithFewerWords(request: CandidateRequest, first: readonly number[]): Promise<number[]> {
  const { words, visible } = request;
  const found = new Set(first.slice(0, mostCandidates));
  const possible = words.filter(isPossible);
  const rarestFirst = possible.toSorted((a, b) => a.frequency / a.importance - b.frequency / b.importance);
  let questions = 0;
  const ask = async (kept: readonly QueryWord[]): Promise<void> => {
    questions += 1;
    await takeTurn();
    const more = await readLikeliest({ ...request, types: visible }, kept, enoughHits);
    for (const position of more) if (found.size < mostCandidates) found.add(position);
  };
  const isMore = possible.length < words.length || words.some(hasGuesses);
  if (found.size < enoughHits && possible.length > 0 && isMore) await ask(possible);
  for (const kept of generateWithFewer(rarestFirst)) {
    if (found.size >= enoughHits || questions >= mostQuestions) break;
    await ask(kept);
  }
  return [...found];
}

const isPossible = ({ frequency, alternatives }: QueryWord) => frequency > 0 || alternatives.length > 1;

/** Hits that have some of the words. */
interface Gathered {
  /** Those that have all. */
  readonly all: readonly number[];
  /** Others, those first that have most of what is rare. */
  readonly some: readonly number[];
}

/**
 * Of several words some are rare enough for all their documents to be read: one statement for each word then shows which
 * documents have all of them, and which have most. Trying all but one, all but two, and so on would take very many
 * statements for a long query.
 * @returns undefined where no word is rare
 */
async function gather({
  reader,
  session,
  words,
  visible,
  documents,
}: CandidateRequest): Promise<Gathered | undefined> {
  const rare = words.filter(
    word =>
      word.frequency <= fewHits && word.importance > negligible && computeSmallest([word]) !== undefined,
  );
  if (words.length === 1 || rare.length === 0 || !rare.some(isPossible)) return undefined;
  const any = rare.flatMap(({ alternatives }) => alternatives.map(({ choice }) => choice));
  const possible = words.filter(isPossible);
  const getChoices = (word: QueryWord) => word.alternatives.map(({ choice }) => choice);
  const read: number[][] = [];
  for (const word of rare) {
    const page = { limit: mostRead, smallest: word.frequency };
    const positions = isPossible(word) ? await reader.page(session, [getChoices(word)], visible, page) : [];
    if (positions.length >= mostRead) return undefined;
    read.push(positions);
  }
  const positions = read.length === 1 ? (read[0] ?? []) : [...new Set(read.flat())].sort((a, b) => a - b);
  /** For each position, which of the words it has: one bit for each. */
  const had = new Uint32Array(positions.length);
  for (const [index, word] of possible.entries()) {
    const own =
      read[rare.indexOf(word)] ?? (await reader.among(session, getChoices(word), positions, visible, any));
    let at = 0;
    for (const position of own) {
      while (at < positions.length && (positions[at] ?? 0) < position) at++;
      if (positions[at] === position) had[at] = (had[at] ?? 0) | (1 << index);
    }
  }
  const { all, some } = sortByWords(positions, had, { words, possible, documents });
  const whole = await keepCertain({ reader, session, visible }, words, all);
  return { all: whole, some: whole === all ? some : [...omit(all, whole), ...some].slice(0, enoughHits) };
}

/** Of hits that have all words, or what is a guess at some, those that have all. */
async function keepCertain(
  { reader, session, visible }: Pick<CandidateRequest, 'reader' | 'session' | 'visible'>,
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

/** @param had for each position, which of the queried words it has */
function sortByWords(
  positions: readonly number[],
  had: Uint32Array,
  {
    words,
    possible,
    documents,
  }: Pick<CandidateRequest, 'words' | 'documents'> & { readonly possible: readonly QueryWord[] },
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
    // Most have the same words as the one before.
    if (bits !== lastBits) {
      [lastBits, last] = [bits, some.get(bits) ?? []];
      some.set(bits, last);
    }
    if (last.length < enoughHits) last.push(position);
  }
  const worth = possible.map(({ importance, frequency }) => importance * computeRarity(frequency, documents));
  const computeWorth = (bits: number) =>
    worth.reduce((sum, value, index) => ((bits >>> index) & 1 ? sum + value : sum), 0);
  const best = [...some].map(([bits, those]) => ({ value: computeWorth(bits), those }));
  best.sort((one, other) => other.value - one.value);
  return { all, some: best.flatMap(({ those }) => those).slice(0, enoughHits) };
}

/** The same as `readLikeliestOfMany` for hits that may be few. */
export async function readLikeliest(
  request: CandidateRequest,
  words: readonly QueryWord[],
  limit: number,
): Promise<number[]> {
  const { reader, session, types } = request;
  const page = { limit: limit + 1, smallest: computeSmallest(words) };
  const some = await reader.page(session, toExpression(words), types, page);
  return some.length > limit ? readLikeliestOfMany(request, words, limit) : some;
}
