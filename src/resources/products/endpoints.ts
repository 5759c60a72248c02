/** Products over HTTP. */

import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { cachedResources } from '../../http/cache/index.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { versionRoot } from '../../http/hal/addresses.ts';
import { datedUnlessHal, hal, isHal } from '../../http/hal/index.ts';
import { patched } from '../../http/patch/index.ts';
import { created, noContent, ok } from '../../http/response/reply.ts';
import { bulkResult, identifier } from '../../http/schema.ts';
import { slices } from '../../slices.ts';
import type { Session } from '../../storage/database.ts';
import type { ProductFacets } from '../attributes/facets.ts';
import { attributeFits } from '../attributes/fit.ts';
import type { DefinitionStore } from '../attributes/store.ts';
import { may, type RequestContext } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ReviewStore } from '../reviews/store.ts';
import type { VariantStore } from '../variants/store.ts';
import { productLists } from './list.ts';
import { withWholeStock } from './members/stock.ts';
import { productJson, productOf, type StoredProduct } from './row.ts';
import { optionInUse, refuseImpossible, removedValues } from './rules.ts';
import * as schema from './schema.ts';
import type { ProductChange, ProductStore } from './store.ts';

const tag = 'Products';
const path = '/products';
const params = z.object({ id: identifier() });
const readOnly = ['id', 'createdAt', 'updatedAt', 'rating', 'variantCount', 'priceRange', 'available'];

export interface ProductParts {
  readonly products: ProductStore;
  readonly reviews: Pick<ReviewStore, 'removeAllOn'>;
  readonly definitions: DefinitionStore;
  readonly variants: Pick<VariantStore, 'removeAllOn' | 'usedOption' | 'productOfSku'>;
  readonly facets: ProductFacets;
}

export function productEndpoints(
  { database, config, paginator }: Dependencies,
  { products: store, reviews, definitions, variants, facets }: ProductParts,
): Endpoint[] {
  const found = <Row extends StoredProduct>(row: Row | undefined, id: number): Row => {
    if (row === undefined) throw notFound('product', id);
    return row;
  };
  const singles = cachedResources(database, store.rows, (stored, id) => {
    const row = found(stored, id);
    return { body: productJson(row), lastModified: row.updated_at };
  });
  /** What a GET of the product's address answers to this caller and Accept. */
  const bodyOf = (context: RequestContext, row: StoredProduct) =>
    isHal(context.mediaType) ? JSON.stringify(productHal(context, row)) : productJson(row);
  const show = (context: RequestContext, row: StoredProduct) =>
    ok(bodyOf(context, row), datedUnlessHal(context.mediaType, row.updated_at));
  const list = productLists(
    { database, paginator },
    { products: store, definitions, facets, variants },
    bodyOf,
  );
  const fits = attributeFits(definitions);
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
      handle: context => list(context, context.query),
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
      handle(context) {
        const { body, url, cause } = context;
        const fields = schema.completeFields(body, config.DEFAULT_CURRENCY);
        refuseImpossible(undefined, fields);
        return context.write(async session => {
          await fits(session)(fields);
          const row = await store.insert(session, fields, cause());
          const location = `${url.base}${url.path}/${row.id}`;
          return created(location, bodyOf(context, row), datedUnlessHal(context.mediaType, row.updated_at));
        }, []);
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
          schema: bulkResult,
          example: { updated: 3 },
        },
      },
      errors: ['DUPLICATE', 'OPTION_IN_USE'],
      handle({ body, write, cause }) {
        return write(async session => {
          const rows = await store.lockMany(session, body.ids);
          const patch = { kind: 'partial', changes: body.update } as const;
          const changes: ProductChange[] = [];
          const fit = fits(session);
          const { turn } = slices();
          for (const before of rows) {
            await turn();
            const old = productOf(before);
            const fields = patched(old, withWholeStock(old, patch), schema.replaceProduct, readOnly);
            await refuse(session, old, fields);
            await fit(fields, old);
            changes.push({ before, fields });
          }
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
      handle(context) {
        const { id } = context.params;
        return isHal(context.mediaType) ? halOne(context, id) : singles.answer(id);
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: 'replaceProduct',
      summary: 'Replace a product',
      description: 'Fields that are left out become null, lists and attributes empty and status active.',
      tag,
      access: allow.staff('products:write'),
      params,
      body: { kind: 'json', schema: schema.replaceProduct, example: schema.productBodyExample },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'DUPLICATE', 'OPTION_IN_USE', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, body, precondition, cause } = context;
        const { id } = params;
        return context.write(
          async session => {
            const before = found(await store.lock(session, id), id);
            precondition(bodyOf(context, before), before.updated_at);
            const old = productOf(before);
            await refuse(session, old, body);
            await fits(session)(body, old);
            return showOnly(context, await store.update(session, [{ before, fields: body }], cause()));
          },
          [`product ${id}`],
        );
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
      errors: ['NOT_FOUND', 'DUPLICATE', 'OPTION_IN_USE', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, body, precondition, cause } = context;
        const { id } = params;
        return context.write(
          async session => {
            const before = found(await store.lock(session, id), id);
            precondition(bodyOf(context, before), before.updated_at);
            const old = productOf(before);
            const fields = patched(old, withWholeStock(old, body), schema.replaceProduct, readOnly);
            await refuse(session, old, fields);
            await fits(session)(fields, old);
            return showOnly(context, await store.update(session, [{ before, fields }], cause()));
          },
          [`product ${id}`],
        );
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
      handle(context) {
        const { params, precondition, cause } = context;
        const { id } = params;
        return context.write(async session => {
          const before = found(await store.lock(session, id), id);
          precondition(bodyOf(context, before), before.updated_at);
          await reviews.removeAllOn(session, before.id, cause());
          await variants.removeAllOn(session, before.id, cause());
          await store.remove(session, before, cause());
          return noContent();
        });
      },
    }),
  ];

  /** @throws HttpError for what the product cannot become, or its variants do not allow */
  async function refuse(session: Session, before: schema.Product, fields: schema.ProductFields) {
    refuseImpossible(before, fields);
    const removed = removedValues(before, fields);
    if (removed.length === 0) return;
    const used = await variants.usedOption(session, before.id, removed);
    if (used !== undefined) throw optionInUse(used.name, used.value);
  }

  async function halOne(context: RequestContext, id: number) {
    return show(context, found(await store.find(database.read, id), id));
  }

  function showOnly(context: RequestContext, [row]: readonly StoredProduct[]) {
    if (row === undefined) throw new Error('an update of one product gave none');
    return show(context, row);
  }
}

function productHal({ url, caller }: RequestContext, row: StoredProduct): object {
  const href = `${versionRoot(url)}${path}/${row.id}`;
  const mayWrite = may(caller, ['admin', 'editor'], 'products:write');
  return hal(productOf(row), {
    self: { href },
    reviews: { href: `${href}/reviews` },
    variants: { href: `${href}/variants` },
    images: { href: `${href}/images` },
    ...(mayWrite ? { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } } : {}),
  });
}
