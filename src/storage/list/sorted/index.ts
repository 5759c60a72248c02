/**
 * Lists whose order is in memory: the keys of all rows that match a filter, sorted by a number. They give any page, at
 * any depth, and the number of rows in any range of that number without the database (docs/decisions/0035).
 *
 * The keys of a filter are read, in slices, when it is requested again, and then follow storage/changes/: they are as
 * new as the last check. Rows that are not cached are read by their ids, and must be of the same version.
 */
import { LRUCache } from 'lru-cache';
import { readPaced } from '../../../turns/slices.ts';
import type { Change } from '../../changes/change.ts';
import { createLoads } from '../../changes/loads.ts';
import type { Database } from '../../database.ts';
import { type Concerned, createListIndex, createRowTest, selectComparable } from '../affected.ts';
import { type Ordered, readOrderedPage, readRowsByKeys } from '../pages.ts';
import type { ListQueries, Versioned } from '../queries.ts';
import type { Condition, ListedAt, ListOptions, ListRequest } from '../request.ts';
import { createSortedKeys, type SortedKeys, selectRanks } from './keys.ts';

/** Maximum size of all keys, in bytes: each key takes 16. `maxKeys` is the limit for one filter. */
const keysSize = 64 * 1024 * 1024;
const maxKeys = 1_500_000;
/** Maximum number of filters whose requests are counted. */
const noticedFilters = 1000;
/** How often a filter is requested before its keys are read; and the factor by which that grows with each read. */
const firstWanted = 2;
const againWanted = 4;
/** Columns of filters whose index is ordered by id, and has the columns that lists are sorted by. */
const inOneIndex = ['category', 'brand'];
/** How often a page is read if others change it during the read. */
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
  /** How often it must be requested before its keys are read. */
  enough: number;
}

export type SortedLists<Row> = ReturnType<typeof createSortedLists<Row>>;

/**
 * @param planned adds the plan of a request
 * @returns undefined where lists have no such order, or no collection whose changes they follow
 */
export function createSortedLists<Row>(
  database: Pick<Database, 'changes' | 'read'>,
  options: ListOptions<Row>,
  queries: ListQueries<Row>,
  planned: (request: ListRequest) => Promise<ListRequest>,
) {
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
      for (const change of all ?? []) for (const one of index.concerned(change)) apply(one, change);
    },
  });

  function clear(): void {
    lists.clear();
    // Reads are delayed only for keys that were evicted for lack of room.
    noticed.clear();
  }
  function apply({ list, had, has }: Concerned<Sorted>, { id, before, after }: Change): void {
    const { column, keys } = list;
    const [old, now] = [before?.[column], after?.[column]];
    if (had && has && old === now) return;
    const isKnown = !had || (typeof old === 'number' && keys.delete({ value: old, id }));
    if (isKnown && has && typeof now === 'number') keys.add({ value: now, id });
    else if (!isKnown || has) lists.delete(list.name);
  }

  /** The keys of a filter, if they are in memory; begins to read them when the filter was requested often enough. */
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

  /** Reads all keys of a filter, in parts that may see different states; false if they are too many, or it gives up. */
  async function readAll({ conditions, column, keys }: Sorted, isGivenUp: () => boolean): Promise<boolean> {
    const page = { kind: 'key', limit: 1, count: false } as const;
    // For a category or brand, one index ordered by id has all columns that lists need.
    const isById = conditions.some(condition => inOneIndex.includes(condition.column));
    const order = { column: isById ? 'id' : column, descending: false };
    const request = await planned({ conditions, order, value: column, page });
    // With a gathered plan, each part would gather all rows again.
    if (request.categoryPlan !== undefined && request.categoryPlan.kind !== 'merged') return false;
    const pages = readPaced<Versioned>((limit, last) => {
      const start = last && { value: last.sort_value, id: last.id };
      return queries.keys(read, request, { limit, start });
    });
    for await (const rows of pages) {
      for (const { sort_value, id } of rows) keys.add({ value: Number(sort_value), id });
      if (keys.size() > maxKeys || isGivenUp()) return false;
    }
    return true;
  }

  /** Applies changes made during the read: a changed row may have been read before or after its change, or both. */
  function replay({ conditions, column, keys }: Sorted, changes: readonly Change[]): void {
    for (const { id, before, after } of changes) {
      for (const value of [before?.[column], after?.[column]])
        if (typeof value === 'number') keys.delete({ value, id });
    }
    for (const { id, after } of new Map(changes.map(change => [change.id, change])).values()) {
      const value = after?.[column];
      if (createRowTest(after)(conditions) && typeof value === 'number') keys.add({ value, id });
    }
  }

  /** Selects the keys of a request from those in memory. */
  function select({ conditions }: ListRequest, column: string): Ordered | undefined {
    const range = toRange(conditions, rangeColumn);
    if (range !== undefined && column !== rangeColumn) return undefined;
    const keys = find(range?.base ?? conditions, column);
    if (keys === undefined) return undefined;
    if (range === undefined) return selectRanks(keys, 0, keys.size(), column);
    const from = keys.rank({ value: range.low, id: Number.NEGATIVE_INFINITY });
    const to = keys.rank({ value: range.high, id: Number.POSITIVE_INFINITY });
    return selectRanks(keys, from, Math.max(from, to), column);
  }

  const isDecided = ({ conditions }: ListRequest): boolean =>
    conditions.every(({ column }) => column === rangeColumn || inOrder.filters.includes(column));

  const readPage = async (request: ListRequest): Promise<ListedAt<Row> | undefined> => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      await changes.check();
      const version = changes.version(collection);
      const selected = select(request, request.order.column);
      if (selected === undefined || version === undefined) return undefined;
      const page = await readOrderedPage(request, selected, keys =>
        readRowsByKeys(read, { keys, version }, cached, queries),
      );
      if (page !== undefined) return { ...page, version };
    }
    return undefined;
  };

  return {
    /** The page, as of a check that is made now; undefined if the database must be queried. */
    page: (request: ListRequest) =>
      isDecided(request) && inOrder.orders.includes(request.order.column) ? readPage(request) : undefined,
    /** The total in the state of a version; undefined if memory has another state, or not these keys. */
    total(request: ListRequest, version: number): number | undefined {
      if (rangeColumn === undefined || !isDecided(request) || changes.version(collection) !== version)
        return undefined;
      return select(request, rangeColumn)?.total;
    },
  };
}

function toSelectionName(conditions: readonly Condition[], column: string): string {
  return `${column} ${JSON.stringify(conditions.map(one => [one.column, one.operator, one.value]))}`;
}

/** The values from `low` to `high`, both included, of the rows that match `base`. */
interface Range {
  readonly base: readonly Condition[];
  readonly low: number;
  readonly high: number;
}

/** The conditions as a range of the column; undefined if they are not a range. */
function toRange(conditions: readonly Condition[], column: string | undefined): Range | undefined {
  const base = conditions.filter(condition => condition.column !== column);
  if (base.length === conditions.length) return undefined;
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { column: other, operator, value } of conditions) {
    if (other !== column) continue;
    if (operator === '>=' && typeof value === 'number') low = Math.max(low, value);
    else if (operator === '<=' && typeof value === 'number') high = Math.min(high, value);
    else return undefined;
  }
  return { base, low, high };
}
