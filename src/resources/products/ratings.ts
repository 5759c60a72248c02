/**
 * What the reviews of a product say on average, kept in the product by the transactions that change its reviews:
 * from the sum and the number so far, so that no review is read again (docs/decisions/0013).
 */
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { computeChangeMoment } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createProductLocks, type ProductLocks } from './locks.ts';
import {
  buildProductChange,
  type LockedProduct,
  productOf,
  toKeptProduct,
  toProductFields,
  toProductRow,
} from './row.ts';

export interface ProductRatings extends ProductLocks {
  /**
   * Adds to the rating of a product that is locked; none when that changes nothing.
   * @param change what is to be added to the sum of all ratings, and to their number
   */
  add(session: Transaction, before: LockedProduct, change: RatingChange, cause: Cause): Promise<void>;
  /** Locks products and adds to their ratings. @param changes by product */
  addMany(session: Transaction, changes: ReadonlyMap<number, RatingChange>, cause: Cause): Promise<void>;
}

export interface RatingChange {
  readonly sum: number;
  readonly count: number;
}

/** Half a hundredth is rounded up. Exact: both numbers are far below 2^53. */
export function computeAverage(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round((sum * 100) / count) / 100;
}

export function createProductRatings(database: Database, outbox: Outbox): ProductRatings {
  const { build } = database;
  const locks = createProductLocks(database);
  type Written = Omit<LockedProduct, 'base_price' | 'category_id'>;
  const update = prepareQuery<{ [Column in keyof Written]: Written[Column] }, unknown>(build, argument =>
    build
      .updateTable('products')
      .set({
        document: argument.document,
        updated_at: argument.updated_at,
        rating_sum: argument.rating_sum,
        rating_count: argument.rating_count,
      })
      .where('id', '=', argument.id),
  );

  /** Writes the new rating of a product; gives what its event says. */
  async function write(session: Transaction, before: LockedProduct, change: RatingChange, at: number) {
    const sum = before.rating_sum + change.sum;
    const count = before.rating_count + change.count;
    const old = productOf(before);
    const { id } = old;
    const rating = { average: computeAverage(sum, count), count };
    const { document } = toProductRow(toProductFields(old, before.base_price), at, {
      ...toKeptProduct(old),
      rating,
    });
    await session.run(update({ id, document, updated_at: at, rating_sum: sum, rating_count: count }));
    return buildProductChange('updated', before, { id, document });
  }

  async function addAll(
    session: Transaction,
    products: readonly LockedProduct[],
    changeOf: (id: number) => RatingChange | undefined,
    cause: Cause,
  ): Promise<void> {
    // All at once: PostgreSQL gets them in one go instead of one round trip each.
    const written = await Promise.all(
      products.map(product =>
        write(
          session,
          product,
          changeOf(product.id) ?? { sum: 0, count: 0 },
          computeChangeMoment(cause.at, product.updated_at),
        ),
      ),
    );
    await outbox.recordAll(session, written, cause);
  }

  return {
    ...locks,

    async add(session, before, change, cause) {
      if (change.sum === 0 && change.count === 0) return;
      await addAll(session, [before], () => change, cause);
    },

    async addMany(session, changes, cause) {
      const products = await locks.lockMany(session, [...changes.keys()]);
      await addAll(session, products, id => changes.get(id), cause);
    },
  };
}
