/**
 * Lists whose order is in memory: the keys of all rows that match a filter, by a number that they are sorted by. Any
 * page, at any depth, and how many rows a range of that number has are then known without the database
 * (docs/decisions/0035).
 *
 * The keys of a filter are read when it is requested again, in slices, and then follow storage/changes/: they are as new
 * as the last check. Rows that are not cached are read by their ids, and have to be of the same version.
 */
import { LRUCache } from 'lru-cache';
import { takeTurn } from '../../../turns/index.ts';
import { createPacedReader } from '../../../turns/slices.ts';
import type { Change } from '../../changes/change.ts';
import { createLoads } from '../../changes/loads.ts';
import type { Database } from '../../database.ts';
import { createListIndex, matchesConditions, selectComparable } from '../affected.ts';
import { readRowsByKeys } from '../pages.ts';
import type { ListQueries, Versioned } from '../queries.ts';
import type { Condition, ListedAt, ListOptions, ListRequest } from '../request.ts';
import { createSortedKeys, type SortedKeys } from './keys.ts';
import { cutPage, type Selected, toRange } from './pages.ts';

/** Bytes of keys at most, and of those of one filter: 16 for each row. */
const keysSize = 64 * 1024 * 1024;
const mostKeys = 1_500_000;
/** The most filters whose number of requests is known. */
const noticedFilters = 1000;
/** So often a filter is wanted before its keys are read, and so many times as often before they are read again. */
const firstWanted = 2;
const againWanted = 4;
/** Columns of filters whose index is in the order of ids, and has what lists are sorted by. */
const inOneIndex = ['category', 'brand'];
/** So often a page is tried again that others have changed meanwhile. */
const attempts = 3;

/** The keys of the rows that match a filter, in one order. */
interface Sorted {
  readonly name: string;
  readonly conditions: readonly Condition[];
  readonly column: string;
  readonly keys: SortedKeys;
}

interface Noticed {
  times: number;
  /** How often it has to be wanted before its keys are read. */
  enough: number;
}

export interface SortedLists<Row> {
  /** The page, as new as a check that is made now; undefined where the database has to be queried. */
  page(request: ListRequest): Promise<ListedAt<Row> | undefined> | undefined;
  /** How many rows there are in a state of the collection; undefined when that is another, or not known. */
  total(request: ListRequest, version: number): number | undefined;
}

/**
 * @param planned gives a request the way it is read
 * @returns undefined where lists have no such order, or nothing says how they change
 */
