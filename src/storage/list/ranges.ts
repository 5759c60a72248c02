/**
 * How many rows lie in a range of values, without counting all of them each time.
 *
 * While nothing has changed, the number of rows before a value, its rank, stays what it is. The ranks of values that
 * ranges began and ended at are cached with the collection's version; the rank of another value is counted from
 * the nearest of them, and a range is the difference of two ranks (docs/decisions/0018).
 */
import { LRUCache } from 'lru-cache';
import type { Session } from '../database.ts';
import type { ListQueries } from './queries.ts';
import type { Comparison, Condition, Key, ListOptions } from './request.ts';

/** The values from `low` to `high`, both included, of the rows that meet `base`. */
export interface Range {
  readonly base: readonly Condition[];
  readonly column: string;
  readonly low: number;
  readonly high: number;
}

/** A place among the values: before all rows with this value, or after them. */
interface Place {
  readonly value: number;
  readonly after: boolean;
}

interface Ranked extends Place {
  /** How many rows are before this place. */
  readonly rank: number;
}

interface Cached {
  readonly version: number;
  /** In order; the first is before and the last after all rows. Undefined until a second range has been asked for. */
  places: Ranked[] | undefined;
}

const cachedFilters = 200;
const mostPlaces = 256;
/** So many rows are counted sooner than two ranks are found. */
const fewRows = 64;
/** How much more counting than the range itself is worth knowing two places. */
const investment = 2;

/** The conditions as a range of the column; undefined when they are none, or more than one. */
export function rangeOf(conditions: readonly Condition[], column: string | undefined): Range | undefined {
  if (column === undefined) return undefined;
  const base: Condition[] = [];
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const condition of conditions) {
    const { operator, value } = condition;
    if (condition.column !== column) base.push(condition);
    else if (operator === '>=' && typeof value === 'number') low = Math.max(low, value);
    else if (operator === '<=' && typeof value === 'number') high = Math.min(high, value);
    else return undefined;
  }
  return base.length === conditions.length ? undefined : { base, column, low, high };
}

export interface RangeTotals {
  /** The rows of a range; undefined when they had better be counted. */
  total(session: Session, range: Range, version: number): Promise<number | undefined>;
}

export function rangeTotals<Row>(
  queries: ListQueries<Row>,
  keptTotal: ListOptions['keptTotal'],
): RangeTotals {
  const cached = new LRUCache<string, Cached>({ max: cachedFilters });

  const order = (column: string, descending = false) => ({ column, descending });
  const page = { kind: 'offset', page: 1, perPage: 1 } as const;

  function count(session: Session, { base, column }: Range, from: Place, to: Place): Promise<number> {
    const above: Comparison = { column, operator: from.after ? '>' : '>=', value: from.value };
    const below: Comparison = { column, operator: to.after ? '<=' : '<', value: to.value };
    return queries.count(session, { conditions: [...base, above, below], order: order(column), page });
  }

  /** The places before and after all rows; none when there are no rows or their number is not known. */
  async function ends(session: Session, { base, column }: Range): Promise<Ranked[]> {
    const kept = keptTotal?.(base);
    const total = kept === undefined ? undefined : (await session.first(kept))?.total;
    const at = async (descending: boolean) =>
      numberOf(
        await queries.walk(
          session,
          { conditions: base, order: order(column, descending), page },
          0,
          undefined,
        ),
      );
    const [low, high] = [await at(false), await at(true)];
    if (total === undefined || low === undefined || high === undefined) return [];
    return [
      { value: low, after: false, rank: 0 },
      { value: high, after: true, rank: total },
    ];
  }

  /** @param places with the first before and the last after `place` */
  async function rankOf(session: Session, range: Range, places: Ranked[], place: Place): Promise<number> {
    const { before, behind } = around(places, place);
    if (compare(before, place) === 0) return before.rank;
    const isNearer = place.value - before.value <= behind.value - place.value;
    const rank = isNearer
      ? before.rank + (await count(session, range, before, place))
      : behind.rank - (await count(session, range, place, behind));
    insert(places, { ...place, rank });
    return rank;
  }

  return {
    async total(session, range, version) {
      const name = JSON.stringify(range.base.map(({ column, operator, value }) => [column, operator, value]));
      const known = cached.get(name);
      if (known === undefined || known.version !== version) {
        // Who writes as often as somebody asks would have places counted for nobody.
        cached.set(name, { version, places: undefined });
        return undefined;
      }
      known.places ??= await ends(session, range);
      const { places } = known;
      const [first, last] = [places[0], places.at(-1)];
      if (first === undefined || last === undefined) return undefined;
      if (range.low > range.high || range.low > last.value || range.high < first.value) return 0;
      const low = { value: Math.max(range.low, first.value), after: false };
      const high = { value: Math.min(range.high, last.value), after: true };
      const width = high.value - low.value;
      const share = width / (last.value - first.value);
      if (!(share * last.rank > fewRows)) return undefined;
      const effort = distance(places, low) + Math.min(distance(places, high), width);
      if (effort > width * investment) return undefined;
      const start = await rankOf(session, range, places, low);
      return (await rankOf(session, range, places, high)) - start;
    },
  };
}

function numberOf(key: Key | undefined): number | undefined {
  return typeof key?.value === 'number' ? key.value : undefined;
}

const compare = (a: Place, b: Place): number => a.value - b.value || Number(a.after) - Number(b.after);

/** The last place that is not behind this one, and the next. */
function around(places: readonly Ranked[], place: Place): { before: Ranked; behind: Ranked } {
  let [low, high] = [0, places.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const found = places[middle];
    if (found !== undefined && compare(found, place) <= 0) low = middle;
    else high = middle;
  }
  const [before, behind] = [places[low], places[high]];
  if (before === undefined || behind === undefined)
    throw new Error('places must have a first and a last one');
  return compare(behind, place) === 0 ? { before: behind, behind } : { before, behind };
}

/** How far the nearest known place is, in values. */
function distance(places: readonly Ranked[], place: Place): number {
  const { before, behind } = around(places, place);
  if (compare(before, place) === 0) return 0;
  return Math.min(place.value - before.value, behind.value - place.value);
}

function insert(places: Ranked[], ranked: Ranked): void {
  if (places.length >= mostPlaces) return;
  const index = places.findIndex(place => compare(place, ranked) >= 0);
  const found = places[index];
  if (found !== undefined && compare(found, ranked) !== 0) places.splice(index, 0, ranked);
}
