/** Sets of documents by id: few as a sorted list, many as a bitmap with a bit for each possible id. */
import { countBefore } from '../../../arrays/sorted.ts';
import { has, putRow, type RowSet, toIds } from '../../columns/rows.ts';

export type DocumentSet =
  | { readonly kind: 'list'; readonly ids: Uint32Array }
  | { readonly kind: 'bits'; readonly rows: RowSet };

/** A list of more than one in this many documents takes more bytes than a bitmap. */
const sparse = 32;
/** Bytes that a set takes in addition to its ids. */
const setBytes = 200;

/** @param ids ascending */
export function toDocumentSet(ids: Uint32Array): DocumentSet {
  const largest = ids.at(-1) ?? 0;
  if (ids.length <= largest / sparse) return { kind: 'list', ids };
  const rows = { words: new Uint32Array((largest >>> 5) + 1), count: ids.length };
  for (let index = 0; index < ids.length; index++) setBit(rows.words, ids[index] ?? 0);
  return { kind: 'bits', rows };
}

export const countDocuments = (set: DocumentSet): number =>
  set.kind === 'list' ? set.ids.length : set.rows.count;

export const countSetBytes = (set: DocumentSet): number =>
  setBytes + (set.kind === 'list' ? set.ids.byteLength : set.rows.words.byteLength);

/** No document of the set has a larger id. */
export const getIdLimit = (set: DocumentSet): number =>
  set.kind === 'list' ? (set.ids.at(-1) ?? 0) : set.rows.words.length * 32 - 1;

export const contains = (set: DocumentSet, id: number): boolean =>
  set.kind === 'bits' ? has(set.rows, id) : set.ids[countBefore(set.ids, id)] === id;

/** @returns the same test for ids that never decrease: it continues in the list where the last one ended */
export function createAscendingTest(set: DocumentSet): (id: number) => boolean {
  if (set.kind === 'bits') return id => has(set.rows, id);
  const { ids } = set;
  /** All ids before this place are too small. */
  let at = 0;
  const isBefore = (place: number, id: number) => place < ids.length && (ids[place] ?? 0) < id;
  return id => {
    let step = 1;
    for (; isBefore(at + step - 1, id); step *= 2) at += step;
    for (; step >= 1; step >>>= 1) if (isBefore(at + step - 1, id)) at += step;
    return ids[at] === id;
  };
}

export const copySet = (set: DocumentSet): DocumentSet =>
  set.kind === 'list' ? set : { kind: 'bits', rows: { ...set.rows, words: set.rows.words.slice() } };

/** The set with a document added or removed: bits are changed in place. A set of another size is another object. */
export function putDocument(set: DocumentSet, id: number, isIn: boolean): DocumentSet {
  if (set.kind === 'bits') {
    const { words } = set.rows;
    putRow(set.rows, id, isIn);
    return set.rows.words === words ? set : { ...set };
  }
  if (contains(set, id) === isIn) return set;
  const at = countBefore(set.ids, id);
  const ids = new Uint32Array(set.ids.length + (isIn ? 1 : -1));
  ids.set(set.ids.subarray(0, at));
  if (isIn) ids[at] = id;
  ids.set(set.ids.subarray(isIn ? at : at + 1), isIn ? at + 1 : at);
  return isIn ? toDocumentSet(ids) : { kind: 'list', ids };
}

/** The ids, ascending. */
export const getIds = (set: DocumentSet): ArrayLike<number> =>
  set.kind === 'list' ? set.ids : toIds(set.rows);

/** Which documents of a set to read. */
interface Part {
  /** Ids from `low` up to but not including `high`. */
  readonly low: number;
  readonly high: number;
  readonly skip: number;
  readonly limit: number;
}

/** @returns some of the ids, ascending; and how many of `skip` are left after the end of the range */
export function getSomeIds(
  set: DocumentSet,
  { low, high, skip, limit }: Part,
): { ids: number[]; left: number } {
  if (set.kind === 'list') {
    const [first, last] = [countBefore(set.ids, low), countBefore(set.ids, high)];
    const start = Math.min(last, first + skip);
    const ids: number[] = [];
    const end = Math.min(last, start + limit);
    for (let index = start; index < end; index++) ids.push(set.ids[index] ?? 0);
    return { ids, left: first + skip - start };
  }
  const { words } = set.rows;
  const ids: number[] = [];
  let left = skip;
  for (let index = low >>> 5; index < words.length && ids.length < limit; index++) {
    for (let word = words[index] ?? 0; word !== 0; word &= word - 1) {
      const id = (index << 5) + 31 - Math.clz32(word & -word);
      if (id < low) continue;
      if (id >= high || ids.length >= limit) return { ids, left };
      if (left > 0) left -= 1;
      else ids.push(id);
    }
  }
  return { ids, left };
}

/** Sets the bits of the documents; those beyond the last bit are omitted. */
export function addToSet(words: Uint32Array, set: DocumentSet): void {
  if (set.kind === 'list') {
    for (let index = 0; index < set.ids.length; index++) setBit(words, set.ids[index] ?? 0);
    return;
  }
  const other = set.rows.words;
  const length = Math.min(words.length, other.length);
  for (let index = 0; index < length; index++) words[index] = (words[index] ?? 0) | (other[index] ?? 0);
}

function setBit(words: Uint32Array, id: number): void {
  const index = id >>> 5;
  if (index < words.length) words[index] = (words[index] ?? 0) | (1 << (id & 31));
}
