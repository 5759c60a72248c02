/**
 * Reads one page of a table in a total order: by offset with an exact total, or from a key onwards.
 *
 * What makes deep pages and totals cheap is known per filter and order (known.ts). Each page query also reads the
 * collection's version, in the same statement: what is known is used only when it is that of the last check
 * for changes, so a total is never stale (docs/decisions/0003).
 */
import { createMemoryLister } from '../columns/lister.ts';
import type { Database, Session } from '../database.ts';
import { createBackgroundRule, shortlyRead } from './background.ts';
import { createKnownLists, type KnownList, noteAnchor } from './known.ts';
import { createPageReader } from './pages.ts';
import { createListQueries } from './queries.ts';
import type { Listed, ListOptions, ListRequest, PageRequest, Positioned } from './request.ts';
import { createSortedLists } from './sorted/index.ts';
import { createThroughPlanner, findThrough } from './through.ts';
import { createWithinPlanner, findWithin } from './within.ts';

export type Lister<Row> = (request: ListRequest) => Promise<Listed<Row>>;

/** @returns a function that reads pages of one table; rows carry `columns`, `id` and `sort_value` */
export function createLister<Row>(database: Database, options: ListOptions<Row>): Lister<Row> {
  const { collection, rangeColumn, keptTotal } = options;
  const { changes } = database;
  const queries = createListQueries<Row>(database, options);
  const lists = collection === undefined ? undefined : createKnownLists(changes, collection);
  const plan = createThroughPlanner(database.read, queries);
  const within =
    options.isCategorized === true && collection !== undefined
      ? createWithinPlanner(database, collection)
      : undefined;
  const readPage = createPageReader(database, options, queries);
  const locateRequest = (request: ListRequest): Promise<ListRequest> =>
    within === undefined || findWithin(request.conditions) === undefined
      ? Promise.resolve(request)
      : within.now(request);
  const sorted = createSortedLists(database, options, queries, locateRequest);

  /** A page of a list whose total is known: one in the order of its range is at its place in an index. */
  const runReading = <T>(request: ListRequest, work: (session: Session) => Promise<T>): Promise<T> =>
    isLong(request) || (request.inBackground === true && request.order.column !== rangeColumn)
      ? database.snapshot(work, { background: true })
      : work(database.read);
  const runInSnapshot = <T>(request: ListRequest, work: (session: Session) => Promise<T>): Promise<T> =>
    database.snapshot(work, { background: isLong(request) || request.inBackground === true });
  /** Whether what is known is that of a version. */
  const isSeen = (version: number): boolean =>
    collection !== undefined && changes.version(collection) === version;

  const mayTakeLong = createBackgroundRule(database, options, queries);

  async function readTotal(session: Session, request: ListRequest, version: number): Promise<number> {
    const kept = buildKeptTotal(request);
    if (kept !== undefined) return (await session.first(kept))?.total ?? 0;
    return sorted?.total(request, version) ?? (await queries.count(session, request));
  }

  const buildKeptTotal = ({ conditions, resolved, within }: ListRequest) =>
    keptTotal?.(resolved ?? conditions, within);

  /** Keeps what was found out of a list. Where it is newer than the last check, the next request shall check. */
  function keep(name: string, list: KnownList, version: number): void {
    if (lists?.keep(name, list, version) === false) changes.check()?.catch(() => undefined);
  }

  /**
   * What is known of this list in the session's state of the data; counted when it is not known yet. A copy: what is
   * found out besides belongs to that state, and is kept with it or not at all.
   */
  async function recall(session: Session, requested: ListRequest, name: string) {
    // What paths stand for has to be of the same state as all else.
    const request = (await within?.inSession(session, requested)) ?? requested;
    const version = collection === undefined ? Number.NaN : await queries.version(session);
    const known = lists?.get(name);
    if (known !== undefined && isSeen(version))
      return { request, version, list: { ...known, anchors: new Map(known.anchors) } };
    return { request, version, list: createKnownList(request, await readTotal(session, request, version)) };
  }

  /** A page whose place is known, or the first one. Undefined when what is known is not that of the page. */
  async function readKnown(
    request: ListRequest,
    name: string,
    offset: number,
    limit: number,
  ): Promise<Listed<Row> | undefined> {
    const known = lists?.get(name);
    const start = known?.anchors.get(offset);
    if (offset > 0 && start === undefined) return undefined;
    if (known === undefined) return readFirst(request, name, limit);
    if (offset >= known.total) return undefined;
    const read = (session: Session) => readPage(session, request, { limit, start });
    // Without a filter the page is at its place in an index.
    const rows = await (request.conditions.length === 0 ? read(database.read) : runReading(request, read));
    const [first] = rows;
    const isSame = lists?.get(name) === known && known.anchors.get(offset) === start;
    return first !== undefined && isSame && isSeen(first.version)
      ? buildOffsetPage(rows, known, offset)
      : undefined;
  }

  /** The first page of a list whose total is kept: two statements that return one version have seen one state. */
  async function readFirst(
    request: ListRequest,
    name: string,
    limit: number,
  ): Promise<Listed<Row> | undefined> {
    const kept = buildKeptTotal(request);
    if (kept === undefined || request.inBackground === true || isLong(request)) return undefined;
    const [total, rows] = await Promise.all([
      database.read.first(kept),
      readPage(database.read, request, { limit }),
    ]);
    if (total === undefined || total.version !== rows[0]?.version) return undefined;
    const list = createKnownList(request, total.total);
    keep(name, list, total.version);
    return buildOffsetPage(rows, list, 0);
  }

  async function readByOffset(
    request: ListRequest,
    page: { page: number; perPage: number },
  ): Promise<Listed<Row>> {
    const limit = page.perPage;
    const offset = (page.page - 1) * limit;
    const name = toListName(request);
    const found = await readKnown(request, name, offset, limit);
    if (found !== undefined) return found;
    const isDeep = offset - findNearest(offset, lists?.get(name)) > shortlyRead;
    return runInSnapshot(isDeep ? { ...request, inBackground: true } : request, async session => {
      const { request: current, version, list } = await recall(session, request, name);
      const isThere = offset < list.total;
      const start = offset > 0 && isThere ? await readAnchor(session, current, list, offset) : undefined;
      const rows = isThere ? await readPage(session, current, { limit, start }) : [];
      const page = buildOffsetPage(rows, list, offset);
      keep(name, list, version);
      return page;
    });
  }

  /** The key of the row before `offset`, walking an index from the nearest key that is known. */
  async function readAnchor(session: Session, request: ListRequest, state: KnownList, offset: number) {
    const exact = state.anchors.get(offset);
    if (exact !== undefined) return exact;
    const nearest = findNearest(offset, state);
    const key = await queries.walk(session, request, offset - nearest - 1, state.anchors.get(nearest));
    if (key !== undefined) noteAnchor(state, offset, key);
    return key;
  }

  async function readByKey(request: ListRequest, page: PageRequest & { kind: 'key' }): Promise<Listed<Row>> {
    const backwards = page.before !== undefined;
    const start = page.before ?? page.after;
    const read = async (session: Session, request: ListRequest) => {
      const part = { limit: page.limit + 1, start, backwards };
      const found = await readPage(session, request, part);
      const more = found.length > page.limit;
      const shown = more ? found.slice(0, page.limit) : found;
      const rows = backwards ? shown.toReversed() : shown;
      return { rows, hasPrevious: backwards ? more : start !== undefined, hasNext: backwards || more };
    };
    if (!page.count)
      return { ...(await runReading(request, session => read(session, request))), total: undefined };
    return runInSnapshot(request, async session => {
      const name = toListName(request);
      const { request: current, version, list } = await recall(session, request, name);
      keep(name, list, version);
      const { total } = list;
      if (total === 0)
        return { rows: [], total, hasPrevious: !backwards && start !== undefined, hasNext: backwards };
      return { ...(await read(session, current)), total };
    });
  }

  const read = (request: ListRequest) =>
    request.page.kind === 'offset' ? readByOffset(request, request.page) : readByKey(request, request.page);
  const readPlanned = (request: ListRequest): Promise<Listed<Row>> => {
    if (findThrough(request) !== undefined) return plan(request).then(read);
    const inBackground = mayTakeLong(request);
    return inBackground instanceof Promise
      ? inBackground.then(decided => read({ ...request, inBackground: decided }))
      : read(request);
  };
  const readFromDatabase = (request: ListRequest): Promise<Listed<Row>> =>
    locateRequest(request).then(readPlanned);
  const inMemory = createMemoryLister(database, options, queries);
  const hasAttributes = ({ conditions }: ListRequest): boolean =>
    conditions.some(({ operator }) => operator === 'attribute');
  return request => {
    const found = hasAttributes(request) ? inMemory?.(request) : sorted?.page(request);
    return found === undefined
      ? readFromDatabase(request)
      : found.then(page => page ?? readFromDatabase(request));
  };
}

const createKnownList = ({ conditions, order }: ListRequest, total: number): KnownList => ({
  conditions,
  order,
  total,
  anchors: new Map(),
});

/** Whether what another table says of the rows may take long to read. */
const isLong = ({ through, within }: ListRequest): boolean =>
  through?.background === true || within?.background === true;

function buildOffsetPage<Row>(
  rows: readonly (Row & Positioned)[],
  state: KnownList,
  offset: number,
): Listed<Row> {
  const end = offset + rows.length;
  const last = rows.at(-1);
  if (last !== undefined) noteAnchor(state, end, { value: last.sort_value, id: last.id });
  return { rows, total: state.total, hasPrevious: offset > 0, hasNext: end < state.total };
}

/** The offset nearest before this one whose place is known. */
function findNearest(offset: number, list: KnownList | undefined): number {
  return Math.max(0, ...[...(list?.anchors.keys() ?? [])].filter(known => known < offset));
}

function toListName({ conditions, order }: ListRequest): string {
  return `${order.column} ${order.descending} ${JSON.stringify(conditions.map(c => [c.column, c.operator, c.value]))}`;
}
