/**
 * The average rating of a product, stored in the product by the transactions that change its reviews. It is computed
 * from the former sum and count, without reading reviews again (docs/decisions/0013).
 */
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { createProductLocks } from './locks.ts';
import type { LockedProduct } from './row.ts';
import { createKeptWriter, type KeptChange } from './writes/kept.ts';

export interface RatingChange {
  readonly sum: number;
  readonly count: number;
}

/** Rounds half a hundredth up. Exact: both numbers are far below 2^53. */
export function computeAverage(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round((sum * 100) / count) / 100;
}

export function createProductRatings(database: Database, outbox: Outbox) {
  const locks = createProductLocks(database);
  const write = createKeptWriter(database, outbox);

  /** Adds to the ratings of locked products. @param changes by product id; other products keep their rating */
  async function addMany(
    session: Transaction,
    locked: readonly LockedProduct[],
    changes: ReadonlyMap<number, RatingChange>,
    cause: Cause,
  ): Promise<void> {
    const rated = locked.flatMap((before): KeptChange[] => {
      const change = changes.get(before.id);
      if (change === undefined) return [];
      const sum = before.rating_sum + change.sum;
      const count = before.rating_count + change.count;
      const rating = { average: computeAverage(sum, count), count };
      return [{ before, members: { rating }, sums: { rating_sum: sum, rating_count: count } }];
    });
    await write(session, rated, cause);
  }

  return {
    ...locks,
    addMany,

    /**
     * Adds to the rating of a locked product; does nothing if the change is zero.
     * @param change the amounts to add to the sum and the number of ratings
     */
    async add(
      session: Transaction,
      before: LockedProduct,
      change: RatingChange,
      cause: Cause,
    ): Promise<void> {
      if (change.sum === 0 && change.count === 0) return;
      await addMany(session, [before], new Map([[before.id, change]]), cause);
    },
  };
}
