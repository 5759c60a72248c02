/** Selects the keys of a page from a list in memory. */
import type { Condition, Key, Listed, ListRequest } from '../request.ts';
import type { SortedKeys } from './keys.ts';

/** The values from `low` to `high`, both included, of the rows that match `base`. */
export interface Range {
  readonly base: readonly Condition[];
  readonly low: number;
  readonly high: number;
}

/** Sorted keys, and the range of ranks that belongs to a list: `from` included, `to` excluded. */
export interface Selected {
  readonly keys: SortedKeys;
  readonly from: number;
  readonly to: number;
}

type Cut = Omit<Listed<unknown>, 'rows'> & { readonly keys: readonly Key[] };

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

/** The keys of a page in its order, with the total and whether other pages precede and follow. */
export function cutPage({ order, page }: ListRequest, selected: Selected): Cut {
  const { keys, from, to } = selected;
  const slice = (first: number, end: number): Key[] => {
    const found = keys.slice(Math.max(from, first), Math.min(to, end));
    return order.descending ? found.reverse() : found;
  };
  const total = to - from;
  if (page.kind === 'offset') {
    const skip = Math.min((page.page - 1) * page.perPage, total);
    const [first, end] = order.descending
      ? [to - skip - page.perPage, to - skip]
      : [from + skip, from + skip + page.perPage];
    const hasNext = skip + page.perPage < total;
    return { keys: slice(first, end), total, hasPrevious: page.page > 1, hasNext };
  }
  const backwards = page.before !== undefined;
  const start = page.before ?? page.after;
  const ascends = order.descending === backwards;
  const edge =
    start === undefined ? (ascends ? from : to) : computeEdge(selected, order.column, start, ascends);
  const [first, end] = ascends ? [edge, edge + page.limit] : [edge - page.limit, edge];
  const more = ascends ? end < to : first > from;
  return {
    keys: slice(first, end),
    total: page.count ? total : undefined,
    hasPrevious: backwards ? more : start !== undefined,
    hasNext: backwards || more,
  };
}

/** The rank at which the rows past a key begin, or those before it end. */
function computeEdge({ keys, from, to }: Selected, column: string, start: Key, ascends: boolean): number {
  const value = column === 'id' ? start.id : Number(start.value);
  // Ids are whole numbers: `+ 0.5` is the place just after the key, even if there is no such row.
  const rank = keys.rank({ value, id: ascends ? start.id + 0.5 : start.id });
  return Math.min(to, Math.max(from, rank));
}
