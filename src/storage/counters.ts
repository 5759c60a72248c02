/**
 * What transactions leave for their end, put together until it is written: see Transaction.add, writeDeferred and
 * atEnd in database.ts.
 */
import type { Bulk } from './bulk.ts';
import type { Counter, Ending, Session } from './database.ts';

export interface Increment {
  readonly counter: Counter;
  readonly amount: number;
}

/** What has been left for endings: each item once, however many rows leave it. */
export type Items = Map<Ending, Set<string>>;

/** Rows for the end. */
export interface Deferred {
  readonly statement: Bulk;
  readonly rows: readonly (readonly unknown[])[];
}

/** Writes rows in their order. */
export type WriteRows = (parts: readonly Deferred[]) => Promise<void>;

/** Rows of one statement that follow each other in a table are written together; their order is kept. */
export function writeDeferredRows(deferred: readonly Deferred[], write: WriteRows): Promise<void> {
  const together: Deferred[] = [];
  for (const parts of Map.groupBy(deferred, ({ statement }) => statement.table).values()) {
    for (let start = 0; start < parts.length; ) {
      const statement = parts[start]?.statement;
      let end = start + 1;
      while (parts[end]?.statement === statement && end < parts.length) end++;
      const rows =
        end === start + 1 ? parts[start]?.rows : parts.slice(start, end).flatMap(part => part.rows);
      if (statement !== undefined && rows !== undefined) together.push({ statement, rows });
      start = end;
    }
  }
  return write(together);
}

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

/** Adds to each counter once, in the order of their keys. */
export function writeIncrements(increments: readonly Increment[], write: WriteRows): Promise<void> {
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
  return writeDeferredRows(deferred, write);
}
