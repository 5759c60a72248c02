/** The queries of reviews. */
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { type Listed, type ListRequest, lister } from '../../storage/list.ts';
import type { NewReview, Review } from './schema.ts';

export interface StoredReview {
  readonly id: number;
  readonly product_id: number;
  readonly user_id: number;
  readonly author_name: string;
  readonly rating: number;
  readonly body: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface ReviewStore {
  list(request: ListRequest): Promise<Listed<StoredReview>>;
  find(session: Session, id: number): Promise<StoredReview | undefined>;
  /** Whether this user has reviewed this product. */
  exists(session: Session, productId: number, userId: number): Promise<boolean>;
  /** @throws StorageError `unique` when the author has reviewed the product already */
  insert(
    session: Transaction,
    productId: number,
    author: { id: number; name: string },
    input: NewReview,
    now: number,
  ): Promise<StoredReview>;
}

const columns = [
  'product_id',
  'user_id',
  'author_name',
  'rating',
  'body',
  'created_at',
  'updated_at',
] as const;

export function reviewOf(row: StoredReview): Review {
  return {
    id: row.id,
    productId: row.product_id,
    author: { id: row.user_id, name: row.author_name },
    rating: row.rating,
    body: row.body,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

export function reviewStore(database: Database): ReviewStore {
  const { build } = database;
  return {
    list: lister<StoredReview>(database, { table: 'reviews', columns }),
    find: (session, id) =>
      session.first(
        build
          .selectFrom('reviews')
          .select(['id', ...columns])
          .where('id', '=', id)
          .compile(),
      ),
    async exists(session, productId, userId) {
      const query = build.selectFrom('reviews').select('id');
      const mine = query.where('product_id', '=', productId).where('user_id', '=', userId);
      return (await session.first(mine.compile())) !== undefined;
    },
    async insert(session, productId, author, input, now) {
      const values = {
        product_id: productId,
        user_id: author.id,
        author_name: author.name,
        rating: input.rating,
        body: input.body ?? null,
        created_at: now,
        updated_at: now,
      };
      const id = await session.insert(build.insertInto('reviews').values(values).compile());
      return { id, ...values };
    },
  };
}
