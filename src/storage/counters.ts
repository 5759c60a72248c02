/**
 * What transactions leave for their end, put together until it is written: see Transaction.add, insertDeferred and
 * atEnd in database.ts.
 */
import type { Bulk } from './bulk.ts';
import type { Counter, Ending, Session } from './database.ts';

export interface Addition {
  readonly counter: Counter;
  readonly amount: number;
}

/** An item that has been left for an ending. */
export interface Left {
  readonly ending: Ending;
  readonly item: string;
}

/** Rows for the end. */
export interface Late {
  readonly statement: Bulk;
  readonly rows: readonly (readonly unknown[])[];
}

/** Writes rows in their order. */
export type WriteRows = (parts: readonly Late[]) => Promise<void>;

/** Rows of one statement that follow each other in a table are written together; their order is kept. */
export function writeLate(late: readonly Late[], write: WriteRows): Promise<void> {
  const together: Late[] = [];
  for (const parts of Map.groupBy(late, ({ statement }) => statement.table).values()) {
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

/** Runs each ending once, with its items. */
export async function runEndings(session: Session, left: readonly Left[]): Promise<void> {
  if (left.length === 0) return;
  for (const [ending, items] of Map.groupBy(left, ({ ending }) => ending)) {
    await ending.run(session, [...new Set(items.map(({ item }) => item))]);
  }
}

/** Adds to each counter once, in the order of their keys. */
export function writeAdditions(additions: readonly Addition[], write: WriteRows): Promise<void> {
  const sums = new Map<string, { counter: Counter; amount: number }>();
  for (const { counter, amount } of additions) {
    const sum = sums.get(counter.key);
    if (sum === undefined) sums.set(counter.key, { counter, amount });
    else sum.amount += amount;
  }
  const late: Late[] = [];
  for (const key of [...sums.keys()].sort()) {
    const sum = sums.get(key);
    if (sum === undefined || sum.amount === 0) continue;
    late.push({ statement: sum.counter.statement, rows: [sum.counter.row(sum.amount)] });
  }
  return writeLate(late, write);
}
