/** Products over HTTP. */

import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { selfAddress, versionRoot } from '../../http/addresses.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { datedUnlessHal, hal, halCollection, isHal } from '../../http/hal.ts';
import { patched } from '../../http/patched.ts';
import { rememberedLists, rememberedResources } from '../../http/remembered.ts';
import { created, noContent, ok } from '../../http/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Condition } from '../../storage/list.ts';
import { type Asked, may } from '../asked.ts';
import type { ReviewStore } from '../reviews/store.ts';
import type { Services } from '../services.ts';
import { productJson, productOf, type StoredProduct } from './row.ts';
import * as schema from './schema.ts';
import type { ProductStore } from './store.ts';

const tag = 'Products';
const path = '/products';
const params = z.object({ id: identifier() });
const readOnly = ['id', 'createdAt', 'updatedAt', 'rating'];

export function productEndpoints(
  { database, config, paginator }: Services,
  { products: store, reviews }: { products: ProductStore; reviews: Pick<ReviewStore, 'removeAllOn'> },
): Endpoint[] {
  const found = (row: StoredProduct | undefined, id: number): StoredProduct => {
    if (row === undefined)
      throw new HttpError('NOT_FOUND', { message: `There is no product ${id || 'with this id'}.` });
    return row;
  };
  const lists = rememberedLists(database, store.list.version);
  const singles = rememberedResources(database, store.list.version, async id => {
    const row = found(await store.find(database.read, id), id);
    return { body: productJson(row), lastModified: row.updated_at };
  });
  /** What a GET of the product's address answers to this caller and Accept. */
  const bodyOf = (asked: Asked, row: StoredProduct) =>
    isHal(asked.mediaType) ? JSON.stringify(productHal(asked, row)) : productJson(row);
  const show = (asked: Asked, row: StoredProduct) =>
    ok(bodyOf(asked, row), datedUnlessHal(asked.mediaType, row.updated_at));
  const one = { description: 'The product as it is now.', schema: schema.product, hal: schema.productHal };

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listProducts',
      summary: 'List products',
      tag,
      access: allow.everyone('products:read'),
      query: schema.listProducts,
      responses: {
        200: { description: 'One page of products.', schema: schema.productList, hal: schema.productListHal },
      },
      errors: ['INVALID_CURSOR'],
      handle(asked) {
        const { query, url } = asked;
        // Made anew each time: what is remembered is the same for all callers.
        if (isHal(asked.mediaType)) return halPage(asked, query);
        return lists.answer(`${url.base}${url.path}?${url.search}`, async () => {
          const request = paginator.request(query, conditionsOf(query), schema.sortColumns, 'products');
          return paginator.envelope(await store.list(request), request, 'products', url, productJson);
        });
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createProduct',
      summary: 'Create a product',
      tag,
      access: allow.staff('products:write'),
      body: { kind: 'json', schema: schema.createProduct, example: schema.productBodyExample },
      responses: { 201: { ...one, description: 'The product was created.' } },
      errors: ['DUPLICATE'],
      handle(asked) {
        const { body, url, cause } = asked;
        const fields = schema.completeFields(body, config.DEFAULT_CURRENCY);
        return asked.write(async session => {
          const row = await store.insert(session, fields, cause());
          const location = `${url.base}${url.path}/${row.id}`;
          return created(location, bodyOf(asked, row), datedUnlessHal(asked.mediaType, row.updated_at));
        });
      },
    }),
    endpoint({
      method: 'PATCH',
      path,
      operationId: 'bulkPatchProducts',
      summary: 'Change many products at once',
      description: 'All or none. Ids that do not exist are skipped and not counted.',
      tag,
      access: allow.staff('products:write'),
      body: {
        kind: 'json',
        schema: schema.bulkPatch,
        example: { ids: [1, 2, 3], update: { status: 'archived' } },
      },
      responses: {
        200: {
          description: 'How many products were changed.',
          schema: schema.bulkResult,
          example: { updated: 3 },
        },
      },
      errors: ['DUPLICATE'],
      handle({ body, write, cause }) {
        return write(async session => {
          const rows = await store.lockMany(session, body.ids);
          const changes = rows.map(before => ({
            before,
            fields: patched(
              productOf(before),
              { kind: 'partial', changes: body.update },
              schema.replaceProduct,
              readOnly,
            ),
          }));
          const stored = await store.update(session, changes, cause());
          return ok({ updated: stored.length });
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getProduct',
      summary: 'Read a product',
      tag,
      access: allow.everyone('products:read'),
      params,
      responses: { 200: { ...one, description: 'The product.' } },
      errors: ['NOT_FOUND'],
      handle(asked) {
        const { id } = asked.params;
        return isHal(asked.mediaType) ? halOne(asked, id) : singles.answer(id);
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: 'replaceProduct',
      summary: 'Replace a product',
      description: 'Fields that are left out become null, tags empty and status active.',
      tag,
      access: allow.staff('products:write'),
      params,
      body: { kind: 'json', schema: schema.replaceProduct, example: schema.productBodyExample },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'DUPLICATE', 'PRECONDITION_FAILED'],
      handle(asked) {
        const { params, body, precondition, cause } = asked;
        const { id } = params;
        return asked.write(async session => {
          const before = found(await store.lock(session, id), id);
          precondition(bodyOf(asked, before), before.updated_at);
          return showOnly(asked, await store.update(session, [{ before, fields: body }], cause()));
        });
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${path}/{id}`,
      operationId: 'patchProduct',
      summary: 'Change fields of a product',
      tag,
      access: allow.staff('products:write'),
      params,
      body: { kind: 'patch', schema: schema.patchProduct, example: { price: 69.9 } },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'DUPLICATE', 'PRECONDITION_FAILED'],
      handle(asked) {
        const { params, body, precondition, cause } = asked;
        const { id } = params;
        return asked.write(async session => {
          const before = found(await store.lock(session, id), id);
          precondition(bodyOf(asked, before), before.updated_at);
          const fields = patched(productOf(before), body, schema.replaceProduct, readOnly);
          return showOnly(asked, await store.update(session, [{ before, fields }], cause()));
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'deleteProduct',
      summary: 'Delete a product',
      tag,
      access: allow.staff('products:write'),
      params,
      // HAL is offered though nothing is answered: If-Match may name the tag of what a GET has shown as HAL.
      responses: { 204: { description: 'The product is gone.', hal: schema.productHal } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle(asked) {
        const { params, precondition, cause } = asked;
        const { id } = params;
        return asked.write(async session => {
          const before = found(await store.lock(session, id), id);
          precondition(bodyOf(asked, before), before.updated_at);
          await reviews.removeAllOn(session, before.id, cause());
          await store.remove(session, before, cause());
          return noContent();
        });
      },
    }),
  ];

  async function halPage(asked: Asked, query: z.output<typeof schema.listProducts>) {
    const request = paginator.request(query, conditionsOf(query), schema.sortColumns, 'products');
    const listed = await store.list(request);
    const envelope = paginator.envelope(listed, request, 'products', asked.url, row => bodyOf(asked, row));
    return ok(halCollection(envelope, 'products', selfAddress(asked.url)));
  }

  async function halOne(asked: Asked, id: number) {
    return show(asked, found(await store.find(database.read, id), id));
  }

  function showOnly(asked: Asked, [row]: readonly StoredProduct[]) {
    if (row === undefined) throw new Error('an update of one product gave none');
    return show(asked, row);
  }
}

function productHal({ url, caller }: Asked, row: StoredProduct): object {
  const href = `${versionRoot(url)}${path}/${row.id}`;
  const mayWrite = may(caller, ['admin', 'editor'], 'products:write');
  return hal(productOf(row), {
    self: { href },
    reviews: { href: `${href}/reviews` },
    ...(mayWrite ? { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } } : {}),
  });
}

function conditionsOf(query: z.output<typeof schema.listProducts>): Condition[] {
  const { category, status, sku, tag, minPrice, maxPrice } = query;
  const conditions: Condition[] = [];
  if (category !== undefined) conditions.push({ column: 'category', operator: '=', value: category });
  if (status !== undefined)
    conditions.push({ column: 'status', operator: '=', value: status, literal: true });
  if (sku !== undefined) conditions.push({ column: 'sku', operator: '=', value: sku });
  if (tag !== undefined) {
    const through = { table: 'product_tags', key: 'product_id' } as const;
    conditions.push({ column: 'tag', operator: '=', value: tag, through });
  }
  if (minPrice !== undefined) conditions.push({ column: 'price', operator: '>=', value: minPrice });
  if (maxPrice !== undefined) conditions.push({ column: 'price', operator: '<=', value: maxPrice });
  return conditions;
}
