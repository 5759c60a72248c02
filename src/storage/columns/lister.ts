/**
 * Pages of lists whose filters are decided in memory: an attribute has no index for each order, and none counts what
 * several of them leave. Anyone who asks is given the page of the state that the last look saw, or nothing.
 */
import type { Database } from '../database.ts';
import { rowsByKeys } from '../list/pages.ts';
import type { ListQueries } from '../list/queries.ts';
import type { Key, Listed, ListOptions, ListRequest } from '../list/request.ts';
import type { Column } from './column.ts';
import { byId, byNumber, byRank, type Taken } from './keys.ts';
import { ordersOf } from './orders.ts';
import { intersection, type RowSet } from './rows.ts';
import { type ColumnSource, sourceOf } from './source.ts';
import { testOf } from './tests.ts';
import { columnWalk } from './walk.ts';

/** So often a page is tried again that others have changed meanwhile. */
const attempts = 3;
/** Milliseconds for which columns that are being read are waited for: of many rows the index takes longer still. */
const longestWait = 15_000;

/** A list in memory. */
interface Selected {
  readonly rows: RowSet;
  /** The column of the order, where it is in memory. */
  readonly order: Column | undefined;
  /** The state of the collection. */
  readonly version: number;
  /** For an order that only the database has, where its ranks are in memory. */
  readonly ranked?: Ranked | undefined;
}

interface Ranked {
  readonly ranks: Float64Array;
  /** That of the row that a page by cursor starts after. */
  readonly edge?: number;
}

/** @returns a function that gives a page, or undefined where the database has to be asked for it */
export function memoryLister<Row>(database: Database, options: ListOptions<Row>, queries: ListQueries<Row>) {
  const { changes, read } = database;
  const { collection, inMemory: columns, rows: cached, table } = options;
  if (collection === undefined || columns === undefined) return undefined;
  const walk = columnWalk(database, { table, collection: collection.name });
  const orders = ordersOf(database, collection, table);

  const select = ({ conditions, order }: ListRequest): Selected | undefined => {
    const version = changes.version(collection);
    const tests = conditions.map(testOf);
    const sources = conditions.map(({ column }) => sourceOf(column));
    const ordered = order.column === 'price' ? sourceOf(order.column) : undefined;
    const wanted: ColumnSource[] = [];
    for (const source of [...sources, ordered]) if (source !== undefined) wanted.push(source);
    if (version === undefined || tests.includes(undefined)) return undefined;
    const found = columns.peek(wanted);
    if (found === undefined) return undefined;
    const byName = new Map(wanted.map(({ name }, index) => [name, found[index]]));
    const sets = conditions.flatMap(({ column }, index) => {
      const test = tests[index];
      return test === undefined ? [] : (byName.get(column)?.rows(test) ?? []);
    });
    const rows = intersection(sets);
    if (rows === undefined) return undefined;
    return { rows, order: ordered === undefined ? undefined : byName.get('price'), version };
  };

  /** What an order that only the database has needs before rows are chosen; undefined where it is not in memory. */
  async function rankedBy({ order, page }: ListRequest, version: number): Promise<Ranked | undefined> {
    if (order.column === 'id' || order.column === 'price') return undefined;
    const ranks = await orders.ranks(order.column, version);
    if (ranks === undefined || page.kind === 'offset') return ranks === undefined ? undefined : { ranks };
    const start = page.before ?? page.after;
    if (start === undefined) return { ranks };
    const descending = order.descending !== (page.before !== undefined);
    const edge = await orders.edge(order.column, start, descending, version);
    return edge === undefined ? undefined : { ranks, edge };
  }

  async function keysOf(
    { order }: ListRequest,
    { rows, order: ordered, ranked, version }: Selected,
    part: Omit<Taken, 'rows'>,
  ): Promise<readonly Key[] | undefined> {
    const taken = { ...part, rows };
    if (order.column === 'id') return byId(taken);
    if (ordered !== undefined) return byNumber(ordered, taken);
    if (ranked === undefined) return walk(order.column, taken, rows.words.length * 32, version);
    const ids = byRank(ranked.ranks, ranked.edge, taken).map(({ id }) => id);
    return orders.keys(order.column, ids, version);
  }

  /** The rows of keys, as they were in the state of a version. */
  const rowsOf = (keys: readonly Key[], version: number) =>
    rowsByKeys(read, { keys, version }, cached, queries);

  const pageOf = async (request: ListRequest): Promise<Listed<Row> | undefined> => {
    const { page, order } = request;
    const seen = changes.version(collection) ?? Number.NaN;
    const ranked = await rankedBy(request, seen);
    // From here on nothing is waited for until the keys are chosen: sets of rows change with the next look.
    const chosen = select(request);
    if (chosen === undefined || chosen.version !== seen) return undefined;
    const selected = { ...chosen, ranked };
    const { version } = selected;
    const total = selected.rows.count;
    if (page.kind === 'offset') {
      const skip = (page.page - 1) * page.perPage;
      const taken = { descending: order.descending, start: undefined, skip, count: page.perPage };
      const keys = skip < total ? await keysOf(request, selected, taken) : [];
      const shown = keys === undefined ? undefined : await rowsOf(keys, version);
      if (shown === undefined) return undefined;
      return { rows: shown, total, hasPrevious: skip > 0, hasNext: skip + shown.length < total };
    }
    const backwards = page.before !== undefined;
    const start = page.before ?? page.after;
    const descending = order.descending !== backwards;
    const keys = await keysOf(request, selected, { descending, start, skip: 0, count: page.limit + 1 });
    if (keys === undefined) return undefined;
    const more = keys.length > page.limit;
    const own = keys.slice(0, page.limit);
    const shown = await rowsOf(backwards ? own.reverse() : own, version);
    if (shown === undefined) return undefined;
    return {
      rows: shown,
      total: page.count ? total : undefined,
      hasPrevious: backwards ? more : start !== undefined,
      hasNext: backwards || more,
    };
  };

  /** Whether it has been waited for columns that are being read. */
  async function haveSettled({ conditions, order }: ListRequest): Promise<boolean> {
    const names = [...conditions.map(({ column }) => column), order.column];
    const settled = columns?.settled(names.flatMap(name => sourceOf(name) ?? []));
    if (settled === undefined) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, longestWait);
    await Promise.race([settled, promise]);
    clearTimeout(timer);
    return true;
  }

  return async (request: ListRequest): Promise<Listed<Row> | undefined> => {
    let hasWaited = false;
    for (let attempt = 0; attempt < attempts; attempt++) {
      await changes.look();
      const page = await pageOf(request);
      if (page !== undefined) return page;
      if (select(request) !== undefined) continue;
      if (hasWaited || !(await haveSettled(request))) return undefined;
      hasWaited = true;
    }
    return undefined;
  };
}
