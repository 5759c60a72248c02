/** Sets of rows, with one bit for each id. */
import { growArray } from '../../arrays/growing.ts';
import { takeTurn } from '../../turns/index.ts';

export interface RowSet {
  words: Uint32Array;
  count: number;
}

/** The number of ones in a word. */
export function countOnes(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** The rows whose combination is accepted. @param accepted by combination: 1 if it is */
export function selectAccepted(codes: Uint32Array, accepted: Uint8Array): RowSet {
  const words = new Uint32Array((codes.length + 31) >>> 5);
  let count = 0;
  const whole = codes.length >>> 5;
  for (let word = 0, id = 0; word < whole; word++) {
    let bits = 0;
    for (let bit = 0; bit < 32; bit++, id++) bits |= (accepted[codes[id] ?? 0] ?? 0) << bit;
    words[word] = bits;
    count += countOnes(bits);
  }
  for (let id = whole << 5; id < codes.length; id++) {
    if (accepted[codes[id] ?? 0] !== 1) continue;
    words[id >>> 5] = (words[id >>> 5] ?? 0) | (1 << (id & 31));
    count += 1;
  }
  return { words, count };
}

/** The rows that are in all sets; without sets undefined, which means all rows. */
export function intersectRows(sets: readonly RowSet[]): RowSet | undefined {
  const [first, ...others] = sets;
  if (first === undefined || others.length === 0) return first;
  const length = Math.min(...sets.map(({ words }) => words.length));
  const words = first.words.slice(0, length);
  for (const { words: other } of others)
    for (let index = 0; index < length; index++) words[index] = (words[index] ?? 0) & (other[index] ?? 0);
  let count = 0;
  for (let index = 0; index < length; index++) count += countOnes(words[index] ?? 0);
  return { words, count };
}

export function toRowSet(ids: readonly number[]): RowSet {
  let largest = 0;
  for (const id of ids) if (id > largest) largest = id;
  const words = new Uint32Array((largest >>> 5) + 1);
  for (const id of ids) words[id >>> 5] = (words[id >>> 5] ?? 0) | (1 << (id & 31));
  let count = 0;
  for (const word of words) count += countOnes(word);
  return { words, count };
}

export function putRow(rows: RowSet, id: number, isIn: boolean): void {
  if (has(rows, id) === isIn) return;
  const index = id >>> 5;
  if (index >= rows.words.length) rows.words = growArray(rows.words, index + 1);
  rows.words[index] = (rows.words[index] ?? 0) ^ (1 << (id & 31));
  rows.count += isIn ? 1 : -1;
}

export const has = ({ words }: RowSet, id: number): boolean =>
  ((words[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0;

export function toIds({ words }: RowSet): number[] {
  const ids: number[] = [];
  for (let index = 0; index < words.length; index++) {
    let word = words[index] ?? 0;
    while (word !== 0) {
      const lowest = word & -word;
      ids.push((index << 5) + 31 - Math.clz32(lowest));
      word ^= lowest;
    }
  }
  return ids;
}

/** Words of a set that are read in one turn of the event loop. */
const wordsAtOnce = 4096;

interface Counted {
  codes(): Uint32Array;
  /** By combination: the number of all its rows. */
  readonly uses: readonly number[];
}

/** Counts rows of a set by combination. If the set has most rows, counts the others and subtracts them. */
export async function countByCombination(column: Counted, { words, count }: RowSet): Promise<Uint32Array> {
  const { uses } = column;
  const codes = column.codes();
  const isMost = count > codes.length / 2;
  const counts = isMost ? Uint32Array.from(uses) : new Uint32Array(uses.length);
  const length = (codes.length + 31) >>> 5;
  for (let from = 0; from < length; from += wordsAtOnce) {
    const to = Math.min(length, from + wordsAtOnce);
    if (isMost) countRows({ codes, words, counts, flipped: -1, step: -1 }, from, to);
    else countRows({ codes, words, counts, flipped: 0, step: 1 }, from, to);
    await takeTurn();
  }
  return counts;
}

interface Counting {
  readonly codes: Uint32Array;
  readonly words: Uint32Array;
  readonly counts: Uint32Array;
  /** -1, all bits, to count the rows that are not in the set. */
  readonly flipped: -1 | 0;
  readonly step: -1 | 1;
}

function countRows({ codes, words, counts, flipped, step }: Counting, from: number, to: number): void {
  for (let index = from; index < to; index++) {
    let word = (words[index] ?? 0) ^ flipped;
    const base = index << 5;
    while (word !== 0) {
      const lowest = word & -word;
      const code = codes[base + 31 - Math.clz32(lowest)] ?? 0;
      counts[code] = (counts[code] ?? 0) + step;
      word ^= lowest;
    }
  }
}
