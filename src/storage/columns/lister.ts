/**
 * Pages of lists whose filters are evaluated in memory: the database has no index for each attribute and order, and
 * none that counts the rows that match several filters. A request gets the page as of the last check, or undefined.
 */
import { takeTurn } from '../../turns/index.ts';
import { waitAtMost } from '../../turns/wait.ts';
import { type Database, maxId } from '../database.ts';
import { readOrderedPage, readRowsByKeys, type Taken } from '../list/pages.ts';
import type { ListQueries } from '../list/queries.ts';
import type { Key, ListedAt, ListOptions, ListRequest, Order } from '../list/request.ts';
import { type Line, type LinePosition, selectPageById, selectPage as selectPageOfLine } from './line.ts';
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
}

/** An order that only the database knows. */
interface Ranked {
  readonly line: Line;
  /** The position that a page by cursor starts after. */
  readonly start?: LinePosition;
}

/** What rows are selected by. */
interface State {
  /** The version of the collection. */
  readonly version: number;
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

  function select({ conditions, order }: ListRequest): Selected | undefined {
    const tests = conditions.map(toAttributeTest);
    const found = tests.includes(undefined) ? undefined : columns?.peek(findSources({ conditions, order }));
    if (found === undefined) return undefined;
    const sets = conditions.flatMap(({ column }, index) => {
      const test = tests[index];
      return test === undefined ? [] : (found.get(column)?.rows(test) ?? []);
    });
    const rows = intersectRows(sets);
    return rows && { rows, line: found.get(order.column)?.line() };
  }

  /** Reads an order that only the database knows, before rows are selected; undefined if it is not in memory. */
  async function readRanked({ order, page }: ListRequest, version: number): Promise<Ranked | undefined> {
    const line = await orders.line(order.column, version);
    if (line === undefined || page.kind === 'offset') return line === undefined ? undefined : { line };
    const start = page.before ?? page.after;
    if (start === undefined) return { line };
    const descending = order.descending !== (page.before !== undefined);
    const place = await orders.edge(order.column, start, descending, version);
    // No two rows of such an order have one place: the id only excludes the row that has this place.
    return place === undefined ? undefined : { line, start: { place, id: descending ? -1 : maxId } };
  }

  async function selectKeys(
    { order }: ListRequest,
    { rows, line }: Selected,
    { start, ...part }: Taken,
    ranked: Ranked | undefined,
    version: number,
  ): Promise<readonly Key[] | undefined> {
    const place = start && { place: Number(start.value), id: start.id };
    const taken = { ...part, start: place, rows };
    if (order.column === 'id') return selectPageById(taken).map(id => ({ value: id, id }));
    if (line !== undefined) return selectPageOfLine(line, taken).map(id => ({ value: line.placeOf(id), id }));
    if (ranked === undefined) return undefined;
    const ids = selectPageOfLine(ranked.line, { ...taken, start: ranked.start });
    return orders.keys(order.column, ids, version);
  }

  const readState = async (request: ListRequest): Promise<State> => {
    const version = changes.version(collection) ?? Number.NaN;
    return { version, ranked: isRanked(request.order) ? await readRanked(request, version) : undefined };
  };

  const readPage = async (request: ListRequest): Promise<ListedAt<Row> | undefined> => {
    let state = await readState(request);
    // Requests that have waited for the same check or columns would otherwise all select their rows in one turn of the
    // event loop. Nothing is awaited while the turn has time, since the others would still find it so.
    const due = takeTurn();
    if (due !== undefined) {
      await due;
      if (changes.version(collection) !== state.version) state = await readState(request);
    }
    const { version, ranked } = state;
    // No await from here until the rows are selected: sets of rows change with the next check.
    const selected = select(request);
    if (selected === undefined || changes.version(collection) !== version) return undefined;
    const ordered = {
      total: selected.rows.count,
      take: (part: Taken) => selectKeys(request, selected, part, ranked, version),
    };
    // Rows are read in the state of the version, which must still be that of the last check, as cached rows are.
    const found = await readOrderedPage<Row>(request, ordered, async keys =>
      changes.version(collection) === version
        ? readRowsByKeys(read, { keys, version }, cached, queries)
        : undefined,
    );
    return found && { ...found, version };
  };

  /** Waits for columns that are being read. @returns whether there were any */
  async function waitForColumns(request: ListRequest): Promise<boolean> {
    const found = [columns?.settled(findSources(request)), orders.settled(request.order.column)];
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

/** The columns in memory that decide which rows a list has, and their order. */
const findSources = ({ conditions, order }: Pick<ListRequest, 'conditions' | 'order'>): ColumnSource[] =>
  [...conditions, order].flatMap(({ column }) => findSource(column) ?? []);

/** Whether only the database knows the order. */
const isRanked = ({ column }: Order): boolean => column !== 'id' && findSource(column) === undefined;
