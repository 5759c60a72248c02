/** Reviews of a product over HTTP. */
import { z } from 'zod';
import { allow, unauthorized } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { created, ok } from '../../http/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Session } from '../../storage/database.ts';
import type { ProductStore } from '../products/store.ts';
import type { Services } from '../services.ts';
import type { UserStore } from '../users/store.ts';
import * as schema from './schema.ts';
import { type ReviewStore, reviewOf } from './store.ts';

const tag = 'Reviews';
const path = '/products/{id}/reviews';
const alreadyReviewed = () =>
  new HttpError('DUPLICATE', {
    message: 'You have reviewed this product already.',
    details: [
      {
        field: 'productId',
        pointer: '#/productId',
        code: 'unique',
        message: 'one review per user and product',
      },
    ],
  });
const params = z.object({ id: identifier() });

export function reviewEndpoints(
  { database, clock, paginator }: Services,
  { reviews, products, users }: { reviews: ReviewStore; products: ProductStore; users: UserStore },
): Endpoint[] {
  async function requireProduct(session: Session, id: number): Promise<void> {
    if ((await products.find(session, id)) === undefined) {
      throw new HttpError('NOT_FOUND', { message: `There is no product ${id || 'with this id'}.` });
    }
  }
  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listReviews',
      summary: 'List the reviews of a product',
      tag,
      access: allow.everyone('reviews:read'),
      params,
      query: schema.listReviews,
      responses: { 200: { description: 'One page of reviews.', schema: schema.reviewList } },
      errors: ['NOT_FOUND', 'INVALID_CURSOR'],
      async handle({ params: { id }, query, url }) {
        await requireProduct(database.read, id);
        const conditions = [{ column: 'product_id', operator: '=', value: id } as const];
        const request = paginator.request(query, conditions, schema.sortColumns, 'reviews');
        const listed = await reviews.list(request);
        return ok(paginator.envelope(listed, request, 'reviews', url, row => JSON.stringify(reviewOf(row))));
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createReview',
      summary: 'Review a product',
      description: 'One review per user and product.',
      tag,
      access: allow.everyone(),
      params,
      body: {
        kind: 'json',
        schema: schema.createReview,
        example: { rating: 5, body: 'Bright, and well made.' },
      },
      responses: { 201: { description: 'The review was created.', schema: schema.review } },
      errors: ['NOT_FOUND', 'DUPLICATE'],
      handle({ params: { id }, body, caller, url, write }) {
        return write(async session => {
          await requireProduct(session, id);
          const author = caller.kind === 'user' ? await users.find(session, caller.userId) : undefined;
          if (author === undefined) throw unauthorized('UNAUTHORIZED');
          if (await reviews.exists(session, id, author.id)) throw alreadyReviewed();
          const review = reviewOf(await reviews.insert(session, id, author, body, clock.now()));
          const collection = url.path.replace(/\/products\/[^/]+\/reviews$/, '/reviews');
          return created(`${url.base}${collection}/${review.id}`, review, {
            lastModified: Date.parse(review.updatedAt),
          });
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: '/reviews/{id}',
      operationId: 'getReview',
      summary: 'Read a review',
      tag,
      access: allow.everyone('reviews:read'),
      params,
      responses: { 200: { description: 'The review.', schema: schema.review } },
      errors: ['NOT_FOUND'],
      async handle({ params: { id } }) {
        const row = await reviews.find(database.read, id);
        if (row === undefined)
          throw new HttpError('NOT_FOUND', { message: `There is no review ${id || 'with this id'}.` });
        return ok(reviewOf(row), { lastModified: row.updated_at });
      },
    }),
  ];
}
