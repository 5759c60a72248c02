/**
 * Hits for a query that is still being typed, if names do not provide them: hits with the words as they are come before
 * those with other forms of them, as in names/tiers.ts.
 */
import { countByType, type DocumentType } from '../../../storage/search/index.ts';
import { factors, type QueryWord, removeGuesses } from '../query/word.ts';
import {
  type CandidateRequest,
  fewCandidates,
  filterCandidates,
  findCandidates,
  readLikeliest,
} from './candidates.ts';
import { type RankedHit, type Ranking, rankHead } from './ranked.ts';

const minWordLength = 2;
/** The factors of alternatives that differ from the word as typed. */
const notAsTyped: readonly number[] = [factors.stem, factors.beginning, factors.compound, factors.typo];

type Scorer = (some: readonly number[]) => Promise<readonly RankedHit[]>;

/** @param wanted how many hits are enough */
export async function rankTypedHits(
  request: CandidateRequest,
  scored: Scorer,
  wanted = fewCandidates,
): Promise<{ readonly ranking: Ranking; readonly counts: ReadonlyMap<DocumentType, number> }> {
  const { words: all, types, visible } = request;
  const found = new Map<number, RankedHit>();
  let most = 1;
  for (const words of generateTiers(all)) {
    if (found.size >= wanted) break;
    const isNew = (position: number) => !found.has(position);
    const places =
      words === all
        ? await rankAny(request, scored, { isNew, wanted })
        : await scored((await readLikeliest(request, words, fewCandidates)).filter(isNew));
    for (const place of places) found.set(place.position, { ...place, score: Math.min(most, place.score) });
    most = Math.min(most, places.at(-1)?.score ?? 1);
  }
  const head = [...found.values()];
  const ranking = { head, all: undefined, types, total: head.length };
  return { ranking, counts: countByType([...found.keys()], visible) };
}

interface Wanted {
  readonly isNew: (position: number) => boolean;
  readonly wanted: number;
}

async function rankAny(request: CandidateRequest, scored: Scorer, { isNew, wanted }: Wanted) {
  const candidates = await findCandidates(request);
  const { positions, likely } = filterCandidates(candidates, request.visible, isNew);
  return rankHead(positions, scored, likely, wanted);
}

/** All words as they are, then the last word as a prefix, then forms of the other words. */
function* generateTiers(words: readonly QueryWord[]): Generator<readonly QueryWord[]> {
  const last = words.at(-1);
  if (last === undefined) return;
  const exact = words.map(word => removeAlternatives(removeGuesses(word), notAsTyped));
  // Not for a single letter at the end: it is more likely a prefix than a word.
  if (last.text.length >= minWordLength) yield exact;
  const others = words.slice(0, -1);
  if (others.some(({ alternatives }) => alternatives.some(({ factor }) => factor === factors.stem)))
    yield [...exact.slice(0, -1), removeGuesses(last)];
  yield words;
}

const removeAlternatives = (word: QueryWord, left: readonly number[]): QueryWord => ({
  ...word,
  alternatives: word.alternatives.filter(({ factor }) => !left.includes(factor)),
});
