/**
 * Rows of one table by their ids, each as new as the last check for changes: what was written is read from its
 * event, and everything else once.
 */
import { createBoundedMap } from '../../bounded-map.ts';
import type { Database } from '../database.ts';
import type { Collection } from './change.ts';

/** A cached row, and what has been made of it to be shown. */
export interface CachedRow<Row, Shown> {
  readonly row: Row;
  /** The version of the collection in which it was read by itself; 0 for a row of the last check. */
  readonly version: number;
  readonly bytes: number;
  shown: Shown | undefined;
}

/** What an event says of a row: it is made when it is requested, since most that are written are not read before long. */
interface Announced {
  readonly document: string;
  readonly bytes: number;
}

export type CachedRows<Row extends { readonly id: number }, Shown = unknown> = ReturnType<
  typeof createCachedRows<Row, Shown>
>;

export interface RowOptions<Row> {
  readonly collection: Collection;
  /** A row from what its event says of it, as it is shown. */
  rowOf(id: number, document: string): Row;
  /**
   * A row that was read, as it is shown: so that showing it again costs nothing.
   * @param known the same row, where it has been read before
   * @throws StorageError `damaged`
   */
  shownRow<Read extends Row>(row: Read, known?: Row): Read;
  /** The representation as JSON text. */
  textOf(row: Row): string;
  /** With the version of the collection, from one statement. */
  read(id: number): Promise<(Row & { readonly version: number }) | undefined>;
}

/** Bytes of rows at most. */
const rowsSize = 96 * 1024 * 1024;
/** What a row takes besides its text. */
const rowBytes = 500;

/** A string's memory: one byte for each character while all of them are ASCII. */
export function countBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

export function createCachedRows<Row extends { readonly id: number }, Shown>(
  { changes }: Pick<Database, 'changes'>,
  { collection, rowOf, shownRow, textOf, read }: RowOptions<Row>,
) {
  type Cached = CachedRow<Row, Shown>;
  const rows = createBoundedMap<number, Cached | Announced>(rowsSize, ({ bytes }) => bytes);
  /** Rows that are being read: a change that comes meanwhile takes them out. */
  const reading = new Map<number, Promise<Cached | undefined>>();

  function keep(row: Row, version = 0): Cached {
    const cached = { row, version, bytes: rowBytes + countBytes(textOf(row)), shown: undefined };
    rows.set(row.id, cached);
    return cached;
  }

  /** The row as it was at the last check or later, if it is known. */
  function get(id: number): Cached | undefined {
    const known = rows.get(id);
    return known === undefined || 'row' in known ? known : keep(rowOf(id, known.document));
  }

  async function readOnce(id: number, isCurrent: () => boolean): Promise<Cached | undefined> {
    const found = await read(id);
    if (found === undefined) return undefined;
    const [row, { version }] = [shownRow(found), found];
    return isCurrent() ? keep(row, version) : { row, version, bytes: 0, shown: undefined };
  }
  /** The row as it was at the last check, whose version this is; undefined where only a later one is known. */
  function getAt(version: number, id: number): Row | undefined {
    const known = get(id);
    // Versions only grow; where one does not, all rows were dropped.
    return known !== undefined && known.version <= version ? known.row : undefined;
  }

  changes.follow(collection, (changed, ids) => {
    if (changed === undefined) {
      if (ids === undefined) {
        rows.clear();
        reading.clear();
      }
      for (const id of ids ?? []) {
        rows.delete(id);
        reading.delete(id);
      }
      return;
    }
    for (const { id, document } of changed) {
      reading.delete(id);
      if (document === null) rows.delete(id);
      else rows.set(id, { document, bytes: rowBytes + countBytes(document) });
    }
  });

  return {
    get,
    getAt,
    /** Reads a row that is not known, as it is now; undefined when there is none. */
    read(id: number): Promise<CachedRow<Row, Shown> | undefined> {
      // Not shared with later requests: what was committed between must be seen by those.
      const promise: Promise<Cached | undefined> = readOnce(id, () => reading.get(id) === promise).finally(
        () => {
          if (reading.get(id) === promise) reading.delete(id);
        },
      );
      reading.set(id, promise);
      return promise;
    },
    /**
     * Keeps a row that was read in the state of a version; gives it as it is shown.
     * @throws StorageError `damaged` when it cannot be read
     */
    keep<Read extends Row>(version: number, row: Read): Read {
      const isCurrent = version === changes.version(collection);
      const known = isCurrent ? getAt(version, row.id) : undefined;
      const shown = shownRow(row, known);
      if (isCurrent && known === undefined) keep(shown);
      return shown;
    },
  };
}
