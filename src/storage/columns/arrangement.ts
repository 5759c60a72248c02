/** The rows of a column, grouped by combination, so that rows with a value are found without passing all others. */
import { takeTurn } from '../../turns/index.ts';
import type { RowSet } from './rows.ts';

/** Rows between two turns of the event loop, at most. */
const rowsAtOnce = 100_000;

export interface Arrangement {
  /** Combination after combination, the rows of each by their ids. */
  readonly ids: Uint32Array;
  /** By combination: where its rows begin. */
  readonly starts: Uint32Array;
  /** By combination: how many rows it has there. */
  readonly counts: Uint32Array;
  /** A bit for each row that has one. */
  readonly all: Uint32Array;
}

/**
 * @param codes those of one moment: rows without a combination have 0
 * @param order all combinations but 0
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
  /** By combination: the place of its next row. */
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

/** All combinations in ascending order of their numbers. Those that are in order already are many, the others few. */
export function sortCodes(count: number, numberOf: (code: number) => number): Uint32Array {
  const inOrder: number[] = [];
  const others: number[] = [];
  let largest = Number.NEGATIVE_INFINITY;
  for (let code = 1; code < count; code++) {
    const number = numberOf(code);
    if (number >= largest) {
      largest = number;
      inOrder.push(code);
    } else others.push(code);
  }
  others.sort((a, b) => numberOf(a) - numberOf(b));
  const codes = new Uint32Array(Math.max(0, count - 1));
  let other = 0;
  let length = 0;
  for (const code of inOrder) {
    for (
      let next = others[other];
      next !== undefined && numberOf(next) < numberOf(code);
      next = others[++other]
    )
      codes[length++] = next;
    codes[length++] = code;
  }
  for (; other < others.length; other++) codes[length++] = others[other] ?? 0;
  return codes;
}

/** The rows that had an accepted combination when they were arranged. @param length that of all codes */
export function selectArrangedRows(
  { ids, starts, counts, all }: Arrangement,
  accepted: Uint8Array,
  length: number,
): RowSet {
  let count = 0;
  for (let code = 1; code < starts.length; code++) if (accepted[code] === 1) count += counts[code] ?? 0;
  const words = new Uint32Array((length + 31) >>> 5);
  // Of most rows the others are taken out.
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
