/** Reads the rows of a page, of which those that are cached are not read again. */
import type { Database, Session } from '../database.ts';
import type { ListQueries, Part, Versioned } from './queries.ts';
import type { Key, ListOptions, ListRequest, Positioned } from './request.ts';

/**
 * @returns a function that reads a page. Where a second statement is a second question to a server, a page is read
 * whole unless its rows are `likely` to be cached
 */
export function pageReader<Row>(
  database: Database,
  { collection, rows: cached }: ListOptions<Row>,
  queries: ListQueries<Row>,
) {
  const { changes } = database;
  const isLocal = database.state() !== undefined;

  async function readWhole(session: Session, request: ListRequest, part: Part) {
    const rows = await queries.page(session, request, part);
    const [first] = rows;
    return first === undefined ? rows : (cached?.keep(first.version, rows) ?? rows);
  }

  return async (
    session: Session,
    request: ListRequest,
    part: Part,
    likely: boolean,
  ): Promise<(Row & Versioned)[]> => {
    if (cached === undefined || collection === undefined || !(isLocal || likely))
      return readWhole(session, request, part);
    const keys = await queries.keys(session, request, part);
    const version = keys[0]?.version;
    if (version === undefined) return [];
    if (version !== changes.version(collection)) return readWhole(session, request, part);
    const found = new Map<number, Row>();
    const missing: number[] = [];
    for (const { id } of keys) {
      const known = cached.get(id);
      if (known === undefined) missing.push(id);
      else found.set(id, known.row);
    }
    if (missing.length > 0) {
      const rows = await queries.rows(session, missing);
      // Read later than the keys: in another state, unless the version is the same.
      if (rows.some(row => row.version !== version)) return readWhole(session, request, part);
      for (const row of cached.keep(version, rows)) found.set(row.id, row);
    }
    const page: (Row & Versioned)[] = [];
    for (const key of keys) {
      const row = found.get(key.id);
      if (row === undefined) return readWhole(session, request, part);
      page.push({ ...row, ...key });
    }
    return page;
  };
}

/** Keys of a page, and the state of the collection that they are of. */
interface Chosen {
  readonly keys: readonly Key[];
  readonly version: number;
}

/** The rows of keys, of which those that are cached are not read again; undefined when others are of another state. */
export async function rowsByKeys<Row>(
  session: Session,
  { keys, version }: Chosen,
  cached: ListOptions<Row>['rows'],
  queries: Pick<ListQueries<Row>, 'rows'>,
): Promise<(Row & Positioned)[] | undefined> {
  const found = keys.map(({ id }) => cached?.get(id)?.row);
  const missing = keys.flatMap(({ id }, index) => (found[index] === undefined ? [id] : []));
  const read = new Map<number, Row>();
  if (missing.length > 0) {
    const rows = await queries.rows(session, missing);
    if (rows.length !== missing.length || rows.some(row => row.version !== version)) return undefined;
    for (const row of cached?.keep(version, rows) ?? rows) read.set(row.id, row);
  }
  return keys.flatMap(({ id, value }, index) => {
    const row = found[index] ?? read.get(id);
    return row === undefined ? [] : [{ ...row, id, sort_value: value }];
  });
}
