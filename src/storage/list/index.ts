/**
 * Reads one page of a table in a total order: by offset with an exact total, or from a key onwards.
 *
 * Totals and positions are cached per filter and order, so that totals and deep pages are cheap (positions.ts). Each
 * page query also reads the collection's version in the same statement. Cached values are used only if that is the
 * version of the last check for changes, so a total is never stale (docs/decisions/0003).
 */
import { takeTurn } from '../../turns/index.ts';
import { createMemoryLister } from '../columns/lister.ts';
import type { Database, Session } from '../database.ts';
import { createBackgroundRule, shortlyRead } from './background.ts';
import { createCategoryPlanner } from './category-plan.ts';
import { buildKeptTotal, createSessionLister, readKeyPage } from './in-session.ts';
import { createJoinPlanner, findJoin } from './join-plan.ts';
import { createPageReader } from './pages.ts';
import {
  buildListKey,
  buildOffsetPage,
  createListPositionCache,
  createListPositions,
  findNearestOffset,
} from './positions.ts';
import { createListQueries } from './queries.ts';
import {
  hasSetCondition,
  isFollowed,
  isLocatedAt,
  type ListedAt,
  type ListOptions,
  type ListRequest,
  type PageByKey,
  type PageByOffset,
} from './request.ts';
import { createSortedLists } from './sorted/index.ts';

/** @param session a snapshot whose state the page must show; without it, the page is as new as the database */
export type Lister<Row> = (request: ListRequest, session?: Session) => Promise<ListedAt<Row>>;

