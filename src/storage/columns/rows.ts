/** Sets of rows by their ids, one bit for each. */

export interface RowSet {
  words: Uint32Array;
  count: number;
}

/** Ones in a word. */
function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** The rows whose combination is accepted. @param accepted 1 for each that is */
export function rowsWith(codes: Uint32Array, accepted: Uint8Array): RowSet {
  const words = new Uint32Array((codes.length + 31) >>> 5);
  let count = 0;
  const whole = codes.length >>> 5;
  for (let word = 0, id = 0; word < whole; word++) {
    let bits = 0;
    for (let bit = 0; bit < 32; bit++, id++) bits |= (accepted[codes[id] ?? 0] ?? 0) << bit;
    words[word] = bits;
    count += ones(bits);
  }
  for (let id = whole << 5; id < codes.length; id++) {
    if (accepted[codes[id] ?? 0] !== 1) continue;
    words[id >>> 5] = (words[id >>> 5] ?? 0) | (1 << (id & 31));
    count += 1;
  }
  return { words, count };
}

/** The rows that all of the sets have; of no sets undefined, which stands for all rows. */
export function intersection(sets: readonly RowSet[]): RowSet | undefined {
  const [first, ...others] = sets;
  if (first === undefined || others.length === 0) return first;
  const length = Math.min(...sets.map(({ words }) => words.length));
  const words = first.words.slice(0, length);
  for (const { words: other } of others)
    for (let index = 0; index < length; index++) words[index] = (words[index] ?? 0) & (other[index] ?? 0);
  let count = 0;
  for (let index = 0; index < length; index++) count += ones(words[index] ?? 0);
  return { words, count };
}

/** The rows of these ids. */
export function rowsOfIds(ids: readonly number[]): RowSet {
  const largest = ids.reduce((most, id) => Math.max(most, id), 0);
  const rows = { words: new Uint32Array((largest >>> 5) + 1), count: 0 };
  for (const id of ids) putRow(rows, id, true);
  return rows;
}

/** Puts a row in, or takes it out. */
export function putRow(rows: RowSet, id: number, isIn: boolean): void {
  if (has(rows, id) === isIn) return;
  const index = id >>> 5;
  if (index >= rows.words.length) {
    const larger = new Uint32Array(Math.ceil((index + 1) * 1.5));
    larger.set(rows.words);
    rows.words = larger;
  }
  rows.words[index] = (rows.words[index] ?? 0) ^ (1 << (id & 31));
  rows.count += isIn ? 1 : -1;
}

export const has = ({ words }: RowSet, id: number): boolean =>
  ((words[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0;

/** The ids of the rows, ascending. */
export function idsOf({ words }: RowSet): number[] {
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

/** How many of the rows have each combination. */
export function histogram(codes: Uint32Array, { words }: RowSet, combinations: number): Uint32Array {
  const counts = new Uint32Array(combinations);
  const length = Math.min(words.length, (codes.length + 31) >>> 5);
  for (let index = 0; index < length; index++) {
    let word = words[index] ?? 0;
    const base = index << 5;
    while (word !== 0) {
      const lowest = word & -word;
      const code = codes[base + 31 - Math.clz32(lowest)] ?? 0;
      counts[code] = (counts[code] ?? 0) + 1;
      word ^= lowest;
    }
  }
  return counts;
}
