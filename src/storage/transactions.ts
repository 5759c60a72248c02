/**
 * What both databases do with transactions: those that wait form groups, and what each leaves for its end is put
 * together until it is written (increment, writeDeferred and atEnd of Transaction in database.ts).
 */
import { sortItemsInSlices } from '../turns/slices.ts';
import type { Bulk } from './bulk.ts';
import type { Counter, Ending, Session, Transaction } from './database.ts';

/** A transaction that waits to be run. */
export interface Job {
  readonly work: (session: Transaction) => Promise<unknown>;
  /** What it locks or changes of what exists: see WriteOptions. */
  readonly touches: readonly string[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Those that come while a group runs form the next group.
 * @param size of a group at most
 * @param run settles the jobs of a group, and gives those that it has left for the next one; where it throws, those that it has
 * not settled have failed
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
    waiting.push({ work, touches, resolve: resolve as (value: unknown) => void, reject });
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

/** What has been left for endings: each item once, however many rows leave it. */
type Items = Map<Ending, Set<string>>;

/** Rows for the end. */
export interface Deferred {
  readonly statement: Bulk;
  readonly rows: Rows;
}

type Rows = readonly (readonly unknown[])[];

/** What a piece of work leaves for the end of the transaction, and for after it. */
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

/** Ends a job that is durable. What one of its effects throws is reported by it, and by no other of its group. */
export function resolveJob({ resolve, reject }: Job, value: unknown, { effects }: Leftovers): void {
  try {
    for (const effect of effects) effect();
    resolve(value);
  } catch (error) {
    reject(error);
  }
}

/**
 * Rows that are to be written, table by table: those of one statement that follow each other in a table go together, in the
 * order that the statement has for them, else in their own.
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

export function leaveItem(items: Items, ending: Ending, item: string): void {
  const left = items.get(ending);
  if (left === undefined) items.set(ending, new Set([item]));
  else left.add(item);
}

/** Runs each ending once, with the items that several pieces of work have left for it. */
export async function runEndings(session: Session, all: readonly Items[]): Promise<void> {
  const parts = all.flatMap(items => [...items]);
  for (const [ending, left] of Map.groupBy(parts, ([ending]) => ending)) {
    const [most, ...others] = left.map(([, items]) => items).sort((one, other) => other.size - one.size);
    if (most === undefined) continue;
    // The largest may be very many: it is not copied.
    for (const items of others) for (const item of items) most.add(item);
    await ending.run(session, most);
  }
}

/** What adds to each counter once, in the order of their keys. */
export function arrangeIncrements(increments: readonly Increment[]): Promise<readonly Deferred[]> {
  const sums = new Map<string, { counter: Counter; amount: number }>();
  for (const { counter, amount } of increments) {
    const sum = sums.get(counter.key);
    if (sum === undefined) sums.set(counter.key, { counter, amount });
    else sum.amount += amount;
  }
  const deferred: Deferred[] = [];
  for (const key of [...sums.keys()].sort()) {
    const sum = sums.get(key);
    if (sum === undefined || sum.amount === 0) continue;
    deferred.push({ statement: sum.counter.statement, rows: [sum.counter.row(sum.amount)] });
  }
  return arrangeDeferredRows(deferred);
}
