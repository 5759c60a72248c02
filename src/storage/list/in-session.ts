/**
 * Pages in a session that sees one state of the data, so that rows and total agree whatever others write.
 */
import type { Database, Session } from '../database.ts';
import type { createCategoryPlanner } from './category-plan.ts';
import type { createPageReader } from './pages.ts';
import {
  buildListKey,
  buildOffsetPage,
  createListPositions,
  findNearestOffset,
  type ListPositionCache,
  type ListPositions,
  noteAnchor,
} from './positions.ts';
import type { ListQueries } from './queries.ts';
import {
  cutKeyPage,
  isFollowed,
  type Key,
  type ListedAt,
  type ListOptions,
  type ListRequest,
  type PageByKey,
  type PageByOffset,
} from './request.ts';
import type { SortedLists } from './sorted/index.ts';

/** The other parts of a lister; some lists do not have all of them. */
interface Parts<Row> {
  readonly queries: ListQueries<Row>;
  readonly readPage: ReturnType<typeof createPageReader<Row>>;
  readonly lists: ListPositionCache | undefined;
  readonly categoryPlanner: ReturnType<typeof createCategoryPlanner> | undefined;
  readonly sorted: SortedLists<Row>;
}

/** A request that was planned in the state of a session. */
interface Located {
  readonly request: ListRequest;
  readonly version: number;
}

/** The request with the positions of its list. */
interface Recalled extends Located {
  readonly list: ListPositions;
}

export type SessionLister<Row> = (session: Session, request: ListRequest) => Promise<ListedAt<Row>>;

/** The statement that reads a kept total; undefined if the total must be counted. */
export const buildKeptTotal = <Row>(
  { keptTotal }: Pick<ListOptions<Row>, 'keptTotal'>,
  { conditions, resolved, categoryPlan }: ListRequest,
) => keptTotal?.(resolved ?? conditions, categoryPlan);

export function createSessionLister<Row>(
  { changes }: Pick<Database, 'changes'>,
  options: ListOptions<Row>,
  { queries, readPage, lists, categoryPlanner, sorted }: Parts<Row>,
): SessionLister<Row> {
  const { collection } = options;

  async function readTotal(session: Session, request: ListRequest, version: number): Promise<number> {
    const kept = buildKeptTotal(options, request);
    if (kept !== undefined) return (await session.first(kept))?.total ?? 0;
    return sorted?.total(request, version) ?? (await queries.count(session, request));
  }

  const getKnown = (request: ListRequest): ListPositions | undefined =>
    isFollowed(request) ? lists?.get(buildListKey(request)) : undefined;
  function keep({ request, list, version }: Recalled): void {
    if (isFollowed(request)) lists?.keep(buildListKey(request), list, version);
  }

  async function locate(session: Session, requested: ListRequest): Promise<Located> {
    // The categories of paths must be of the same state as everything else.
    const request = (await categoryPlanner?.inSession(session, requested)) ?? requested;
    return { request, version: collection === undefined ? Number.NaN : await queries.version(session) };
  }

  /**
   * The positions of a list in the state of the session; the total is counted if it is not cached. Returns a copy,
   * since new positions belong to that state, and may only be cached with its version.
   */
  async function recall(session: Session, { request, version }: Located): Promise<Recalled> {
    const known = getKnown(request);
    if (known !== undefined && collection !== undefined && changes.version(collection) === version)
      return { request, version, list: { ...known, anchors: new Map(known.anchors) } };
    return {
      request,
      version,
      list: createListPositions(request, await readTotal(session, request, version)),
    };
  }

  async function readByOffset(
    session: Session,
    requested: ListRequest,
    { page, perPage: limit }: PageByOffset,
  ): Promise<ListedAt<Row>> {
    const offset = (page - 1) * limit;
    const recalled = await recall(session, await locate(session, requested));
    const { request, list, version } = recalled;
    const isThere = offset < list.total;
    const start = offset > 0 && isThere ? await readAnchor(session, recalled, offset) : undefined;
    const rows = isThere ? await readPage(session, request, { limit, start }) : [];
    const found = buildOffsetPage(rows, list, offset, version);
    keep(recalled);
    return found;
  }

  /** Finds the key of the row before `offset`, by walking an index from the nearest known key. */
  async function readAnchor(
    session: Session,
    { request, list }: Recalled,
    offset: number,
  ): Promise<Key | undefined> {
    const exact = list.anchors.get(offset);
    if (exact !== undefined) return exact;
    const nearest = findNearestOffset(offset, list);
    const key = await queries.walk(session, request, offset - nearest - 1, list.anchors.get(nearest));
    if (key !== undefined) noteAnchor(list, offset, key);
    return key;
  }

  async function readByKey(
    session: Session,
    requested: ListRequest,
    page: PageByKey,
  ): Promise<ListedAt<Row>> {
    const located = await locate(session, requested);
    const { request, version } = located;
    if (!page.count)
      return { ...(await readKeyPage(readPage, session, request, page)), total: undefined, version };
    const recalled = await recall(session, located);
    keep(recalled);
    const { total } = recalled.list;
    const [backwards, isFirst] = [page.before !== undefined, page.after === undefined];
    if (total === 0)
      return { rows: [], total, hasPrevious: !backwards && !isFirst, hasNext: backwards, version };
    return { ...(await readKeyPage(readPage, session, request, page)), total, version };
  }

  return (session, request) =>
    request.page.kind === 'offset'
      ? readByOffset(session, request, request.page)
      : readByKey(session, request, request.page);
}

/** Reads a page by cursor, without a total. */
export async function readKeyPage<Row>(
  readPage: Parts<Row>['readPage'],
  session: Session,
  request: ListRequest,
  page: PageByKey,
) {
  const { before, after, limit } = page;
  const part = { limit: limit + 1, start: before ?? after, backwards: before !== undefined };
  return cutKeyPage(page, await readPage(session, request, part));
}
