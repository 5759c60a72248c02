/**
 * The average rating of a product, stored in the product by the transactions that change its reviews. It is computed
 * from the former sum and count, without reading reviews again (docs/decisions/0013).
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

/** Rounds half a hundredth up. Exact: both numbers are far below 2^53. */
export function computeAverage(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round((sum * 100) / count) / 100;
}

/** The columns that a new rating changes. */
const columns = {
  document: 'text',
  updated_at: 'double precision',
  rating_sum: 'integer',
  rating_count: 'integer',
} as const satisfies ColumnTypes;

export function createProductRatings(database: Database, outbox: Outbox) {
  const locks = createProductLocks(database);
  const write = createPartialUpdate(database, 'products', columns, []);

  /** The row of a product with its new rating, and the event. */
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

  /** Adds to the ratings of locked products. @param changes by product id; other products keep their rating */
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
