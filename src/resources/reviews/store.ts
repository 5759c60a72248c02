/**
 * The queries of reviews. Each change of a review also changes its product's rating, in the same transaction. It locks
 * the product first and then the review, so that no two transactions deadlock.
 */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { toDates } from '../../storage/moments.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import type { Row } from '../../storage/tables.ts';
import { splitIntoParts } from '../../turns/slices.ts';
import { type Author, createAuthoredStore, removedAtOnce } from '../authored/store.ts';
import { createProductRatings, type RatingChange } from '../products/ratings.ts';
import type { LockedProduct } from '../products/row.ts';
import type { ReviewFields } from './schema.ts';

export type StoredReview = Row<'reviews'>;

export function toReview(row: StoredReview) {
  return {
    id: row.id,
    productId: row.product_id,
    author: { id: row.user_id, name: row.author_name },
    rating: row.rating,
    body: row.body,
    ...toDates(row),
  };
}

export function createReviewStore(database: Database, outbox: Outbox) {
  const { build } = database;
  const ratings = createProductRatings(database, outbox);
  const rows = createAuthoredStore<StoredReview>(database, outbox, {
    table: 'reviews',
    resource: 'review',
    columns: ['product_id', 'rating', 'body'],
    representationOf: toReview,
  });
  const ofUserAndProduct = prepareQuery<{ productId: number; userId: number }, { id: number }>(
    build,
    argument => sql`select id from reviews
        where product_id = ${argument.productId} and user_id = ${argument.userId}`,
  );
  const allOfUser = prepareQuery<{ userId: number }, { id: number; product_id: number }>(
    build,
    argument =>
      sql`select id, product_id from reviews where user_id = ${argument.userId} order by product_id`,
  );

  async function rate(session: Transaction, productId: number, change: RatingChange, cause: Cause) {
    const product = await ratings.lock(session, productId);
    if (product === undefined) throw new Error(`the product ${productId} of a review is not there`);
    await ratings.add(session, product, change, cause);
  }

  async function remove(session: Transaction, before: StoredReview, cause: Cause): Promise<void> {
    await rate(session, before.product_id, { sum: -before.rating, count: -1 }, cause);
    await rows.remove(session, before, cause);
  }

  /** Reads a review, and locks it and its product until the transaction ends. */
  async function lock(session: Transaction, id: number): Promise<StoredReview | undefined> {
    const seen = await rows.find(session, id);
    if (seen === undefined) return undefined;
    await ratings.lock(session, seen.product_id);
    // Undefined if the product is gone: its reviews are deleted with it.
    return rows.lock(session, id);
  }

  return {
    list: rows.list,
    find: rows.find,
    lock,
    /** Locks a product, and thereby its reviews, until the transaction ends; undefined if there is no such product. */
    lockProduct: ratings.lock,
    remove,
    /** Whether this user has reviewed this product. */
    exists: async (session: Session, productId: number, userId: number) =>
      (await session.first(ofUserAndProduct({ productId, userId }))) !== undefined,

    /**
     * @param product locked
     * @throws StorageError `unique` if the author has already reviewed the product
     */
    async insert(
      session: Transaction,
      product: LockedProduct,
      author: Author,
      fields: ReviewFields,
      cause: Cause,
    ): Promise<StoredReview> {
      await ratings.add(session, product, { sum: fields.rating, count: 1 }, cause);
      return rows.insert(session, author, { product_id: product.id, ...fields }, cause);
    },

    async update(session: Transaction, before: StoredReview, fields: ReviewFields, cause: Cause) {
      await rate(session, before.product_id, { sum: fields.rating - before.rating, count: 0 }, cause);
      return rows.update(session, before, fields, cause);
    },

    /**
     * Deletes all reviews of a locked user who is about to be deleted, and updates the ratings of their products. (The
     * cascade of the database would delete them without events, and leave the ratings unchanged.)
     */
    async removeAllOf(session: Transaction, userId: number, cause: Cause): Promise<void> {
      const all = await session.all(allOfUser({ userId }));
      for (const some of splitIntoParts(all, removedAtOnce)) {
        // Products first, in order of id, as in every transaction.
        const products = await ratings.lockMany(
          session,
          some.map(({ product_id }) => product_id),
        );
        const removed = await rows.removeSome(
          session,
          some.map(({ id }) => id),
          cause,
        );
        const changes = removed.map(
          ({ product_id, rating }) => [product_id, { sum: -rating, count: -1 }] as const,
        );
        await ratings.addMany(session, products, new Map(changes), cause);
      }
    },

    /** Deletes all reviews of a locked product that is about to be deleted. */
    removeAllOn: (session: Transaction, productId: number, cause: Cause) =>
      rows.removeAll(session, { column: 'product_id', value: productId }, cause),
  };
}
