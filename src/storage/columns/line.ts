/**
 * All rows in one order, in memory: a page of the rows in a set is found by walking along this line. A row that has
 * moved since the line was made is skipped at its old place and taken at its new one. After many moves, the line is
 * made again.
 */
import { countOnes, has, type RowSet, toIds } from './rows.ts';

/** Maximum number of moved rows, all of which each request checks. */
export const maxMoved = 1000;

export interface Line {
  /** The ids of rows in ascending order of their places. */
  readonly ids: Uint32Array;
  /** Rows that are no longer where `ids` has them, or are not in it. */
  readonly moved: ReadonlySet<number>;
  /** The current place of a row: rows with the same place are in the order of their ids; NaN for a row without one. */
  placeOf(id: number): number;
}

/** A position in a line: pages begin past it. */
export interface LinePosition {
  readonly place: number;
  readonly id: number;
}

/** Selects a page from the rows of a set. */
export interface Taken {
  readonly rows: RowSet;
  readonly descending: boolean;
  readonly start: LinePosition | undefined;
  /** How many rows are skipped first. */
  readonly skip: number;
  readonly count: number;
}

/** The cost of reading a row's place; the unit is the cost of skipping a row. */
const placeCost = 4;
/** Maximum number of rows that selectSmallest keeps while it scans a set. */
const maxKept = 1000;

export function selectPage(line: Line, taken: Taken): number[] {
  const { rows, skip, count } = taken;
  if (rows.count === 0) return [];
  const wanted = skip + count;
  const passed = (wanted * line.ids.length) / rows.count;
  return wanted <= maxKept && rows.count * placeCost < passed
    ? selectSmallest(line, taken)
    : walkLine(line, taken);
}

function createComparison({ placeOf }: Pick<Line, 'placeOf'>, descending: boolean) {
  const sign = descending ? -1 : 1;
  return (a: number, b: number): number => sign * (placeOf(a) - placeOf(b) || a - b);
}

/** Whether a row is past the start. */
function createPastTest({ placeOf }: Pick<Line, 'placeOf'>, { start, descending }: Taken) {
  if (start === undefined) return () => true;
  const sign = descending ? -1 : 1;
  return (id: number): boolean => sign * (placeOf(id) - start.place || id - start.id) > 0;
}

function walkLine(line: Line, taken: Taken): number[] {
  const { ids, moved } = line;
  const { rows, descending, skip, count } = taken;
  const isPast = createPastTest(line, taken);
  const compare = createComparison(line, descending);
  const others = [...moved].filter(id => has(rows, id) && isPast(id)).sort(compare);
  const found: number[] = [];
  let [left, other] = [skip, 0];
  /** Skips a row, or adds it to the page. @returns whether the page is full */
  const take = (id: number): boolean => {
    if (left > 0) left -= 1;
    else found.push(id);
    return found.length === count;
  };
  const step = descending ? -1 : 1;
  const { words } = rows;
  for (let at = findFirstPast(line, taken, isPast); at >= 0 && at < ids.length; at += step) {
    const id = ids[at] ?? 0;
    if (((words[id >>> 5] ?? 0) & (1 << (id & 31))) === 0 || (moved.size > 0 && moved.has(id))) continue;
    for (let next = others[other]; next !== undefined && compare(next, id) < 0; next = others[++other])
      if (take(next)) return found;
    if (take(id)) return found;
  }
  for (; other < others.length; other++) if (take(others[other] ?? 0)) return found;
  return found;
}

/** The index of the first row past the start, in the direction of the walk. Moved rows are ignored. */
function findFirstPast(
  { ids, moved }: Line,
  { start, descending }: Taken,
  isPast: (id: number) => boolean,
): number {
  const last = ids.length - 1;
  if (start === undefined) return descending ? last : 0;
  const toIndex = (step: number): number => (descending ? last - step : step);
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    let known = middle;
    while (known < high && moved.has(ids[toIndex(known)] ?? 0)) known++;
    if (known === high || isPast(ids[toIndex(known)] ?? 0)) high = middle;
    else low = known + 1;
  }
  return toIndex(low);
}

/** Scans all rows of a small set, and keeps the first ones. */
function selectSmallest(line: Line, taken: Taken): number[] {
  const { rows, descending, skip, count } = taken;
  const { placeOf } = line;
  const isPast = createPastTest(line, taken);
  const sign = descending ? -1 : 1;
  const wanted = skip + count;
  let kept: LinePosition[] = [];
  let edge = Number.POSITIVE_INFINITY;
  const compare = (a: LinePosition, b: LinePosition) => sign * (a.place - b.place || a.id - b.id);
  const keepSmallest = () => {
    kept = kept.sort(compare).slice(0, wanted);
    if (kept.length === wanted) edge = sign * (kept.at(-1)?.place ?? Number.NaN);
  };
  for (const id of toIds(rows)) {
    const place = placeOf(id);
    if (sign * place > edge || !isPast(id)) continue;
    if (kept.push({ place, id }) >= 2 * wanted + 64) keepSmallest();
  }
  keepSmallest();
  return kept.slice(skip).map(({ id }) => id);
}

/** Selects a page in the order of ids. */
export function selectPageById({ rows: { words }, descending, start, skip, count }: Taken): number[] {
  const found: number[] = [];
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
    // `skip` is 0 if there is a start.
    const inside = left > 0 ? countOnes(word) : 0;
    if (left > 0 && inside <= left) {
      left -= inside;
      continue;
    }
    for (let place = 0; place < 32 && found.length < count; place++) {
      const bit = descending ? 31 - place : place;
      if ((word & (1 << bit)) === 0) continue;
      const id = index * 32 + bit;
      if (!isPast(id)) continue;
      if (left > 0) left -= 1;
      else found.push(id);
    }
  }
  return found;
}
