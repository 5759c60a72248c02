/** The first rows of a set in an order that is in memory: by id, or by the number that a column has for each. */
import type { Key } from '../list/request.ts';
import type { Column } from './column.ts';
import type { RowSet } from './rows.ts';
import { mostSelected, selection } from './selection.ts';

/** Which rows of a set, in an order. */
export interface Taken {
  readonly rows: RowSet;
  readonly descending: boolean;
  /** They come after this one. */
  readonly start: Key | undefined;
  /** So many of them are passed over. */
  readonly skip: number;
  readonly count: number;
}

/** Rows by their ids. */
export function byId({ rows: { words }, descending, start, skip, count }: Taken): Key[] {
  const found: Key[] = [];
  let left = skip;
  const step = descending ? -1 : 1;
  const from = start?.id ?? (descending ? words.length * 32 : -1);
  const isPast = (id: number) => (descending ? id < from : id > from);
  const first = descending
    ? Math.min(words.length - 1, Math.floor((from - 1) / 32))
    : Math.floor((from + 1) / 32);
  for (let index = first; index >= 0 && index < words.length && found.length < count; index += step) {
    const word = words[index] ?? 0;
    if (word === 0) continue;
    for (let place = 0; place < 32 && found.length < count; place++) {
      const bit = descending ? 31 - place : place;
      if ((word & (1 << bit)) === 0) continue;
      const id = index * 32 + bit;
      if (!isPast(id)) continue;
      if (left > 0) left -= 1;
      else found.push({ value: id, id });
    }
  }
  return found;
}

/** Rows by the number that a column has for each; none of them lacks one. */
export function byNumber(column: Column, taken: Taken): Key[] {
  return firstOf(taken, visit => eachNumber(column, taken, visit));
}

/**
 * Rows by their ranks: no two have the same. @param edge the rank that they are past
 * @returns ids, with ranks in the place of values
 */
export function byRank(ranks: Float64Array, edge: number | undefined, taken: Taken): Key[] {
  const { rows, descending } = taken;
  const sign = descending ? -1 : 1;
  const past = edge === undefined ? Number.NEGATIVE_INFINITY : sign * edge;
  return firstOf(taken, visit => {
    const { words } = rows;
    for (let index = 0; index < words.length; index++) {
      let word = words[index] ?? 0;
      while (word !== 0) {
        const lowest = word & -word;
        word ^= lowest;
        const id = (index << 5) + 31 - Math.clz32(lowest);
        const number = sign * (ranks[id] ?? Number.NaN);
        if (number > past) visit(id, number);
      }
    }
  });
}

/** Given each id in ascending order with its number, which is negated where the order descends. */
type Visit = (id: number, number: number) => void;

/** Of few rows that are wanted no others are kept; of many all are, and those selected. */
function firstOf(taken: Taken, each: (visit: Visit) => void): Key[] {
  const { rows, descending, skip, count } = taken;
  if (skip + count <= mostSelected) {
    const { offer, taken: smallest } = selection(skip + count, descending);
    each(offer);
    const sign = descending ? -1 : 1;
    return smallest()
      .slice(skip)
      .map(({ id, number }) => ({ value: sign * number, id }));
  }
  const [ids, numbers] = [new Uint32Array(rows.count), new Float64Array(rows.count)];
  let length = 0;
  each((id, number) => {
    ids[length] = id;
    numbers[length++] = number;
  });
  return selectFrom({ ids: ids.subarray(0, length), numbers: numbers.subarray(0, length) }, taken);
}

interface Numbered {
  readonly ids: Uint32Array;
  /** Negated where the order descends. */
  readonly numbers: Float64Array;
}

function selectFrom({ ids, numbers }: Numbered, { descending, skip, count }: Taken): Key[] {
  // What comes before the end of the page; of the numbers at the edge all, since ids decide there.
  const wanted = Math.min(skip + count, ids.length);
  if (wanted === 0) return [];
  const edge = nthOf(Float64Array.from(numbers), wanted - 1);
  let [below, ties] = [0, 0];
  for (const number of numbers) {
    if (number < edge) below += 1;
    else if (number === edge) ties += 1;
  }
  // Ids ascend here: of rows with one number the first come first, or the last where the order descends.
  const [firstTie, lastTie] = descending ? [ties - (wanted - below), ties] : [0, wanted - below];
  const found: Key[] = [];
  let tie = 0;
  for (let index = 0; index < ids.length; index++) {
    const number = numbers[index] ?? 0;
    if (number > edge) continue;
    if (number === edge) {
      tie += 1;
      if (tie <= firstTie || tie > lastTie) continue;
    }
    found.push({ value: descending ? -number : number, id: ids[index] ?? 0 });
  }
  const sign = descending ? -1 : 1;
  found.sort((a, b) => sign * (Number(a.value) - Number(b.value) || a.id - b.id));
  return found.slice(skip, skip + count);
}

/** The rows past the start, with their numbers. */
function eachNumber(column: Column, { rows, descending, start }: Taken, visit: Visit): void {
  const codes = column.codes();
  const sign = descending ? -1 : 1;
  const { singles, numbers: values } = column;
  const edge = start === undefined ? Number.NEGATIVE_INFINITY : sign * Number(start.value);
  const { words } = rows;
  for (let index = 0; index < words.length; index++) {
    let word = words[index] ?? 0;
    while (word !== 0) {
      const lowest = word & -word;
      word ^= lowest;
      const id = (index << 5) + 31 - Math.clz32(lowest);
      const number = sign * (values[singles[codes[id] ?? 0] ?? -1] ?? Number.NaN);
      const isPast =
        number > edge || (number === edge && (start === undefined || sign * (id - start.id) > 0));
      if (isPast) visit(id, number);
    }
  }
}

/** The number at a place of what would be the ascending order (Hoare's selection). @param numbers are moved about */
function nthOf(numbers: Float64Array, place: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const pivot = numbers[(low + high) >> 1] ?? 0;
    let [left, right] = [low, high];
    while (left <= right) {
      while ((numbers[left] ?? 0) < pivot) left++;
      while ((numbers[right] ?? 0) > pivot) right--;
      if (left > right) break;
      const moved = numbers[left] ?? 0;
      numbers[left] = numbers[right] ?? 0;
      numbers[right] = moved;
      left++;
      right--;
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return numbers[place] ?? 0;
}