export function createSortedLists<Row>(
  database: Pick<Database, 'changes' | 'read'>,
  options: ListOptions<Row>,
  queries: ListQueries<Row>,
  planned: (request: ListRequest) => Promise<ListRequest>,
): SortedLists<Row> | undefined {
  const { changes, read } = database;
  const { collection, rows: cached, rangeColumn, inOrder } = options;
  if (collection === undefined || cached === undefined || inOrder === undefined) return undefined;

  const index = createListIndex<Sorted>(collection);
  const lists = new LRUCache<string, Sorted>({
    maxSize: keysSize,
    sizeCalculation: ({ keys }) => keys.bytes(),
    dispose: list => index.delete(list),
  });
  const noticed = new LRUCache<string, Noticed>({ max: noticedFilters });
  const loads = createLoads(changes, collection, {
    clear,
    apply(committed) {
      const all = selectComparable(committed, lists.size);
      if (all === undefined) clear();
      for (const change of all ?? []) for (const list of index.concerned(change)) apply(list, change);
    },
  });

  function clear(): void {
    lists.clear();
    // Only keys that had to go for lack of room are read again later than others.
    noticed.clear();
  }
  function apply(list: Sorted, { id, before, after }: Change): void {
    const { conditions, column, keys } = list;
    const [old, now] = [before?.[column], after?.[column]];
    const [had, has] = [matchesConditions(conditions, before), matchesConditions(conditions, after)];
    if (had && has && old === now) return;
    const isKnown = !had || (typeof old === 'number' && keys.delete({ value: old, id }));
    if (isKnown && has && typeof now === 'number') keys.add({ value: now, id });
    else if (!isKnown || has) lists.delete(list.name);
  }

  /** What is in memory of a filter; it is read when it is requested again. */
  function find(conditions: readonly Condition[], column: string): SortedKeys | undefined {
    const name = toSelectionName(conditions, column);
    const found = lists.get(name);
    if (found !== undefined) return found.keys;
    const seen = noticed.get(name) ?? { times: 0, enough: firstWanted };
    noticed.set(name, seen);
    seen.times += 1;
    if (seen.times < seen.enough || loads.has(name) || loads.isResting()) return undefined;
    seen.times = 0;
    seen.enough *= againWanted;
    const list = { name, conditions, column, keys: createSortedKeys() };
    loads
      .load(
        name,
        isGivenUp => readAll(list, isGivenUp),
        (isRead, replayed) => {
          if (!isRead) return;
          replay(list, replayed);
          list.keys.pack();
          lists.set(name, list);
          index.add(list);
        },
      )
      .catch(() => undefined);
    return undefined;
  }

  /** Reads all keys of a filter, as each is when it is read; false when they are too many, or given up. */
  async function readAll({ conditions, column, keys }: Sorted, isGivenUp: () => boolean): Promise<boolean> {
    const page = { kind: 'key', limit: 1, count: false } as const;
    // One index has all that lists need of a category or brand, in the order of ids.
    const isById = conditions.some(condition => inOneIndex.includes(condition.column));
    const order = { column: isById ? 'id' : column, descending: false };
    const request = await planned({ conditions, order, value: column, page });
    // Each part of what is gathered would be gathered again.
    if (request.categoryPlan !== undefined && request.categoryPlan.kind !== 'merged') return false;
    const next = createPacedReader<Versioned>((limit, last) => {
      const start = last && { value: last.sort_value, id: last.id };
      return queries.keys(read, request, { limit, start });
    });
    for (let last: Versioned | undefined; ; ) {
      const { rows, isFull } = await next(last);
      for (const { sort_value, id } of rows) keys.add({ value: Number(sort_value), id });
      if (keys.size() > mostKeys || isGivenUp()) return false;
      if (!isFull) return true;
      last = rows.at(-1);
      await takeTurn();
    }
  }

  /** A row that has changed while others were read may have been read before, after, and at both of its places. */
  function replay({ conditions, column, keys }: Sorted, changes: readonly Change[]): void {
    for (const { id, before, after } of changes) {
      for (const value of [before?.[column], after?.[column]])
        if (typeof value === 'number') keys.delete({ value, id });
    }
    for (const { id, after } of new Map(changes.map(change => [change.id, change])).values()) {
      const value = after?.[column];
      if (matchesConditions(conditions, after) && typeof value === 'number') keys.add({ value, id });
    }
  }

  /** The rows of a request among those that are in memory. */
  function select({ conditions }: ListRequest, column: string): Selected | undefined {
    const range = toRange(conditions, rangeColumn);
    if (range !== undefined && column !== rangeColumn) return undefined;
    const keys = find(range?.base ?? conditions, column);
    if (keys === undefined) return undefined;
    if (range === undefined) return { keys, from: 0, to: keys.size() };
    const from = keys.rank({ value: range.low, id: Number.NEGATIVE_INFINITY });
    const to = keys.rank({ value: range.high, id: Number.POSITIVE_INFINITY });
    return { keys, from, to: Math.max(from, to) };
  }

  const isDecided = ({ conditions }: ListRequest): boolean =>
    conditions.every(({ column }) => column === rangeColumn || inOrder.filters.includes(column));

  const readPage = async (request: ListRequest): Promise<ListedAt<Row> | undefined> => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      await changes.check();
      const version = changes.version(collection);
      const selected = select(request, request.order.column);
      if (selected === undefined || version === undefined) return undefined;
      const { keys, ...page } = cutPage(request, selected);
      const rows = await readRowsByKeys(read, { keys, version }, cached, queries);
      if (rows !== undefined) return { ...page, rows, version };
    }
    return undefined;
  };

  return {
    page: request =>
      isDecided(request) && inOrder.orders.includes(request.order.column) ? readPage(request) : undefined,
    total(request, version) {
      if (rangeColumn === undefined || !isDecided(request) || changes.version(collection) !== version)
        return undefined;
      const selected = select(request, rangeColumn);
      return selected && selected.to - selected.from;
    },
  };
}

function toSelectionName(conditions: readonly Condition[], column: string): string {
  return `${column} ${JSON.stringify(conditions.map(one => [one.column, one.operator, one.value]))}`;
}
