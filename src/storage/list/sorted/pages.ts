/** Selects keys from a list in memory. */
import type { Ordered } from '../pages.ts';
import type { Condition, Key } from '../request.ts';
import type { SortedKeys } from './keys.ts';

/** The values from `low` to `high`, both included, of the rows that match `base`. */
export interface Range {
  readonly base: readonly Condition[];
  readonly low: number;
  readonly high: number;
}

/** The conditions as a range of the column; undefined if they are not a range. */
export function toRange(conditions: readonly Condition[], column: string | undefined): Range | undefined {
  const base = conditions.filter(condition => condition.column !== column);
  if (base.length === conditions.length) return undefined;
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { column: other, operator, value } of conditions) {
    if (other !== column) continue;
    if (operator === '>=' && typeof value === 'number') low = Math.max(low, value);
    else if (operator === '<=' && typeof value === 'number') high = Math.min(high, value);
    else return undefined;
  }
  return { base, low, high };
}

/** The keys with the ranks from `from` on and before `to`. @param column the one that the keys are sorted by */
export function selectRanks(keys: SortedKeys, from: number, to: number, column: string): Ordered {
  /** The rank at which the rows past a key begin, or those before it end. */
  function computeEdge({ value, id }: Key, descending: boolean): number {
    // Ids are whole numbers: `+ 0.5` is the place just after the key, even if there is no such row.
    const place = { value: column === 'id' ? id : Number(value), id: descending ? id : id + 0.5 };
    return Math.min(to, Math.max(from, keys.rank(place)));
  }
  return {
    total: to - from,
    take({ descending, start, skip, count }) {
      const edge = start === undefined ? (descending ? to : from) : computeEdge(start, descending);
      const first = descending ? edge - skip - count : edge + skip;
      const found = keys.slice(Math.max(from, first), Math.min(to, first + count));
      return descending ? found.reverse() : found;
    },
  };
}
