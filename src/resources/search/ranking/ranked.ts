/** A page of hits: first the ranked ones and, if there are very many, then the others in the order of the index. */

import type { Key, PageRequest } from '../../../storage/list/request.ts';
import type { Expression, Range } from '../../../storage/search/expression.ts';
import type { DocumentType } from '../../../storage/search/index.ts';
import type { SearchSession } from '../../../storage/search/reading/frequency.ts';
import { takeTurn } from '../../../turns/index.ts';
import { maxCandidates } from './candidates.ts';
import type { HitReader } from './filtered.ts';
import type { Scorable } from './scorable-cache.ts';
import { computeScore, type Weighed } from './score.ts';

/** A hit with its score, and its position in the index, which breaks ties. */
export interface RankedHit {
  readonly position: number;
  /** -1 for hits that are not ranked. */
  readonly score: number;
  readonly missing: readonly string[];
}

export interface Ranking {
  /** The ranked hits, best first. */
  readonly head: readonly RankedHit[];
  /** Matches the hits that have all words, if there are more than the head. */
  readonly all: Expression | undefined;
  readonly types: readonly DocumentType[];
  readonly total: number;
}

export interface Slice {
  readonly limit: number;
  readonly skip?: number;
  readonly start?: Key | undefined;
  readonly backwards?: boolean;
}

interface Reading {
  readonly reader: HitReader;
  readonly session: SearchSession;
  readonly ranking: Ranking;
}

const unranked = -1;
/** The smallest difference between two scores. */
const minDifference = 0.0001;

/** Scores documents and sorts them, best first. */
export async function rankDocuments(
  documents: ReadonlyMap<number, Scorable>,
  words: readonly Weighed[],
): Promise<RankedHit[]> {
  const hits: RankedHit[] = [];
  for (const [position, document] of documents) {
    await takeTurn();
    const { value, missing } = computeScore(document.features, words, document);
    hits.push({ position, score: value, missing });
  }
  return hits.sort(compareHits);
}

/** How many of the first hits a page needs; undefined if unknown. */
export const computeLastPlace = (page: PageRequest): number | undefined =>
  page.kind === 'offset'
    ? page.page * page.perPage
    : page.before === undefined && page.after === undefined
      ? page.limit + 1
      : undefined;

/**
 * Ranks candidates: the likely ones, then the others whatever their scores, so that pages are consistent whether or not
 * the others have been scored.
 * @param scored scores and sorts some positions
 * @param wanted how many hits the page needs; all if unknown
 */
export async function rankHead(
  positions: readonly number[],
  scored: (some: readonly number[]) => Promise<readonly RankedHit[]>,
  likely = positions.length,
  wanted = positions.length,
): Promise<readonly RankedHit[]> {
  const first = await scored(positions.slice(0, likely));
  const others = positions.slice(likely);
  if (others.length === 0) return first;
  const most = Math.max(0, (first.at(-1)?.score ?? 1) - minDifference);
  if (wanted <= first.length)
    return [...first, ...others.map(position => ({ position, score: most, missing: [] }))];
  return [...first, ...clampScores(await scored(others), most)];
}

/** Limits the scores of sorted hits without changing their order, which cursors rely on: ties are in index order. */
function clampScores(hits: readonly RankedHit[], most: number): RankedHit[] {
  const lowered: RankedHit[] = [];
  let limit = most;
  let before = Number.NEGATIVE_INFINITY;
  for (const hit of hits) {
    if (hit.position < before && hit.score >= limit) limit -= minDifference;
    const score = Math.min(limit, hit.score);
    lowered.push({ ...hit, score });
    [limit, before] = [score, hit.position];
  }
  return lowered;
}

/** Some of the hits: after the first `skip`, or after the key `start`; backwards, those before it in reverse. */
export async function readSlice(
  reading: Reading,
  { limit, skip = 0, start, backwards = false }: Slice,
): Promise<RankedHit[]> {
  const { head } = reading.ranking;
  if (start === undefined) {
    const ranked = head.slice(skip, skip + limit);
    if (ranked.length >= limit) return ranked;
    const offset = Math.max(0, skip - head.length);
    return [...ranked, ...(await readRest(reading, { offset }, limit - ranked.length))];
  }
  const at: RankedHit = { score: Number(start.value), position: start.id, missing: [] };
  if (backwards) {
    const before = { high: at.position, descending: true };
    const rest = at.score === unranked ? await readRest(reading, before, limit) : [];
    const ranked = head.filter(hit => compareHits(hit, at) < 0).reverse();
    return [...rest, ...ranked].slice(0, limit);
  }
  const ranked = head.filter(hit => compareHits(hit, at) > 0).slice(0, limit);
  if (ranked.length >= limit) return ranked;
  const low = at.score === unranked ? at.position + 1 : 0;
  return [...ranked, ...(await readRest(reading, { low }, limit - ranked.length))];
}

const compareHits = (a: RankedHit, b: RankedHit): number => b.score - a.score || a.position - b.position;

/**
 * Hits that are not in the head. The index lists the head's hits among all others: for each of them before the hit at an
 * offset, one more hit must be passed over.
 */
async function readRest(
  { reader, session, ranking: { all, types, head } }: Reading,
  page: Partial<Range> & { readonly offset?: number; readonly descending?: boolean },
  limit: number,
): Promise<RankedHit[]> {
  if (all === undefined || limit <= 0) return [];
  const found = await reader.page(session, all, types, { ...page, limit: limit + maxCandidates });
  const [first = 0] = found;
  const passed = page.offset === undefined ? 0 : head.filter(({ position }) => position < first).length;
  const known = new Set(head.map(({ position }) => position));
  return found
    .filter(position => !known.has(position))
    .slice(passed, passed + limit)
    .map(position => ({ position, score: unranked, missing: [] }));
}
