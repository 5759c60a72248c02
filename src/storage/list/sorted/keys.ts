/**
 * Keys of rows, sorted by a number and then by id. Finding, adding or removing a key takes a binary search. Keys are
 * held in pieces, each with arrays of numbers, so that a million keys take only thousands of objects.
 */
import { countBefore, countWhile } from '../../../arrays/sorted.ts';
import type { Ordered } from '../pages.ts';
import type { Key } from '../request.ts';

/** A place in the order; an infinite id means before or after all rows with the value. */
interface Place {
  readonly value: number;
  readonly id: number;
}

export type SortedKeys = ReturnType<typeof createSortedKeys>;

interface Piece {
  readonly values: Float64Array;
  readonly ids: Float64Array;
  length: number;
}

const pieceSize = 1024;
const pieceBytes = 2 * 8 * pieceSize + 200;

const createPiece = (): Piece => ({
  values: new Float64Array(pieceSize),
  ids: new Float64Array(pieceSize),
  length: 0,
});

export function createSortedKeys() {
  const pieces: Piece[] = [createPiece()];
  /** How many keys come before each piece; empty if that must be counted again. */
  let starts: number[] = [];
  let count = 0;

  function getStart(index: number): number {
    if (starts.length === 0) {
      let start = 0;
      for (const { length } of pieces) {
        starts.push(start);
        start += length;
      }
    }
    return starts[index] ?? 0;
  }

  /** The last piece that begins before a place, or the first. */
  function findPiece(place: Place): number {
    const begun = countWhile(pieces.length, at => {
      const piece = pieces[at];
      return piece !== undefined && isBefore(piece, 0, place);
    });
    return Math.max(0, begun - 1);
  }

  function split(index: number, piece: Piece): void {
    const half = piece.length >> 1;
    const rest = createPiece();
    rest.values.set(piece.values.subarray(half, piece.length));
    rest.ids.set(piece.ids.subarray(half, piece.length));
    rest.length = piece.length - half;
    piece.length = half;
    pieces.splice(index + 1, 0, rest);
  }

  /** The piece that a key belongs to, with room for one more. */
  function makeRoomFor(place: Place): Piece {
    const index = findPiece(place);
    const piece = pieces[index] ?? createPiece();
    if (piece.length < pieceSize) return piece;
    // Keys that are added in order fill their pieces.
    const isBehindAll = index === pieces.length - 1 && isBefore(piece, pieceSize - 1, place);
    if (!isBehindAll) split(index, piece);
    else pieces.push(createPiece());
    return pieces[isBehindAll ? index + 1 : findPiece(place)] ?? piece;
  }

  return {
    size: () => count,
    /** Adds a key; this is fastest for a key after all others. */
    add(place: Place): void {
      const piece = makeRoomFor(place);
      const { values, ids } = piece;
      const at = countKeysBefore(piece, place);
      values.copyWithin(at + 1, at, piece.length);
      ids.copyWithin(at + 1, at, piece.length);
      values[at] = place.value;
      ids[at] = place.id;
      piece.length += 1;
      count += 1;
      starts = [];
    },
    /** Removes a key; returns false if it is not there. */
    delete(place: Place): boolean {
      // If a piece begins with the key itself, findPiece returns the piece before.
      for (const index of [findPiece(place), findPiece(place) + 1]) {
        const piece = pieces[index];
        if (piece === undefined) continue;
        const { values, ids } = piece;
        const at = countKeysBefore(piece, place);
        if (at >= piece.length || values[at] !== place.value || ids[at] !== place.id) continue;
        values.copyWithin(at, at + 1, piece.length);
        ids.copyWithin(at, at + 1, piece.length);
        piece.length -= 1;
        count -= 1;
        starts = [];
        if (piece.length === 0 && pieces.length > 1) pieces.splice(index, 1);
        return true;
      }
      return false;
    },
    /** How many keys come before a place. */
    rank(place: Place): number {
      const index = findPiece(place);
      const piece = pieces[index];
      return getStart(index) + (piece === undefined ? 0 : countKeysBefore(piece, place));
    },
    /** Keys by their ranks, `from` included and `to` not. */
    slice(from: number, to: number): Key[] {
      const found: Key[] = [];
      getStart(0);
      let index = Math.max(0, countBefore(starts, from + 1) - 1);
      for (; index < pieces.length && found.length < to - from; index++) {
        const piece = pieces[index];
        if (piece === undefined) break;
        const start = getStart(index);
        const end = Math.min(piece.length, to - start);
        for (let at = Math.max(0, from - start); at < end; at++)
          found.push({ value: piece.values[at] ?? 0, id: piece.ids[at] ?? 0 });
      }
      return found;
    },
    bytes: () => pieces.length * pieceBytes,
    /** Fills all pieces: after keys were inserted between others, a third of each is free. */
    pack(): void {
      let last = createPiece();
      for (const { values, ids, length } of pieces.splice(0, pieces.length, last)) {
        for (let at = 0; at < length; ) {
          if (last.length === pieceSize) {
            last = createPiece();
            pieces.push(last);
          }
          const end = Math.min(length, at + pieceSize - last.length);
          last.values.set(values.subarray(at, end), last.length);
          last.ids.set(ids.subarray(at, end), last.length);
          last.length += end - at;
          at = end;
        }
      }
      starts = [];
    },
  };
}

function isBefore({ values, ids }: Piece, at: number, place: Place): boolean {
  const value = values[at] ?? 0;
  return value < place.value || (value === place.value && (ids[at] ?? 0) < place.id);
}

const countKeysBefore = (piece: Piece, place: Place): number =>
  countWhile(piece.length, at => isBefore(piece, at, place));

/** The keys with the ranks from `from` on and before `to`. @param column the one that the keys are sorted by */
export function selectRanks(keys: SortedKeys, from: number, to: number, column: string): Ordered {
  /** The rank at which the rows past a key begin, or those before it end. */
  function computeEdge({ value, id }: Key, descending: boolean): number {
    // Ids are whole numbers: `+ 0.5` is the place just after the key, even if there is no such row.
    const place = { value: column === 'id' ? id : Number(value), id: descending ? id : id + 0.5 };
    return Math.min(to, Math.max(from, keys.rank(place)));
  }
  return {
    total: to - from,
    take({ descending, start, skip, count }) {
      const edge = start === undefined ? (descending ? to : from) : computeEdge(start, descending);
      const first = descending ? edge - skip - count : edge + skip;
      const found = keys.slice(Math.max(from, first), Math.min(to, first + count));
      return descending ? found.reverse() : found;
    },
  };
}
