/** The rows of a column, grouped by combination, so that rows with a value are found without scanning all others. */
import { mergeInOrder } from '../../arrays/sorted.ts';
import { takeTurn } from '../../turns/index.ts';
import type { RowSet } from './rows.ts';

/** Rows that are processed in one turn of the event loop. */
const rowsAtOnce = 100_000;

export interface Arrangement {
  /** The ids of rows, by combination and then ascending. */
  readonly ids: Uint32Array;
  /** By combination: the index in `ids` where its rows begin. */
  readonly starts: Uint32Array;
  /** By combination: the number of its rows in `ids`. */
  readonly counts: Uint32Array;
  /** A bit for each row that has a combination. */
  readonly all: Uint32Array;
}

/**
 * @param codes a copy that does not change; 0 for rows without a combination
 * @param order all combinations except 0
 */
export async function arrangeRows(
  codes: Uint32Array,
  uses: readonly number[],
  order: Uint32Array,
): Promise<Arrangement> {
  const [starts, counts] = [new Uint32Array(uses.length), Uint32Array.from(uses)];
  let length = 0;
  for (const code of order) {
    starts[code] = length;
    length += counts[code] ?? 0;
  }
  const [ids, next] = [new Uint32Array(length), starts.slice()];
  for (let from = 0; from < codes.length; from += rowsAtOnce) {
    placeRows({ codes, next, ids }, from, Math.min(codes.length, from + rowsAtOnce));
    await takeTurn();
  }
  const all = new Uint32Array((codes.length + 31) >>> 5);
  flipBits(all, ids, 0, ids.length);
  return { ids, starts, counts, all };
}

interface Placing {
  readonly codes: Uint32Array;
  /** By combination: the index in `ids` of its next row. */
  readonly next: Uint32Array;
  readonly ids: Uint32Array;
}

function placeRows({ codes, next, ids }: Placing, from: number, to: number): void {
  for (let id = from; id < to; id++) {
    const code = codes[id] ?? 0;
    if (code === 0) continue;
    const place = next[code] ?? 0;
    ids[place] = id;
    next[code] = place + 1;
  }
}

/**
 * Sorts all combinations by their numbers. Fast when most are already in order. Those without a number come last: a row
 * that changed while the column was read may have been read with two values.
 */
export function sortCodes(count: number, numberOf: (code: number) => number): Uint32Array {
  const inOrder: number[] = [];
  const others: number[] = [];
  const unnumbered: number[] = [];
  let largest = Number.NEGATIVE_INFINITY;
  for (let code = 1; code < count; code++) {
    const number = numberOf(code);
    if (number >= largest) {
      largest = number;
      inOrder.push(code);
    } else if (Number.isNaN(number)) unnumbered.push(code);
    else others.push(code);
  }
  others.sort((a, b) => numberOf(a) - numberOf(b));
  const numbered = mergeInOrder(inOrder, others, numberOf);
  const sorted = new Uint32Array(numbered.length + unnumbered.length);
  sorted.set(numbered);
  sorted.set(unnumbered, numbered.length);
  return sorted;
}

/** The rows that had an accepted combination when they were arranged. @param length the number of codes */
export function selectArrangedRows(
  { ids, starts, counts, all }: Arrangement,
  accepted: Uint8Array,
  length: number,
): RowSet {
  let count = 0;
  for (let code = 1; code < starts.length; code++) if (accepted[code] === 1) count += counts[code] ?? 0;
  const words = new Uint32Array((length + 31) >>> 5);
  // If most rows are accepted, starts with all rows and removes the others.
  const isMost = count > ids.length / 2;
  if (isMost) words.set(all);
  const chosen = isMost ? 0 : 1;
  for (let code = 1; code < starts.length; code++) {
    if (accepted[code] !== chosen) continue;
    const start = starts[code] ?? 0;
    flipBits(words, ids, start, start + (counts[code] ?? 0));
  }
  return { words, count };
}

function flipBits(words: Uint32Array, ids: Uint32Array, start: number, end: number): void {
  for (let place = start; place < end; place++) {
    const id = ids[place] ?? 0;
    words[id >>> 5] = (words[id >>> 5] ?? 0) ^ (1 << (id & 31));
  }
}
