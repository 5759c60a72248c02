/**
 * Pages of lists whose filters are evaluated in memory: the database has no index for each attribute and order, and
 * none that counts the rows that match several filters. A request gets the page as of the last check, or undefined.
 */
import { takeTurn } from '../../turns/index.ts';
import { waitAtMost } from '../../turns/wait.ts';
import { type Database, maxId } from '../database.ts';
import { readRowsByKeys } from '../list/pages.ts';
import type { ListQueries } from '../list/queries.ts';
import {
  cutKeyPage,
  type Key,
  type ListedAt,
  type ListOptions,
  type ListRequest,
  type Order,
} from '../list/request.ts';
import {
  type Line,
  type LinePosition,
  selectPageById,
  selectPage as selectPageOfLine,
  type Taken,
} from './line.ts';
import { toAttributeTest } from './matching.ts';
import { createOrders } from './orders.ts';
import { intersectRows, type RowSet } from './rows.ts';
import { type ColumnSource, findSource } from './source.ts';

/** How often a page is read if others change it during the read. */
const attempts = 3;
/** Milliseconds to wait for columns that are being read: with many rows, a query of the database takes even longer. */
const maxWaitMs = 15_000;

/** The rows of a list in memory. */
interface Selected {
  readonly rows: RowSet;
  /** Its order, if that is a column of numbers in memory. */
  readonly line: Line | undefined;
  /** The version of the collection. */
  readonly version: number;
}

/** An order that only the database knows, by ranks. */
interface Ranked {
  readonly line: Line;
  /** The position that a page by cursor starts after. */
  readonly start?: LinePosition;
}

/** What rows are selected by. */
interface State {
  /** The version of the collection. */
  readonly seen: number;
  readonly ranked: Ranked | undefined;
}

/** @returns a function that returns a page, or undefined where the database must be queried */
export function createMemoryLister<Row>(
  database: Database,
  options: ListOptions<Row>,
  queries: ListQueries<Row>,
) {
  const { changes, read } = database;
  const { collection, inMemory: columns, rows: cached, table } = options;
  if (collection === undefined || columns === undefined) return undefined;
  const orders = createOrders(database, collection, table);

  const select = ({ conditions, order }: ListRequest): Selected | undefined => {
    const version = changes.version(collection);
    const tests = conditions.map(toAttributeTest);
    const sources = conditions.map(({ column }) => findSource(column));
    const ordered = order.column === 'id' ? undefined : findSource(order.column);
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
    const rows = intersectRows(sets);
    if (rows === undefined) return undefined;
    return { rows, line: byName.get(order.column)?.line(), version };
  };

  /** Reads the ranks of an order that only the database knows, before rows are selected; undefined if not in memory. */
  async function readRanked({ order, page }: ListRequest, version: number): Promise<Ranked | undefined> {
    const line = await orders.line(order.column, version);
    if (line === undefined || page.kind === 'offset') return line === undefined ? undefined : { line };
    const start = page.before ?? page.after;
    if (start === undefined) return { line };
    const descending = order.descending !== (page.before !== undefined);
    const place = await orders.edge(order.column, start, descending, version);
    // Ranks are unique: the id only excludes the row that has this rank.
    return place === undefined ? undefined : { line, start: { place, id: descending ? -1 : maxId } };
  }

  async function selectKeys(
    { order }: ListRequest,
    { rows, line, version }: Selected,
    part: Omit<Taken, 'rows'>,
    ranked: Ranked | undefined,
  ): Promise<readonly Key[] | undefined> {
    const taken = { ...part, rows };
    if (order.column === 'id') return selectPageById(taken).map(id => ({ value: id, id }));
    if (line !== undefined) return selectPageOfLine(line, taken).map(id => ({ value: line.placeOf(id), id }));
    if (ranked === undefined) return undefined;
    const ids = selectPageOfLine(ranked.line, { ...taken, start: ranked.start });
    return orders.keys(order.column, ids, version);
  }

  /** Reads the rows of keys in the state of a version, which must be that of the last check, as cached rows are. */
  const readRows = async (keys: readonly Key[], version: number) =>
    changes.version(collection) === version
      ? readRowsByKeys(read, { keys, version }, cached, queries)
      : undefined;

  const readState = async (request: ListRequest): Promise<State> => {
    const seen = changes.version(collection) ?? Number.NaN;
    return { seen, ranked: isRanked(request.order) ? await readRanked(request, seen) : undefined };
  };

  const readPage = async (request: ListRequest): Promise<ListedAt<Row> | undefined> => {
    const { page, order } = request;
    let state = await readState(request);
    // Requests that have waited for the same check or columns would otherwise all select their rows in one turn of the
    // event loop. Nothing is awaited while the turn has time, since the others would still find it so.
    const due = takeTurn();
    if (due !== undefined) {
      await due;
      if (changes.version(collection) !== state.seen) state = await readState(request);
    }
    const { seen, ranked } = state;
    // No await from here until the rows are selected: sets of rows change with the next check.
    const selected = select(request);
    if (selected === undefined || selected.version !== seen) return undefined;
    const { version } = selected;
    const total = selected.rows.count;
    if (page.kind === 'offset') {
      const skip = (page.page - 1) * page.perPage;
      const taken = { descending: order.descending, start: undefined, skip, count: page.perPage };
      const keys = skip < total ? await selectKeys(request, selected, taken, ranked) : [];
      const shown = keys === undefined ? undefined : await readRows(keys, version);
      if (shown === undefined) return undefined;
      return { rows: shown, total, hasPrevious: skip > 0, hasNext: skip + shown.length < total, version };
    }
    const start = page.before ?? page.after;
    const descending = order.descending !== (page.before !== undefined);
    const place = start === undefined ? undefined : { place: Number(start.value), id: start.id };
    const part = { descending, start: place, skip: 0, count: page.limit + 1 };
    const keys = await selectKeys(request, selected, part, ranked);
    if (keys === undefined) return undefined;
    const cut = cutKeyPage(page, keys);
    const shown = await readRows(cut.rows, version);
    return shown && { ...cut, rows: shown, total: page.count ? total : undefined, version };
  };

  /** Waits for columns that are being read. @returns whether there were any */
  async function waitForColumns({ conditions, order }: ListRequest): Promise<boolean> {
    const names = [...conditions.map(({ column }) => column), order.column];
    const found = [
      columns?.settled(names.flatMap(name => findSource(name) ?? [])),
      orders.settled(order.column),
    ];
    const awaited = found.filter(promise => promise !== undefined);
    if (awaited.length === 0) return false;
    await waitAtMost(Promise.all(awaited), maxWaitMs);
    return true;
  }

  return async (request: ListRequest): Promise<ListedAt<Row> | undefined> => {
    for (let attempt = 0, hasWaited = false; attempt < attempts; attempt++) {
      await changes.check();
      const page = await readPage(request);
      if (page !== undefined) return page;
      // Waits for columns once. Otherwise the page was changed by others and is read again, or is not in memory.
      if (!hasWaited && (await waitForColumns(request))) hasWaited = true;
      else if (select(request) === undefined) return undefined;
    }
    return undefined;
  };
}

/** Whether only the database knows the order. */
const isRanked = ({ column }: Order): boolean => column !== 'id' && findSource(column) === undefined;
