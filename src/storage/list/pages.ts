/** Reads the rows of a page, except those that are cached. */
import { mapInSlices } from '../../turns/slices.ts';
import type { Database, Session } from '../database.ts';
import type { ListQueries, Part, Versioned } from './queries.ts';
import {
  cutKeyPage,
  type Key,
  type Listed,
  type ListOptions,
  type ListRequest,
  type Positioned,
} from './request.ts';

/** @returns a function that reads a page: first the keys of its rows, and then the rows that are not cached */
export function createPageReader<Row>(
  { changes, dialect }: Pick<Database, 'changes' | 'dialect'>,
  { collection, rows: cached, longColumns }: ListOptions<Row>,
  queries: ListQueries<Row>,
) {
  async function readWhole(session: Session, request: ListRequest, part: Part) {
    const rows = await queries.page(session, request, part);
    const [first] = rows;
    return first === undefined ? rows : keepInSlices(cached, first.version, rows);
  }

  /** Reads long texts separately: one statement for all of them would block the event loop until its end. */
  async function readInParts(session: Session, request: ListRequest, part: Part) {
    const rows = await queries.short(session, request, part);
    const ids = rows.flatMap(({ id, is_long }) => (is_long === 0 ? [] : [id]));
    if (ids.length === 0) return rows;
    const read = new Map((await queries.rows(session, ids)).map(row => [row.id, row]));
    return rows.flatMap(row => {
      const long = read.get(row.id);
      if (row.is_long === 0) return [row];
      if (long === undefined) return [];
      // Without a collection, a version is a column of the row.
      return [{ ...row, ...long, version: collection === undefined ? long.version : row.version }];
    });
  }

  return async (
    session: Session,
    request: ListRequest,
    part: Part,
  ): Promise<readonly (Row & Versioned)[]> => {
    if (longColumns !== undefined && dialect.name === 'sqlite') return readInParts(session, request, part);
    if (cached === undefined || collection === undefined) return readWhole(session, request, part);
    const keys = await queries.keys(session, request, part);
    const version = keys[0]?.version;
    if (version === undefined) return [];
    if (version !== changes.version(collection)) return readWhole(session, request, part);
    const found = keys.map(({ sort_value, id }) => ({ value: sort_value, id }));
    const rows = await readRowsByKeys(session, { keys: found, version }, cached, queries);
    // Rows that are read after the keys may be of another state; one statement for both sees one state.
    return rows?.map(row => ({ ...row, version })) ?? readWhole(session, request, part);
  };
}

/** The keys of a page, and the version of the collection when they were read. */
interface Chosen {
  readonly keys: readonly Key[];
  readonly version: number;
}

/** Reads the rows of keys, except cached ones. Undefined when rows are missing or of another version. */
export async function readRowsByKeys<Row>(
  session: Session,
  { keys, version }: Chosen,
  cached: ListOptions<Row>['rows'],
  queries: Pick<ListQueries<Row>, 'rows'>,
): Promise<(Row & Positioned)[] | undefined> {
  const found = keys.map(({ id }) => cached?.getAt(version, id));
  const missing = keys.flatMap(({ id }, index) => (found[index] === undefined ? [id] : []));
  const read = new Map<number, Row>();
  if (missing.length > 0) {
    const rows = await queries.rows(session, missing);
    if (rows.length !== missing.length || rows.some(row => row.version !== version)) return undefined;
    for (const row of await keepInSlices(cached, version, rows)) read.set(row.id, row);
  }
  return keys.flatMap(({ id, value }, index) => {
    const row = found[index] ?? read.get(id);
    return row === undefined ? [] : [{ ...row, id, sort_value: value }];
  });
}

/** Selects the keys of rows that follow each other in an order. */
export interface Taken {
  readonly descending: boolean;
  /** The key that the rows follow in this direction; undefined for the first ones. */
  readonly start: Key | undefined;
  /** How many rows are skipped first. */
  readonly skip: number;
  readonly count: number;
}

/** Rows of which any can be selected by their places in an order, or by a key. */
export interface Ordered {
  readonly total: number;
  /** @returns undefined when others have changed the order since */
  take(part: Taken): readonly Key[] | undefined | Promise<readonly Key[] | undefined>;
}

/** Reads a page of ordered rows; undefined when others have changed something since. Begins with `take`. */
export async function readOrderedPage<Row>(
  { order, page }: ListRequest,
  { total, take }: Ordered,
  readRows: (keys: readonly Key[]) => Promise<Listed<Row>['rows'] | undefined>,
): Promise<Listed<Row> | undefined> {
  if (page.kind === 'offset') {
    const [skip, count] = [(page.page - 1) * page.perPage, page.perPage];
    const part = { descending: order.descending, start: undefined, skip, count };
    const keys = skip < total ? await take(part) : [];
    const rows = keys && (await readRows(keys));
    return rows && { rows, total, hasPrevious: skip > 0, hasNext: skip + rows.length < total };
  }
  const descending = order.descending !== (page.before !== undefined);
  const keys = await take({ descending, start: page.before ?? page.after, skip: 0, count: page.limit + 1 });
  const cut = keys && cutKeyPage(page, keys);
  const rows = cut && (await readRows(cut.rows));
  return rows && { ...cut, rows, total: page.count ? total : undefined };
}

/** Caches rows that were read in the state of a version, in slices: a page of long rows would delay other requests. */
async function keepInSlices<Row, Read extends Row & { readonly id: number }>(
  cached: ListOptions<Row>['rows'],
  version: number,
  rows: readonly Read[],
): Promise<readonly Read[]> {
  if (cached === undefined) return rows;
  return mapInSlices(rows, row => cached.keep(version, row));
}
