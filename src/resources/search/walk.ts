/** The hits of a query in their order: class by class, best first, and within a class by their position. */

import type { Key } from '../../storage/list/request.ts';
import { isMet } from '../../storage/search/expression.ts';
import { type SearchType, typeAt } from '../../storage/search/index.ts';
import type { SearchReader, SearchSession } from '../../storage/search/read.ts';
import { documentWords } from '../../storage/search/words.ts';
import { fewHits } from './query.ts';
import type { RankClass } from './ranking.ts';
import type { Documents } from './sources.ts';

/** A hit's place: its class, and its position in the index. */
export interface Place {
  readonly rank: number;
  readonly position: number;
}

/** Which of the hits are to be given. */
export interface Walk {
  readonly few: readonly number[] | undefined;
  readonly classes: readonly RankClass[];
  readonly types: readonly SearchType[];
  readonly limit: number;
  readonly skip?: number;
  readonly start?: Key | undefined;
  readonly backwards?: boolean;
  readonly known: Documents;
}

/** Which class each of few hits belongs to; those that are left out belong to the last. */
async function ranksOf(
  reader: SearchReader,
  session: SearchSession,
  few: readonly number[],
  classes: readonly RankClass[],
  types: readonly SearchType[],
  known: Documents,
): Promise<ReadonlyMap<number, number>> {
  const ranks = new Map<number, number>();
  if (few.every(position => known.has(position))) {
    for (const [position, document] of known) {
      const entries = new Set(documentWords(document));
      ranks.set(
        position,
        classes.findIndex(({ upTo }) => isMet(upTo, entries)),
      );
    }
    return ranks;
  }
  for (const [rank, { upTo }] of classes.slice(0, -1).entries()) {
    if (ranks.size === few.length) break;
    const positions = await reader.page(session, upTo, types, { limit: fewHits, rare: true });
    for (const position of positions) if (!ranks.has(position)) ranks.set(position, rank);
  }
  return ranks;
}

/** All of few hits in their order. */
async function rankFew(
  reader: SearchReader,
  session: SearchSession,
  few: readonly number[],
  { classes, types, known }: Pick<Walk, 'classes' | 'types' | 'known'>,
): Promise<Place[]> {
  const ranks = await ranksOf(reader, session, few, classes, types, known);
  return few
    .filter(position => types.includes(typeAt(position)))
    .map(position => ({ rank: ranks.get(position) ?? classes.length - 1, position }))
    .sort((a, b) => a.rank - b.rank || a.position - b.position);
}

/** Some of few hits. */
async function walkFew(
  reader: SearchReader,
  session: SearchSession,
  few: readonly number[],
  request: Walk,
): Promise<Place[]> {
  const { limit, start, skip = 0, backwards = false } = request;
  const all = await rankFew(reader, session, few, request);
  if (start === undefined) return all.slice(skip, skip + limit);
  const beyond = ({ rank, position }: Place) => rank - Number(start.value) || position - start.id;
  if (!backwards) return all.filter(place => beyond(place) > 0).slice(0, limit);
  return all
    .filter(place => beyond(place) < 0)
    .reverse()
    .slice(0, limit);
}

/** Goes through the classes, best first or backwards, until there are enough. */
export async function walk(reader: SearchReader, session: SearchSession, request: Walk): Promise<Place[]> {
  const { classes, types, limit, start, few, backwards = false } = request;
  if (few !== undefined) return walkFew(reader, session, few, request);
  const places: Place[] = [];
  let skip = request.skip ?? 0;
  const last = classes.length - 1;
  let rank = start === undefined ? 0 : Number(start.value);
  if (backwards) rank = Math.min(rank, last);
  for (; rank >= 0 && rank <= last && places.length < limit; rank += backwards ? -1 : 1) {
    const hits = classes[rank]?.hits;
    if (hits === undefined) break;
    if (skip > 0) {
      const count = sum(await reader.counts(session, hits, types));
      if (count <= skip) {
        skip -= count;
        continue;
      }
    }
    const at = start !== undefined && rank === start.value ? start.id : undefined;
    const positions = await reader.page(session, hits, types, {
      limit: limit - places.length,
      offset: skip,
      descending: backwards,
      ...(at === undefined ? {} : backwards ? { high: at } : { low: at + 1 }),
    });
    skip = 0;
    for (const position of positions) places.push({ rank, position });
  }
  return places;
}

function sum(counts: ReadonlyMap<SearchType, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
