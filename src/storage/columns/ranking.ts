/** Ranks of rows in an order that only the database knows: ascending numbers, with room between them. */
import { growArray } from '../../arrays/growing.ts';
import { mergeInOrder } from '../../arrays/sorted.ts';
import type { Change } from '../changes/change.ts';

/** The distance of the first ranks: large enough to be halved as often as rows are expected in between. */
const gap = 2 ** 24;

export interface Ranking {
  /** By row id; NaN for a row without a rank. */
  ranks: Float64Array;
  /** The ids of rows in the order of their ranks, except for those in `moved`. */
  ids: Uint32Array;
  moved: Set<number>;
  /** Rows that need a rank. */
  readonly unranked: Set<number>;
}

export const createRanking = (): Ranking => ({
  ranks: new Float64Array(1024).fill(Number.NaN),
  ids: new Uint32Array(1024),
  moved: new Set(),
  unranked: new Set(),
});

/** Adds a row that comes after all others. */
export function appendRow(ranking: Ranking, id: number, place: number): void {
  if (place >= ranking.ids.length) ranking.ids = growArray(ranking.ids, place + 1);
  ranking.ids[place] = id;
  setRank(ranking, id, (place + 1) * gap);
}

/** Puts moved rows in their places. */
export function putInOrder(ranking: Ranking): void {
  const { ids, moved } = ranking;
  const rank = (id: number) => getRank(ranking, id);
  const others = [...moved].filter(id => !Number.isNaN(rank(id))).sort((a, b) => rank(a) - rank(b));
  ranking.ids = mergeInOrder(ids, others, rank, moved);
  ranking.moved = new Set();
}

export function getRank({ ranks }: Ranking, id: number): number {
  return ranks[id] ?? Number.NaN;
}

export function setRank(ranking: Ranking, id: number, rank: number): void {
  if (id >= ranking.ranks.length) {
    const larger = new Float64Array(Math.ceil((id + 1) * 1.5)).fill(Number.NaN);
    larger.set(ranking.ranks);
    ranking.ranks = larger;
  }
  ranking.ranks[id] = rank;
}

/** Removes the rank of a row that may have another place after a change. */
export function unrank(ranking: Ranking, column: string, { id, before, after }: Change): void {
  if (after !== undefined && before !== undefined && before[column] === after[column]) return;
  setRank(ranking, id, Number.NaN);
  ranking.moved.add(id);
  if (after === undefined) ranking.unranked.delete(id);
  else ranking.unranked.add(id);
}

/** A rank between two ranks, or past one; undefined if there is no room between them. */
export function computeMiddle(low: number | undefined, high: number | undefined): number | undefined {
  if (low === undefined) return (high ?? 0) - gap;
  if (high === undefined) return low + gap;
  const middle = (low + high) / 2;
  return low < middle && middle < high ? middle : undefined;
}
