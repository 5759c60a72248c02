/** Reviews of products over HTTP. */
import type { Endpoint } from '../../http/endpoint.ts';
import { buildErrorDetail, HttpError, requireFound } from '../../http/errors.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { createAuthoredResource, reviewRights } from '../authored/index.ts';
import { byId } from '../crud/index.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { toReview } from './store.ts';

const path = '/products/{id}/reviews';
const description =
  'Allowed for the author and administrators; editors may delete any review. Updates the product’s rating.';
const example = { rating: 5, body: 'Bright, and well made.' };
const createAlreadyReviewedError = () =>
  new HttpError('DUPLICATE', {
    message: 'You have already reviewed this product.',
    details: [buildErrorDetail(['productId'], 'unique', 'one review per user and product')],
  });

export function createReviewEndpoints(stores: Stores): Endpoint[] {
  const { database, reviews, products } = stores;
  const authored = createAuthoredResource(stores, {
    collection: 'reviews',
    rights: reviewRights,
    representationOf: toReview,
    relatedTo: row => ({ product: `products/${row.product_id}` }),
    name: 'review',
    tag: 'Reviews',
    schema: schema.review,
    hal: schema.hal,
    page: schema.page,
    sortColumns: schema.sortColumns,
    replace: { schema: schema.replaceReview, example },
    patch: { schema: schema.patchReview, example: { rating: 4 } },
    rows: reviews,
  });

  return [
    authored.list({
      path,
      params: byId,
      operationId: 'listReviews',
      summary: 'List the reviews of a product',
      query: schema.listReviews,
      async requested({ params: { id }, query }) {
        requireFound('product', id, await products.find(database.read, id));
        return { query, conditions: createEqualConditions({ product_id: id }) };
      },
    }),
    authored.create({
      path,
      params: byId,
      summary: 'Review a product',
      description:
        'One review per user and product. The author is the user who is signed in, so API keys cannot write reviews.',
      body: { schema: schema.createReview, example },
      errors: ['DUPLICATE'],
      async insert(session, author, { params: { id }, body, cause }) {
        const product = requireFound('product', id, await reviews.lockProduct(session, id));
        if (await reviews.exists(session, id, author.id)) throw createAlreadyReviewedError();
        return reviews.insert(session, product, author, schema.replaceReview.parse(body), cause());
      },
    }),
    authored.list({
      operationId: 'listAllReviews',
      summary: 'List the reviews of all products',
      query: schema.listAllReviews,
      requested({ query }) {
        const { productId, author, rating } = query;
        return {
          query,
          conditions: createEqualConditions({ product_id: productId, user_id: author, rating }),
        };
      },
    }),
    ...authored.single(description),
  ];
}
