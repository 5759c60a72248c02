/** Computes facets: the number of rows with each value, or the distribution of numbers. */

import { countWhile } from '../../arrays/sorted.ts';
import { type IndexedValue, isShortened, kinds } from '../attributes/values.ts';
import type { Column } from './column.ts';
import { countByCombination, type RowSet, toIds } from './rows.ts';

/** The parts of a column that are needed here. */
export type Countable = Pick<Column, 'codes' | 'uses' | 'members' | 'values' | 'singles' | 'numbers'>;

interface FacetValue {
  readonly value: string | number | boolean;
  readonly count: number;
}

export interface FacetValues {
  /** The most frequent values first; among equally frequent ones, smaller values first. */
  readonly values: readonly FacetValue[];
  /** The number of further values that are not shown. */
  readonly more: number;
}

interface Bucket {
  readonly from: number;
  /** Excluded, except in the last bucket. */
  readonly to: number;
  readonly count: number;
}

export interface FacetRange {
  readonly min: number | null;
  readonly max: number | null;
  readonly buckets: readonly Bucket[];
}

/** Maximum number of values that a facet shows. */
export const maxValues = 100;
const maxBuckets = 10;

/** The number of rows with each value, by its index. @param rows undefined for all rows */
async function countByValue(column: Countable, rows: RowSet | undefined): Promise<Uint32Array> {
  const { members, singles, uses, values } = column;
  const combined = rows === undefined ? uses : await countByCombination(column, rows);
  const counts = new Uint32Array(values.length);
  for (let code = 1; code < members.length; code++) {
    const count = combined[code] ?? 0;
    if (count === 0) continue;
    const only = singles[code] ?? -1;
    if (only >= 0) counts[only] = (counts[only] ?? 0) + count;
    else for (const place of members[code] ?? []) counts[place] = (counts[place] ?? 0) + count;
  }
  return counts;
}

function toFacetValue({ kind, text, number }: IndexedValue): FacetValue['value'] {
  if (kind === kinds.number) return number ?? text;
  return kind === kinds.boolean ? text === 'true' : text;
}

/** Sorts numbers by size, and then all other values by code point. */
function compareValues(one: IndexedValue, other: IndexedValue): number {
  const [a, b] = [
    one.kind === kinds.number ? one.number : null,
    other.kind === kinds.number ? other.number : null,
  ];
  if (a !== null && b !== null) return a - b;
  if (a !== null || b !== null) return a !== null ? -1 : 1;
  if (one.text !== other.text) return compareByCodePoint(one.text, other.text);
  return one.kind - other.kind;
}

/** Sorts as UTF-8 and the databases do; in UTF-16, surrogates would come before U+E000 to U+FFFF. */
function compareByCodePoint(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (a === b) continue;
    return isHalf(a) === isHalf(b) ? a - b : isHalf(a) ? 1 : -1;
  }
  return one.length - other.length;
}

const isHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xe000;

/** The most frequent values. Leaves out texts that indexes hold shortened, since clients cannot filter by them. */
export async function computeFacetValues(column: Countable, rows: RowSet | undefined): Promise<FacetValues> {
  const counts = await countByValue(column, rows);
  const { values } = column;
  const isBefore = (a: number, b: number): boolean => {
    const difference = (counts[b] ?? 0) - (counts[a] ?? 0);
    if (difference !== 0) return difference < 0;
    const [one, other] = [values[a], values[b]];
    return one !== undefined && other !== undefined && compareValues(one, other) < 0;
  };
  const best: number[] = [];
  let found = 0;
  for (let place = 0; place < counts.length; place++) {
    if (counts[place] === 0 || isShortened(values[place]?.text ?? '')) continue;
    found += 1;
    const last = best.at(-1);
    if (best.length === maxValues && last !== undefined && !isBefore(place, last)) continue;
    const rank = countWhile(best.length, at => isBefore(best[at] ?? 0, place));
    best.splice(rank, 0, place);
    if (best.length > maxValues) best.pop();
  }
  const shown = best.flatMap(place => {
    const value = values[place];
    return value === undefined ? [] : [{ value: toFacetValue(value), count: counts[place] ?? 0 }];
  });
  return { values: shown, more: found - shown.length };
}

/** Numbers, with how many rows have each. */
interface Spread {
  readonly numbers: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
}

/** Lists the number of each row, if there are fewer rows than combinations. */
async function computeSpread(column: Countable, rows: RowSet | undefined): Promise<Spread> {
  const { members, numbers, singles } = column;
  if (rows === undefined || rows.count >= members.length)
    return { numbers, counts: await countByValue(column, rows) };
  const codes = column.codes();
  const own = toIds(rows).map(id => numbers[singles[codes[id] ?? 0] ?? -1] ?? Number.NaN);
  return { numbers: own, counts: new Uint8Array(own.length).fill(1) };
}

/** The distribution of the numbers of a column with at most one number per row. */
export async function computeFacetRange(column: Countable, rows: RowSet | undefined): Promise<FacetRange> {
  const { numbers, counts } = await computeSpread(column, rows);
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let place = 0; place < counts.length; place++) {
    if (counts[place] === 0) continue;
    const number = numbers[place] ?? Number.NaN;
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return min > max
    ? { min: null, max: null, buckets: [] }
    : { min, max, buckets: computeBuckets({ numbers, counts }, min, max) };
}

/** Buckets of equal width, which is 1, 2 or 5 times a power of ten; empty buckets between others are included. */
function computeBuckets({ numbers, counts }: Spread, min: number, max: number): Bucket[] {
  const width = chooseWidth(max - min);
  const first = Math.floor(min / width);
  const edges = computeEdges(width, min, max);
  const last = edges.length - 2;
  const sums = new Float64Array(last + 1);
  for (let place = 0; place < counts.length; place++) {
    const count = counts[place] ?? 0;
    const number = numbers[place] ?? Number.NaN;
    if (count === 0 || Number.isNaN(number)) continue;
    let bucket = last === 0 ? 0 : Math.max(0, Math.min(last, Math.floor(number / width) - first));
    // The quotient may have been rounded over an edge.
    if (number < (edges[bucket] ?? 0) && bucket > 0) bucket -= 1;
    else if (number >= (edges[bucket + 1] ?? 0) && bucket < last) bucket += 1;
    sums[bucket] = (sums[bucket] ?? 0) + count;
  }
  return Array.from(sums, (count, index) => ({ from: edges[index] ?? 0, to: edges[index + 1] ?? 0, count }));
}

/** The edges of the buckets; a single bucket if numbers are too close or too large for such a width to separate. */
function computeEdges(width: number, min: number, max: number): number[] {
  const first = Math.floor(min / width);
  const length = Math.floor(max / width) - first + 1;
  if (!(length <= maxBuckets + 1)) return [min, max];
  const edges = Array.from({ length: length + 1 }, (_, index) =>
    Number(((first + index) * width).toPrecision(12)),
  );
  const isAscending = edges.every((edge, index) => index === 0 || edge > (edges[index - 1] ?? edge));
  const [low = min, high = max] = [edges[0], edges.at(-1)];
  return isAscending && low <= min && high >= max && Number.isFinite(high) ? edges : [min, max];
}

function chooseWidth(span: number): number {
  if (span === 0) return 1;
  const smallest = span / maxBuckets;
  const power = 10 ** Math.floor(Math.log10(smallest));
  return [1, 2, 5, 10].map(factor => factor * power).find(width => width >= smallest) ?? 10 * power;
}
