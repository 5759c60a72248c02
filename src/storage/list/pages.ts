/** Reads the rows of a page, except those that are cached. */
import { mapInSlices } from '../../turns/slices.ts';
import type { Database, Session } from '../database.ts';
import type { ListQueries, Part, Versioned } from './queries.ts';
import type { Key, ListOptions, ListRequest, Positioned } from './request.ts';

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
      return long === undefined ? [] : [{ ...row, ...long, version: row.version }];
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

/** Caches rows that were read in the state of a version, in slices: a page of long rows would delay other requests. */
async function keepInSlices<Row, Read extends Row & { readonly id: number }>(
  cached: ListOptions<Row>['rows'],
  version: number,
  rows: readonly Read[],
): Promise<readonly Read[]> {
  if (cached === undefined) return rows;
  return mapInSlices(rows, row => cached.keep(version, row));
}
