/**
 * The handling of transactions that both databases share: waiting transactions form groups, and the work that each
 * leaves for its end is collected (increment, writeDeferred and atEnd of Transaction in database.ts).
 */
import { sortItemsInSlices } from '../turns/slices.ts';
import type { Bulk } from './bulk.ts';
import type { Counter, Ending, Session, Transaction } from './database.ts';

/** A transaction that waits to be run. */
export interface Job {
  readonly work: (session: Transaction) => Promise<unknown>;
  /** The existing things that it locks or changes: see WriteOptions. */
  readonly touches: readonly string[];
  /** `performance.now()` of its arrival. */
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Jobs that arrive while a group runs form the next group.
 * @param size the most jobs in a group
 * @param run settles the jobs of a group, and returns those that it leaves for the next one; if it throws, all
 * unsettled jobs are rejected
 */
export function createGroupQueue(size: number, run: (group: readonly Job[]) => Promise<readonly Job[]>) {
  const waiting: Job[] = [];
  let draining = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, size);
      try {
        waiting.unshift(...(await run(group)));
      } catch (error) {
        for (const job of group) job.reject(error);
      }
    }
    draining = false;
  }

  return <T>(work: (session: Transaction) => Promise<T>, touches: readonly string[] = []): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // Boundary: the queue forgets each job's result type; the promise above still knows it.
    waiting.push({
      work,
      touches,
      since: performance.now(),
      resolve: resolve as (value: unknown) => void,
      reject,
    });
    if (!draining) {
      draining = true;
      // One turn of the event loop: requests that arrived together are committed together.
      setImmediate(drain);
    }
    return promise;
  };
}

interface Increment {
  readonly counter: Counter;
  readonly amount: number;
}

/** The items that were left for each ending, without duplicates. */
type Items = Map<Ending, Set<string>>;

/** Rows that are written at the end of a transaction. */
export interface Deferred {
  readonly statement: Bulk;
  readonly rows: Rows;
}

type Rows = readonly (readonly unknown[])[];

/** The work that a job leaves for the end of the transaction; `effects` run after the commit. */
export interface Leftovers {
  readonly deferred: Deferred[];
  readonly items: Items;
  readonly increments: Increment[];
  readonly effects: (() => void)[];
}

export const createLeftovers = (): Leftovers => ({
  deferred: [],
  items: new Map(),
  increments: [],
  effects: [],
});

/** Settles a job that is durable. If one of its effects throws, only this job of the group is rejected. */
export function resolveJob({ resolve, reject }: Job, value: unknown, { effects }: Leftovers): void {
  try {
    for (const effect of effects) effect();
    resolve(value);
  } catch (error) {
    reject(error);
  }
}

/**
 * Groups rows by table. Within a table, consecutive rows of the same statement are joined, and sorted if the statement
 * has an order.
 */
export async function arrangeDeferredRows(deferred: readonly Deferred[]): Promise<readonly Deferred[]> {
  const together: Deferred[] = [];
  for (const parts of Map.groupBy(deferred, ({ statement }) => statement.table).values()) {
    for (let start = 0; start < parts.length; ) {
      const statement = parts[start]?.statement;
      let end = start + 1;
      while (parts[end]?.statement === statement && end < parts.length) end++;
      const rows =
        end === start + 1 ? parts[start]?.rows : parts.slice(start, end).flatMap(part => part.rows);
      if (statement !== undefined && rows !== undefined)
        together.push({ statement, rows: await sortRows(statement, rows) });
      start = end;
    }
  }
  return together;
}

const sortRows = ({ compare }: Bulk, rows: Rows): Rows | Promise<Rows> =>
  compare === undefined ? rows : sortItemsInSlices(rows, compare);

const createItems = () => new Set<string>();

export function leaveItem(items: Items, ending: Ending, item: string): void {
  items.getOrInsertComputed(ending, createItems).add(item);
}

/** Runs each ending once, with the items that all jobs left for it. */
export async function runEndings(session: Session, all: readonly Items[]): Promise<void> {
  const parts = all.flatMap(items => [...items]);
  for (const [ending, left] of Map.groupBy(parts, ([ending]) => ending)) {
    const [most, ...others] = left.map(([, items]) => items).sort((one, other) => other.size - one.size);
    if (most === undefined) continue;
    // The largest set is not copied: it may be very large.
    for (const items of others) for (const item of items) most.add(item);
    await ending.run(session, most);
  }
}

/** The rows that add to each counter once, in the order of the counters' keys. */
export function arrangeIncrements(increments: readonly Increment[]): Promise<readonly Deferred[]> {
  const sums = new Map<string, { counter: Counter; amount: number }>();
  for (const { counter, amount } of increments)
    sums.getOrInsertComputed(counter.key, () => ({ counter, amount: 0 })).amount += amount;
  const changed = [...sums.values()].filter(({ amount }) => amount !== 0);
  changed.sort((one, other) => (one.counter.key < other.counter.key ? -1 : 1));
  return arrangeDeferredRows(
    changed.map(({ counter, amount }) => ({ statement: counter.statement, rows: [counter.row(amount)] })),
  );
}
