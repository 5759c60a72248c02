/**
 * Hits for a query that is still being typed, if names do not provide them: hits with the words as they are come before
 * those with other forms of them, as in names/tiers.ts.
 */
import { countByType, type DocumentType } from '../../../storage/search/index.ts';
import { factors, type QueryWord, removeGuesses } from '../query/word.ts';
import { type CandidateRequest, findCandidates, readLikeliest } from './candidates.ts';
import { type RankedHit, type Ranking, rankHead } from './ranked.ts';

const minWordLength = 2;
/** The most hits that are ranked for each way to match the words. */
const maxCandidates = 40;
/** The factors of alternatives that differ from the word as typed. */
const notAsTyped: readonly number[] = [factors.stem, factors.beginning, factors.compound, factors.typo];

type Scorer = (some: readonly number[]) => Promise<readonly RankedHit[]>;

/** @param wanted how many hits are enough */
export async function rankTypedHits(
  request: CandidateRequest,
  scored: Scorer,
  wanted = maxCandidates,
): Promise<{ readonly ranking: Ranking; readonly counts: ReadonlyMap<DocumentType, number> }> {
  const { words: all, types, visible } = request;
  const found = new Map<number, RankedHit>();
  let most = 1;
  for (const words of visible.length === 0 ? [] : generateTiers(all)) {
    if (found.size >= wanted) break;
    const likeliest = await readLikeliest(request, words, maxCandidates);
    const places = await scored(likeliest.filter(position => !found.has(position)));
    for (const place of places) found.set(place.position, { ...place, score: Math.min(most, place.score) });
    most = Math.min(most, places.at(-1)?.score ?? 1);
  }
  const head = found.size > 0 ? [...found.values()] : await rankAny(request, scored, wanted);
  const ranking = { head, all: undefined, types, total: head.length };
  const positions = head.map(({ position }) => position);
  return { ranking, counts: countByType(positions, visible) };
}

/** Hits with some of the words, or with guesses. */
async function rankAny(request: CandidateRequest, scored: Scorer, wanted: number) {
  const { positions, likely } = await findCandidates(request);
  return rankHead(positions, scored, likely, wanted);
}

/** All words as they are, then the last word as a prefix, then forms of the other words. */
function* generateTiers(words: readonly QueryWord[]): Generator<readonly QueryWord[]> {
  const last = words.at(-1);
  if (last === undefined) return;
  const sure = words.map(removeGuesses);
  const exact = sure.map(word => removeAlternatives(word, notAsTyped));
  // Not for a single letter at the end: it is more likely a prefix than a word.
  if (last.text.length >= minWordLength) yield exact;
  const others = words.slice(0, -1);
  if (others.some(({ alternatives }) => alternatives.some(({ factor }) => factor === factors.stem)))
    yield [...exact.slice(0, -1), ...sure.slice(-1)];
  yield sure;
}

const removeAlternatives = (word: QueryWord, left: readonly number[]): QueryWord => ({
  ...word,
  alternatives: word.alternatives.filter(({ factor }) => !left.includes(factor)),
});
