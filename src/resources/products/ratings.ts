/**
 * What the reviews of a product say on average, kept in the product by the transactions that change its reviews:
 * from the sum and the number so far, so that no review is read again (docs/decisions/0013).
 */
import type { Cause, Outbox } from '../../events/outbox.ts';
import { type ColumnTypes, createPartialUpdate } from '../../storage/bulk.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import { mapInSlices } from '../../turns/slices.ts';
import { createProductLocks } from './locks.ts';
import {
  buildProductChange,
  type LockedProduct,
  productOf,
  toKeptProduct,
  toProductFields,
  toProductRow,
} from './row.ts';

export interface RatingChange {
  readonly sum: number;
  readonly count: number;
}

/** Half a hundredth is rounded up. Exact: both numbers are far below 2^53. */
export function computeAverage(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round((sum * 100) / count) / 100;
}

/** What is written of a product with its rating. */
const columns = {
  document: 'text',
  updated_at: 'double precision',
  rating_sum: 'integer',
  rating_count: 'integer',
} as const satisfies ColumnTypes;

export function createProductRatings(database: Database, outbox: Outbox) {
  const locks = createProductLocks(database);
  const write = createPartialUpdate(database, 'products', columns, []);

  /** The row that a product has with its new rating, and what the event of that says. */
  function rate(before: LockedProduct, change: RatingChange, at: number) {
    const sum = before.rating_sum + change.sum;
    const count = before.rating_count + change.count;
    const old = productOf(before);
    const { id } = old;
    const rating = { average: computeAverage(sum, count), count };
    const { document } = toProductRow(toProductFields(old, before.base_price), at, {
      ...toKeptProduct(old),
      rating,
    });
    const after = { document, updated_at: at, rating_sum: sum, rating_count: count };
    return { id, before: {}, after, event: buildProductChange('updated', before, { id, document }) };
  }

  /** Adds to the ratings of products that are locked. @param changes by product: of those that have none, the rating stays */
  async function addMany(
    session: Transaction,
    locked: readonly LockedProduct[],
    changes: ReadonlyMap<number, RatingChange>,
    cause: Cause,
  ): Promise<void> {
    const rated = await mapInSlices(
      locked.flatMap(product => {
        const change = changes.get(product.id);
        return change === undefined ? [] : [{ product, change }];
      }),
      ({ product, change }) => rate(product, change, computeChangeMoment(cause.at, product.updated_at)),
    );
    await write(session, rated);
    await outbox.recordAll(
      session,
      rated.map(({ event }) => event),
      cause,
    );
  }

  return {
    ...locks,
    addMany,

    /**
     * Adds to the rating of a product that is locked; none when that changes nothing.
     * @param change what is to be added to the sum of all ratings, and to their number
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
