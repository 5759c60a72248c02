/**
 * Reads one page of a table in a total order: by offset with an exact total, or from a key onwards.
 *
 * What makes deep pages and totals cheap is remembered per filter and order, together with the collection's
 * version. Each page query also reads that version, in the same statement: what was remembered is used only
 * when the versions agree, so a total is never stale (docs/decisions/0003).
 */

import { LRUCache } from 'lru-cache';
import type { Database, Session } from '../database.ts';
import { listQueries } from './queries.ts';
import { rangeOf, rangeTotals } from './ranges.ts';
import type { Key, Listed, ListOptions, ListRequest, PageRequest, Positioned } from './request.ts';
import { throughOf, throughPlanner } from './through.ts';

interface Remembered {
  readonly version: number;
  readonly total: number;
  /** offset → key of the row before it */
  readonly anchors: Map<number, Key>;
}

const rememberedLists = 500;
/** So many rows are read, and counted, within some milliseconds. */
const shortlyRead = 20_000;
const anchorsPerList = 256;

export interface Lister<Row> {
  (request: ListRequest): Promise<Listed<Row>>;
  /** Which state the collection is in: a number that every change advances. */
  version(): Promise<number>;
}

/** @returns a function that reads pages of one table; rows carry `columns`, `id` and `sort_value` */
export function lister<Row>(database: Database, options: ListOptions): Lister<Row> {
  const queries = listQueries<Row>(database, options);
  const remembered = new LRUCache<string, Remembered>({ max: rememberedLists });

  const ranges = rangeTotals(queries, options.keptTotal);

  const plan = throughPlanner(database.read, queries);
  const { rangeColumn } = options;
  /** A page of a list whose total is known: one in the order of its range is at its place in an index. */
  const reading = <T>(request: ListRequest, work: (session: Session) => Promise<T>): Promise<T> =>
    request.through?.aside === true || (request.inBackground === true && request.order.column !== rangeColumn)
      ? database.snapshot(work, { aside: true })
      : work(database.read);
  const snapshot = <T>(request: ListRequest, work: (session: Session) => Promise<T>): Promise<T> =>
    database.snapshot(work, { aside: request.through?.aside === true || request.inBackground === true });

  /** PostgreSQL reads in processes of its own. */
  const mayReadLong = ({ conditions }: ListRequest): boolean =>
    database.dialect.name === 'sqlite' &&
    rangeColumn !== undefined &&
    conditions.some(({ column }) => column === rangeColumn);

  async function readRange(request: ListRequest): Promise<Listed<Row>> {
    const rows = await options.keptTotal?.(database.read, []);
    return read({ ...request, inBackground: rows === undefined || rows > shortlyRead });
  }

  async function totalOf(session: Session, request: ListRequest, version: number): Promise<number> {
    const kept = await options.keptTotal?.(session, request.conditions);
    if (kept !== undefined) return kept;
    const range =
      request.through === undefined ? rangeOf(request.conditions, options.rangeColumn) : undefined;
    const inRange = range === undefined ? undefined : await ranges.total(session, range, version);
    return inRange ?? (await queries.count(session, request));
  }

  /**
   * What is known of this list in the session's state of the data; counted when it is not known yet.
   * @param seen the collection's version, when a statement of the session has told it already
   */
  async function recall(
    session: Session,
    request: ListRequest,
    name: string,
    seen?: number,
  ): Promise<Remembered> {
    const version =
      options.collection === undefined ? Number.NaN : (seen ?? (await queries.version(session)));
    const known = remembered.get(name);
    if (known !== undefined && known.version === version) return known;
    const fresh = {
      version,
      total: await totalOf(session, request, version),
      anchors: new Map<number, Key>(),
    };
    if (options.collection !== undefined) remembered.set(name, fresh);
    return fresh;
  }

  async function byOffset(
    request: ListRequest,
    page: { page: number; perPage: number },
  ): Promise<Listed<Row>> {
    const offset = (page.page - 1) * page.perPage;
    const name = nameOf(request);
    const known = remembered.get(name);
    const anchor = known?.anchors.get(offset);
    if (known !== undefined && offset < known.total && (offset === 0 || anchor !== undefined)) {
      const rows = await reading(request, session => queries.page(session, request, page.perPage, anchor));
      if (rows[0] !== undefined && rows[0].version === known.version) return offsetPage(rows, known, offset);
    }
    return snapshot(request, async session => {
      // Without a filter a page is short to read, and tells the version as well.
      if (offset === 0 && request.conditions.length === 0) {
        const first = await queries.page(session, request, page.perPage, undefined);
        return offsetPage(first, await recall(session, request, name, first[0]?.version), offset);
      }
      const state = await recall(session, request, name);
      if (offset >= state.total)
        return { rows: [], total: state.total, hasPrevious: offset > 0, hasNext: false };
      const start = offset === 0 ? undefined : await anchorAt(session, request, state, offset);
      const rows = await queries.page(session, request, page.perPage, start);
      return offsetPage(rows, state, offset);
    });
  }

  /** The key of the row before `offset`, walking an index from the nearest key that is known. */
  async function anchorAt(session: Session, request: ListRequest, state: Remembered, offset: number) {
    const exact = state.anchors.get(offset);
    if (exact !== undefined) return exact;
    const nearest = Math.max(0, ...[...state.anchors.keys()].filter(known => known < offset));
    const key = await queries.walk(session, request, offset - nearest - 1, state.anchors.get(nearest));
    if (key !== undefined) remember(state, offset, key);
    return key;
  }

  async function byKey(request: ListRequest, page: PageRequest & { kind: 'key' }): Promise<Listed<Row>> {
    const backwards = page.before !== undefined;
    const start = page.before ?? page.after;
    const read = async (session: Session) => {
      const found = await queries.page(session, request, page.limit + 1, start, backwards);
      const more = found.length > page.limit;
      const rows = more ? found.slice(0, page.limit) : found;
      if (backwards) rows.reverse();
      return { rows, hasPrevious: backwards ? more : start !== undefined, hasNext: backwards || more };
    };
    if (!page.count) return { ...(await reading(request, read)), total: undefined };
    return snapshot(request, async session => {
      const { total } = await recall(session, request, nameOf(request));
      if (total === 0)
        return { rows: [], total, hasPrevious: !backwards && start !== undefined, hasNext: backwards };
      return { ...(await read(session)), total };
    });
  }

  const read = (request: ListRequest) =>
    request.page.kind === 'offset' ? byOffset(request, request.page) : byKey(request, request.page);
  const list = (request: ListRequest) => {
    if (request.conditions.length === 0) return read(request);
    if (throughOf(request) !== undefined) return plan(request).then(read);
    return mayReadLong(request) ? readRange(request) : read(request);
  };
  return Object.assign(list, { version: () => queries.version(database.read) });
}

function offsetPage<Row>(
  rows: readonly (Row & Positioned)[],
  state: Remembered,
  offset: number,
): Listed<Row> {
  const end = offset + rows.length;
  const last = rows.at(-1);
  if (last !== undefined) remember(state, end, { value: last.sort_value, id: last.id });
  return { rows, total: state.total, hasPrevious: offset > 0, hasNext: end < state.total };
}

function remember(state: Remembered, offset: number, key: Key): void {
  if (state.anchors.size < anchorsPerList || state.anchors.has(offset)) state.anchors.set(offset, key);
}

function nameOf({ conditions, order }: ListRequest): string {
  return `${order.column} ${order.descending} ${JSON.stringify(conditions.map(c => [c.column, c.operator, c.value]))}`;
}
