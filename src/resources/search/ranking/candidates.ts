/** Selects documents to score: those with all words; if they are few, some with fewer; if very many, the likeliest. */
import type { Expression } from '../../../storage/search/expression.ts';
import { countByType, type DocumentType, getDocumentType } from '../../../storage/search/index.ts';
import { titleMarks } from '../../../storage/search/text/words.ts';
import { takeTurn } from '../../../turns/index.ts';
import {
  computeSmallest,
  hasGuesses,
  isPossible,
  type QueryWord,
  removeGuesses,
  toExpression,
} from '../query/word.ts';
import { enoughHits, type GatherRequest, gather, likelyHits } from './gathered.ts';

/** The most hits that are ranked; all others follow in the order of the index. */
export const maxCandidates = 200;
/** The most queries of the index for hits with fewer words. */
const maxQuestions = 64;
export interface Candidates {
  readonly positions: readonly number[];
  /** How many of the first positions are likely to be better than all others. */
  readonly likely?: number;
  /** How many of the first positions have all words. */
  readonly whole: number;
  /** Matches all hits, if there are more than the candidates. */
  readonly all: Expression | undefined;
  /** Matches the hits that have all words. */
  readonly expression: Expression;
  readonly counts: ReadonlyMap<DocumentType, number>;
}

export interface CandidateRequest extends GatherRequest {
  /** The types whose hits are returned: a subset of `visible`. */
  readonly types: readonly DocumentType[];
  /** Whether hits must have all words, however few do. */
  readonly strict?: boolean;
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
  const complete = await completeCandidates(request);
  if (complete !== undefined) return complete;
  const counts = await reader.counts(session, all, visible, computeSmallest(words));
  const positions = await readLikeliestOfMany(request, words, maxCandidates);
  return { positions, whole: positions.length, all, expression: all, counts };
}

/** The candidates, if they are all the hits; undefined if more documents have all words. */
export async function completeCandidates(request: CandidateRequest): Promise<Candidates | undefined> {
  const { reader, session, visible } = request;
  const words = request.words.map(removeGuesses);
  if (words.length === 0 || visible.length === 0) return createEmptyCandidates(visible);
  const all = toExpression(words);
  const gathered = await gather(request);
  if (gathered !== undefined && gathered.all.length <= maxCandidates)
    return collectFewCandidates(request, all, gathered.all, gathered.some);
  const smallest = computeSmallest(words);
  const first = await reader.page(session, all, visible, { limit: maxCandidates + 1, smallest });
  return first.length > maxCandidates ? undefined : collectFewCandidates(request, all, first, []);
}

/** Keeps the accepted ones of candidates that are all the hits. */
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

/** @param first hits that have all words; @param some other hits, best first, if known */
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

/** The best of very many hits: first those with all words in a title, short titles before long ones, then others. */
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

const computeCommonness = ({ frequency, importance, closeness }: QueryWord): number =>
  frequency / (importance * closeness);

/** Adds hits that lack words until there are enough, beginning with those that lack only the commonest word. */
async function addWithFewerWords(request: CandidateRequest, first: readonly number[]): Promise<number[]> {
  const { words, visible } = request;
  const found = new Set(first.slice(0, maxCandidates));
  const possible = words.filter(isPossible);
  const rarestFirst = possible.toSorted((a, b) => computeCommonness(a) - computeCommonness(b));
  let questions = 0;
  const ask = async (kept: readonly QueryWord[]): Promise<void> => {
    questions += 1;
    await takeTurn();
    const more = await readLikeliest({ ...request, types: visible }, kept, enoughHits);
    for (const position of more) if (found.size < maxCandidates) found.add(position);
  };
  const isMore = possible.length < words.length || words.some(hasGuesses);
  if (found.size < enoughHits && possible.length > 0 && isMore) await ask(possible);
  for (const kept of generateWithFewer(rarestFirst)) {
    if (found.size >= enoughHits || questions >= maxQuestions) break;
    await ask(kept);
  }
  return [...found];
}

/** Like `readLikeliestOfMany`, for hits that may be few. */
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

/** For long queries, only subsets of this many of the rarest words are tried, and each word alone. */
const rarestWords = 5;

/** Yields all of the rarest words, all except one, all except two …, then each word alone. @param words rarest first */
function* generateWithFewer(words: readonly QueryWord[]): Generator<readonly QueryWord[]> {
  const rarest = words.slice(0, rarestWords);
  const most = Math.min(rarest.length, words.length - 1);
  for (let size = most; size >= 2; size--) yield* generateSubsets(rarest, rarest.length - size);
  if (words.length > 1) for (const word of words) yield [word];
}

/** All ways to omit `without` of the items; the last ones are omitted first. */
function* generateSubsets<Item>(items: readonly Item[], without: number): Generator<Item[]> {
  if (without < 0) return;
  if (without === 0) {
    yield [...items];
    return;
  }
  for (let index = items.length - 1; index >= without - 1; index--) {
    const after = items.slice(index + 1);
    for (const rest of generateSubsets(items.slice(0, index), without - 1)) yield [...rest, ...after];
  }
}
