/** Reviews of products over HTTP. */
import { allow } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { found, HttpError } from '../../http/errors.ts';
import { equal } from '../../storage/list/request.ts';
import { authoredPresenter, authorship, reviewRights } from '../authored/index.ts';
import { byId, crudEndpoints, foundById } from '../crud/index.ts';
import { listEndpoint } from '../crud/list.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ProductStore } from '../products/store.ts';
import * as schema from './schema.ts';
import { type ReviewStore, reviewOf, type StoredReview } from './store.ts';

const tag = 'Reviews';
const path = '/products/{id}/reviews';
const description =
  'Its author and administrators may; editors may delete any review. The product’s rating follows.';
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
  const read = allow.everyone('reviews:read');
  const presenter = authoredPresenter<StoredReview>({
    collection: 'reviews',
    rights: reviewRights,
    representationOf: reviewOf,
    accountOf: row => row.user_id,
    ownerOf: row => row.user_id,
    relatedTo: row => ({ product: `products/${row.product_id}` }),
    linksInJson: false,
  });
  const crud = crudEndpoints(database, {
    name: 'review',
    path: '/reviews/{id}',
    params: byId,
    tag,
    read,
    write: allow.everyone('reviews:write'),
    schema: schema.review,
    hal: schema.reviewHal,
    replace: { schema: schema.replaceReview, example },
    patch: { schema: schema.patchReview, example: { rating: 4 } },
    readOnly: ['id', 'productId', 'author', 'createdAt', 'updatedAt'],
    presenter,
    permit: presenter.permit,
    rows: { ...reviews, ...foundById('review', reviews) },
  });
  const listed = {
    tag,
    access: read,
    page: schema.reviewPage,
    name: 'reviews',
    list: reviews.list,
    sortColumns: schema.sortColumns,
    textsOf: presenter.textsOf,
  };

  return [
    listEndpoint(paginator, {
      ...listed,
      path,
      params: byId,
      operationId: 'listReviews',
      summary: 'List the reviews of a product',
      errors: ['NOT_FOUND'],
      query: schema.listReviews,
      async requested({ params: { id }, query }) {
        found('product', id, await products.find(database.read, id));
        return { query, conditions: equal({ product_id: id }) };
      },
    }),
    crud.create({
      path,
      params: byId,
      summary: 'Review a product',
      description: 'One review per user and product, by the user who is signed in: no API key can write one.',
      access: allow.everyone(),
      body: { schema: schema.createReview, example },
      errors: ['NOT_FOUND', 'DUPLICATE'],
      async insert(session, { params: { id }, caller, body, cause }) {
        const author = await authorOf(session, caller);
        const product = found('product', id, await reviews.lockProduct(session, id));
        if (await reviews.exists(session, id, author.id)) throw alreadyReviewed();
        return reviews.insert(session, product, author, schema.replaceReview.parse(body), cause());
      },
    }),
    listEndpoint(paginator, {
      ...listed,
      path: '/reviews',
      operationId: 'listAllReviews',
      summary: 'List the reviews of all products',
      query: schema.listAllReviews,
      requested({ query }) {
        const { productId, author, rating } = query;
        return { query, conditions: equal({ product_id: productId, user_id: author, rating }) };
      },
    }),
    crud.get(),
    crud.put({ description }),
    crud.patch({ description }),
    crud.remove({ description }),
  ];
}
