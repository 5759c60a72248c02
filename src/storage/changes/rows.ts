/**
 * Caches rows of one table by their ids, each as new as the last check for changes. Rows that change are taken from
 * their events; all others are read once.
 */
import { createBoundedMap } from '../../bounded-map.ts';
import type { Database } from '../database.ts';
import type { Collection } from './change.ts';

/** A cached row, and the form in which it was last shown. */
export interface CachedRow<Row, Shown> {
  readonly row: Row;
  /** The version of the collection when the row was read singly; 0 for a row as of the last check. */
  readonly version: number;
  readonly bytes: number;
  shown: Shown | undefined;
}

/** A row as the text of its event. It is parsed on request, since most rows are not read soon after a write. */
interface Announced {
  readonly document: string;
  readonly bytes: number;
}

export type CachedRows<Row extends { readonly id: number }, Shown = unknown> = ReturnType<
  typeof createCachedRows<Row, Shown>
>;

export interface RowOptions<Row> {
  readonly collection: Collection;
  /** Makes a row, as it is shown, from the representation in its event. */
  rowOf(id: number, document: string): Row;
  /**
   * Converts a row that was read to the form in which it is shown, so that showing it again costs nothing.
   * @param known the same row, if it was read before
   * @throws StorageError `damaged`
   */
  shownRow<Read extends Row>(row: Read, known?: Row): Read;
  /** The representation as JSON text. */
  textOf(row: Row): string;
  /** Reads a row and the version of the collection with one statement. */
  read(id: number): Promise<(Row & { readonly version: number }) | undefined>;
}

/** Maximum size of all cached rows, in bytes. */
const rowsSize = 96 * 1024 * 1024;
/** The overhead of a row, in addition to its text. */
const rowBytes = 500;

/** The memory of a string: one byte per character if all are ASCII, otherwise two. */
export function countBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

export function createCachedRows<Row extends { readonly id: number }, Shown>(
  { changes }: Pick<Database, 'changes'>,
  { collection, rowOf, shownRow, textOf, read }: RowOptions<Row>,
) {
  type Cached = CachedRow<Row, Shown>;
  const rows = createBoundedMap<number, Cached | Announced>(rowsSize, ({ bytes }) => bytes);
  /** Rows that are being read; a change during the read removes its row, which then is not cached. */
  const reading = new Map<number, Promise<Cached | undefined>>();

  function keep(row: Row, version = 0): Cached {
    const cached = { row, version, bytes: rowBytes + countBytes(textOf(row)), shown: undefined };
    rows.set(row.id, cached);
    return cached;
  }

  /** The row as of the last check or later, if it is cached. */
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
  /** The row as of the last check, which saw `version`; undefined if it is not cached, or only in a later state. */
  function getAt(version: number, id: number): Row | undefined {
    const known = get(id);
    // Versions only grow; when one does not, all rows are dropped.
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
    /** Reads a row that is not cached, as it is now; undefined when there is none. */
    read(id: number): Promise<CachedRow<Row, Shown> | undefined> {
      // Not shared with later requests, which must see what was committed in between.
      const promise: Promise<Cached | undefined> = readOnce(id, () => reading.get(id) === promise).finally(
        () => {
          if (reading.get(id) === promise) reading.delete(id);
        },
      );
      reading.set(id, promise);
      return promise;
    },
    /**
     * Caches a row that was read in the state of a version. @returns the row as it is shown
     * @throws StorageError `damaged` when the row cannot be read
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
