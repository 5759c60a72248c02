/** What transactions add to counters, summed up until it is written: see Transaction.add in database.ts. */
import type { Counter, Session } from './database.ts';

export interface Addition {
  readonly counter: Counter;
  readonly amount: number;
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
