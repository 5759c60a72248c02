/** Reviews of products over HTTP. */
import type { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError, notFound } from '../../http/errors.ts';
import type { Condition } from '../../storage/list/request.ts';
import { authoredEndpoints, params } from '../authored/handlers.ts';
import { authorship, pages, presenter, reviewRights } from '../authored/index.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ProductStore } from '../products/store.ts';
import * as schema from './schema.ts';
import { type ReviewStore, reviewOf, type StoredReview } from './store.ts';

const tag = 'Reviews';
const path = '/products/{id}/reviews';
const example = { rating: 5, body: 'Bright, and well made.' };
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

export function reviewEndpoints(
  { database, paginator }: Dependencies,
  { reviews, products }: { reviews: ReviewStore; products: ProductStore },
): Endpoint[] {
  const authorOf = authorship(database);
  const present = presenter<StoredReview>({
    collection: 'reviews',
    rights: reviewRights,
    representationOf: reviewOf,
    accountOf: row => row.user_id,
    ownerOf: row => row.user_id,
    relatedTo: row => ({ product: `products/${row.product_id}` }),
    linksInJson: false,
  });
  const page = pages({
    paginator,
    list: reviews.list,
    sortColumns: schema.sortColumns,
    collection: 'reviews',
    presenter: present,
  });
  const listed = {
    description: 'One page of reviews.',
    schema: schema.reviewList,
    hal: schema.reviewListHal,
  };

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
      responses: { 200: listed },
      errors: ['NOT_FOUND', 'INVALID_CURSOR'],
      async handle(context) {
        const { id } = context.params;
        if ((await products.find(database.read, id)) === undefined) throw notFound('product', id);
        return page(context, context.query, [{ column: 'product_id', operator: '=', value: id }]);
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createReview',
      summary: 'Review a product',
      description: 'One review per user and product, by the user who is signed in: no API key can write one.',
      tag,
      access: allow.everyone(),
      params,
      body: { kind: 'json', schema: schema.createReview, example },
      responses: {
        201: { description: 'The review was created.', schema: schema.review, hal: schema.reviewHal },
      },
      errors: ['NOT_FOUND', 'DUPLICATE'],
      handle(context) {
        const { id } = context.params;
        return context.write(async session => {
          const author = await authorOf(session, context.caller);
          const product = await reviews.lockProduct(session, id);
          if (product === undefined) throw notFound('product', id);
          if (await reviews.exists(session, id, author.id)) throw alreadyReviewed();
          const fields = schema.replaceReview.parse(context.body);
          const row = await reviews.insert(session, product, author, fields, context.cause());
          return present.created(context, row);
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: '/reviews',
      operationId: 'listAllReviews',
      summary: 'List the reviews of all products',
      tag,
      access: allow.everyone('reviews:read'),
      query: schema.listAllReviews,
      responses: { 200: listed },
      errors: ['INVALID_CURSOR'],
      handle: context => page(context, context.query, conditionsOf(context.query)),
    }),
    ...authoredEndpoints(database, {
      name: 'review',
      path: '/reviews',
      tag,
      read: allow.everyone('reviews:read'),
      write: allow.everyone('reviews:write'),
      rule: 'Its author and administrators may; editors may delete any review. The product’s rating follows.',
      representation: schema.review,
      hal: schema.reviewHal,
      replace: schema.replaceReview,
      patch: schema.patchReview,
      replaceExample: example,
      patchExample: { rating: 4 },
      readOnly: ['id', 'productId', 'author', 'createdAt', 'updatedAt'],
      presenter: present,
      store: reviews,
    }),
  ];
}

function conditionsOf(query: z.output<typeof schema.listAllReviews>): Condition[] {
  const filters = [
    ['product_id', query.productId],
    ['user_id', query.author],
    ['rating', query.rating],
  ] as const;
  return filters.flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, operator: '=' as const, value }],
  );
}