/** @returns a function that reads pages of one table; rows carry `columns`, `id` and `sort_value` */
export function createLister<Row>(database: Database, options: ListOptions<Row>): Lister<Row> {
  const { collection, rangeColumn } = options;
  const { changes } = database;
  const queries = createListQueries<Row>(database, options);
  const lists = collection === undefined ? undefined : createListPositionCache(changes, collection);
  const plan = createJoinPlanner(database.read, queries);
  const categoryPlanner =
    options.isCategorized === true && collection !== undefined
      ? createCategoryPlanner(database, collection)
      : undefined;
  const readPage = createPageReader(database, options, queries);
  const locateRequest = (request: ListRequest): Promise<ListRequest> =>
    categoryPlanner?.now(request) ?? Promise.resolve(request);
  const sorted = createSortedLists(database, options, queries, locateRequest);
  const parts = { queries, readPage, lists, categoryPlanner, sorted };
  const readInSession = createSessionLister(database, options, parts);

  /** Runs a read in the background if it may take long. In the order of the range column, an index finds a range. */
  const runReading = <T>(request: ListRequest, work: (session: Session) => Promise<T>): Promise<T> =>
    isLong(request) ||
    (request.inBackground === true && (request.order.column !== rangeColumn || hasSetCondition(request)))
      ? database.snapshot(work, { background: true })
      : work(database.read);
  async function readInSnapshot(request: ListRequest): Promise<ListedAt<Row>> {
    if (request.categoryPlan !== undefined) await takeTurn();
    return database.snapshot(session => readInSession(session, request), {
      background: isLong(request) || request.inBackground === true,
    });
  }
  /** Whether the cached positions, and the plan of the request, are of the state of a version. */
  const isSeen = (request: ListRequest, version: number): boolean =>
    collection !== undefined && changes.version(collection) === version && isLocatedAt(request, version);

  const mayTakeLong = createBackgroundRule(database, options, queries);

  /** Reads the first page, or one whose position is cached. Undefined when the cached state is not that of the page. */
  async function readKnown(
    request: ListRequest,
    offset: number,
    limit: number,
  ): Promise<ListedAt<Row> | undefined> {
    const name = buildListKey(request);
    const known = lists?.get(name);
    const start = known?.anchors.get(offset);
    if (offset > 0 && start === undefined) return undefined;
    if (known === undefined) return readFirst(request, limit);
    if (offset >= known.total) return undefined;
    const read = (session: Session) => readPage(session, request, { limit, start });
    // Without a filter, an index finds the page.
    const rows = await (request.conditions.length === 0 ? read(database.read) : runReading(request, read));
    const [first] = rows;
    const isSame = lists?.get(name) === known && known.anchors.get(offset) === start;
    return first !== undefined && isSame && isSeen(request, first.version)
      ? buildOffsetPage(rows, known, offset, first.version)
      : undefined;
  }

  /** Reads the first page of a list whose total is kept: two statements that return the same version saw one state. */
  async function readFirst(request: ListRequest, limit: number): Promise<ListedAt<Row> | undefined> {
    const kept = buildKeptTotal(options, request);
    if (kept === undefined || request.inBackground === true || isLong(request)) return undefined;
    const [total, rows] = await Promise.all([
      database.read.first(kept),
      readPage(database.read, request, { limit }),
    ]);
    const version = total?.version;
    if (version === undefined || version !== rows[0]?.version || !isLocatedAt(request, version))
      return undefined;
    const list = createListPositions(request, total?.total ?? 0);
    lists?.keep(buildListKey(request), list, version);
    return buildOffsetPage(rows, list, 0, version);
  }

  /** Reads a list that is never cached, if it fits on the first page: the number of its rows is the total. */
  async function readWhole(
    request: ListRequest,
    offset: number,
    limit: number,
  ): Promise<ListedAt<Row> | undefined> {
    if (offset > 0) return undefined;
    const rows = await runReading(request, session => readPage(session, request, { limit: limit + 1 }));
    const version = rows[0]?.version;
    if (rows.length > limit || !isLocatedAt(request, version)) return undefined;
    return buildOffsetPage(rows, createListPositions(request, rows.length), 0, version ?? Number.NaN);
  }

  async function readByOffset(
    request: ListRequest,
    { page, perPage: limit }: PageByOffset,
  ): Promise<ListedAt<Row>> {
    const offset = (page - 1) * limit;
    const found = await (isFollowed(request) ? readKnown : readWhole)(request, offset, limit);
    if (found !== undefined) return found;
    const isDeep = offset - findNearestOffset(offset, lists?.get(buildListKey(request))) > shortlyRead;
    return readInSnapshot(isDeep ? { ...request, inBackground: true } : request);
  }

  async function readByKey(request: ListRequest, page: PageByKey): Promise<ListedAt<Row>> {
    if (page.count) return readInSnapshot(request);
    const found = await runReading(request, session => readKeyPage(readPage, session, request, page));
    const version = found.rows[0]?.version;
    // Without rows, the version of the page is unknown.
    const isKnown = version !== undefined || request.facets === undefined;
    return isKnown && isLocatedAt(request, version)
      ? { ...found, total: undefined, version: version ?? Number.NaN }
      : readInSnapshot(request);
  }

  const read = (request: ListRequest) =>
    request.page.kind === 'offset' ? readByOffset(request, request.page) : readByKey(request, request.page);
  async function readFromDatabase(requested: ListRequest): Promise<ListedAt<Row>> {
    const request = await locateRequest(requested);
    // With ten thousand categories, each statement about the tree takes some milliseconds.
    if (request.categoryPlan !== undefined) await takeTurn();
    if (findJoin(request) !== undefined) return read(await plan(request));
    return read({ ...request, inBackground: request.inBackground === true || (await mayTakeLong(request)) });
  }
  const inMemory = createMemoryLister(database, options, queries);
  return (request, session) => {
    if (session !== undefined) return plan(request).then(planned => readInSession(session, planned));
    const found = hasSetCondition(request) ? inMemory?.(request) : sorted?.page(request);
    return found === undefined
      ? readFromDatabase(request)
      : found.then(page => page ?? readFromDatabase(request));
  };
}

/** Whether the part of the read that concerns another table may take long. */
const isLong = ({ joinPlan, categoryPlan }: ListRequest): boolean =>
  joinPlan?.background === true || categoryPlan?.background === true;
