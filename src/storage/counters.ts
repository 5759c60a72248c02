/** What transactions leave for their end, put together until it is written: see Transaction.add and Transaction.atEnd in database.ts. */
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

/** Runs each ending once, with its items. */
export async function runEndings(session: Session, left: readonly Left[]): Promise<void> {
  if (left.length === 0) return;
  for (const [ending, items] of Map.groupBy(left, ({ ending }) => ending)) {
    await ending.run(session, [...new Set(items.map(({ item }) => item))]);
  }
}

/** Adds to each counter once, in the order of their keys. */
export async function writeAdditions(session: Session, additions: readonly Addition[]): Promise<void> {
  const sums = new Map<string, { counter: Counter; amount: number }>();
  for (const { counter, amount } of additions) {
    const sum = sums.get(counter.key);
    if (sum === undefined) sums.set(counter.key, { counter, amount });
    else sum.amount += amount;
  }
  for (const key of [...sums.keys()].sort()) {
    const sum = sums.get(key);
    if (sum !== undefined && sum.amount !== 0) await session.run(sum.counter.plus(sum.amount));
  }
}
