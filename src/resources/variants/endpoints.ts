/** Variants of products over HTTP. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint, type Input } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { datedUnlessHal, hal, halCollection, isHal } from '../../http/hal/index.ts';
import { patched } from '../../http/patch/index.ts';
import { created, noContent, ok } from '../../http/response/reply.ts';
import { bulkResult, identifier } from '../../http/schema.ts';
import { slices } from '../../slices.ts';
import type { Session } from '../../storage/database.ts';
import type { Condition } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import { comparableGtin } from '../products/members/gtin.ts';
import { withWholeStock } from '../products/members/stock.ts';
import { type LockedProduct, productOf } from '../products/row.ts';
import type { ProductStore } from '../products/store.ts';
import { type StoredVariant, variantJson, variantOf } from './row.ts';
import { refuseUnfit } from './rules.ts';
import * as schema from './schema.ts';
import type { VariantChange, VariantStore } from './store.ts';

const tag = 'Variants';
const path = '/products/{id}/variants';
const params = z.object({ id: identifier() });
const ofOne = z.object({ id: identifier(), variantId: identifier() });
const readOnly = ['id', 'productId', 'available', 'createdAt', 'updatedAt'];

/** A request that changes a variant. */
type Writing = Pick<
  Input<unknown, unknown, unknown>,
  'url' | 'caller' | 'mediaType' | 'precondition' | 'cause' | 'write'
>;

export function variantEndpoints(
  { database, paginator }: Dependencies,
  { products, variants: store }: { products: ProductStore; variants: VariantStore },
): Endpoint[] {
  async function lockProduct(session: Session, id: number): Promise<LockedProduct> {
    const row = await products.lock(session, id);
    if (row === undefined) throw notFound('product', id);
    return row;
  }
  /** A variant of a product; those of others are not there. */
  async function found({ id, variantId }: z.output<typeof ofOne>): Promise<StoredVariant> {
    const row = await store.find(database.read, variantId);
    if (row === undefined || variantOf(row).productId !== id) throw notFound('variant', variantId);
    return row;
  }
  async function lock(session: Session, { id, variantId }: z.output<typeof ofOne>) {
    const product = await lockProduct(session, id);
    const [before] = await store.lockMany(session, id, [variantId]);
    if (before === undefined) throw notFound('variant', variantId);
    return { product, before };
  }
  /** What a GET of the variant's address answers to this caller and Accept. */
  const bodyOf = (context: RequestContext, row: StoredVariant) =>
    isHal(context.mediaType) ? JSON.stringify(variantHal(context, row)) : variantJson(row);
  const show = (context: RequestContext, row: StoredVariant) =>
    ok(bodyOf(context, row), datedUnlessHal(context.mediaType, row.updated_at));
  const one = { description: 'The variant as it is now.', schema: schema.variant, hal: schema.variantHal };

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listVariants',
      summary: 'List the variants of a product',
      description: 'In their order, unless `sort` says otherwise.',
      tag,
      access: allow.everyone('products:read'),
      params,
      query: schema.listVariants,
      responses: {
        200: { description: 'One page of variants.', schema: schema.variantList, hal: schema.variantListHal },
      },
      errors: ['NOT_FOUND', 'INVALID_CURSOR'],
      async handle(context) {
        const { id } = context.params;
        const { query, url, mediaType } = context;
        if ((await products.find(database.read, id)) === undefined) throw notFound('product', id);
        const sorted = { ...query, sort: query.sort ?? 'position' };
        const name = `variants of ${id}`;
        const request = paginator.request(sorted, conditionsOf(id, query), schema.sortColumns, name);
        const listed = await store.list(request);
        const envelope = paginator.envelope(listed, request, name, url, row => bodyOf(context, row));
        return ok(isHal(mediaType) ? halCollection(envelope, 'variants', selfAddress(url)) : envelope);
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createVariant',
      summary: 'Create a variant',
      description:
        'The product’s `options` say what a variant may be: it has one value of each, and no two have the same. The ' +
        'product’s price, price range and availability follow its variants.',
      tag,
      access: allow.staff('products:write'),
      params,
      body: { kind: 'json', schema: schema.createVariant, example: schema.variantBodyExample },
      responses: { 201: { ...one, description: 'The variant was created.' } },
      errors: ['NOT_FOUND', 'DUPLICATE'],
      handle(context) {
        const { body, url, cause } = context;
        const { id } = context.params;
        const fields = schema.replaceVariant.parse(body);
        return context.write(
          async session => {
            const product = await lockProduct(session, id);
            refuseUnfit(productOf(product), undefined, fields);
            const [row] = await store.insert(session, product, [fields], cause());
            if (row === undefined) throw new Error('an insert of one variant gave none');
            const location = `${url.base}${url.path}/${row.id}`;
            return created(location, bodyOf(context, row), datedUnlessHal(context.mediaType, row.updated_at));
          },
          [`product ${id}`],
        );
      },
    }),
    endpoint({
      method: 'PATCH',
      path,
      operationId: 'bulkPatchVariants',
      summary: 'Change many variants of a product at once',
      description: 'All or none. Ids that are none of variants of this product are skipped and not counted.',
      tag,
      access: allow.staff('products:write'),
      params,
      body: {
        kind: 'json',
        schema: schema.bulkPatchVariants,
        example: { ids: [1, 2, 3], update: { price: 19.9 } },
      },
      responses: {
        200: {
          description: 'How many variants were changed.',
          schema: bulkResult,
          example: { updated: 3 },
        },
      },
      errors: ['NOT_FOUND', 'DUPLICATE'],
      handle({ params, body, write, cause }) {
        return write(async session => {
          const locked = await lockProduct(session, params.id);
          const product = productOf(locked);
          const patch = { kind: 'partial', changes: body.update } as const;
          const changes: VariantChange[] = [];
          const { turn } = slices();
          for (const before of await store.lockMany(session, params.id, body.ids)) {
            await turn();
            const old = variantOf(before);
            const fields = patched(old, withWholeStock(old, patch), schema.replaceVariant, readOnly);
            refuseUnfit(product, old, fields);
            changes.push({ before, fields });
          }
          const stored = await store.update(session, locked, changes, cause());
          return ok({ updated: stored.length });
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/{variantId}`,
      operationId: 'getVariant',
      summary: 'Read a variant',
      tag,
      access: allow.everyone('products:read'),
      params: ofOne,
      responses: { 200: { ...one, description: 'The variant.' } },
      errors: ['NOT_FOUND'],
      async handle(context) {
        return show(context, await found(context.params));
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/{variantId}`,
      operationId: 'replaceVariant',
      summary: 'Replace a variant',
      description: 'Fields that are left out become null; its place stays.',
      tag,
      access: allow.staff('products:write'),
      params: ofOne,
      body: { kind: 'json', schema: schema.replaceVariant, example: schema.variantBodyExample },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'DUPLICATE', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, body } = context;
        return change(context, params, () => body);
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${path}/{variantId}`,
      operationId: 'patchVariant',
      summary: 'Change fields of a variant',
      tag,
      access: allow.staff('products:write'),
      params: ofOne,
      body: { kind: 'patch', schema: schema.patchVariant, example: { price: 19.9 } },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'DUPLICATE', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, body } = context;
        return change(context, params, before =>
          patched(before, withWholeStock(before, body), schema.replaceVariant, readOnly),
        );
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{variantId}`,
      operationId: 'deleteVariant',
      summary: 'Delete a variant',
      description: 'A product whose last variant is gone has its own price again.',
      tag,
      access: allow.staff('products:write'),
      params: ofOne,
      // HAL is offered though nothing is answered: If-Match may name the tag of what a GET has shown as HAL.
      responses: { 204: { description: 'The variant is gone.', hal: schema.variantHal } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, precondition, cause } = context;
        return context.write(async session => {
          const { product, before } = await lock(session, params);
          precondition(bodyOf(context, before), before.updated_at);
          await store.remove(session, product, before, cause());
          return noContent();
        });
      },
    }),
  ];

  function change(
    context: Writing,
    params: z.output<typeof ofOne>,
    fieldsOf: (before: schema.Variant) => schema.VariantFields,
  ) {
    const { precondition, cause } = context;
    return context.write(
      async session => {
        const { product, before } = await lock(session, params);
        precondition(bodyOf(context, before), before.updated_at);
        const old = variantOf(before);
        const fields = fieldsOf(old);
        refuseUnfit(productOf(product), old, fields);
        const [row] = await store.update(session, product, [{ before, fields }], cause());
        if (row === undefined) throw new Error('an update of one variant gave none');
        return show(context, row);
      },
      [`product ${params.id}`],
    );
  }
}

function variantHal({ url, caller }: RequestContext, row: StoredVariant): object {
  const variant = variantOf(row);
  const product = `${versionRoot(url)}/products/${variant.productId}`;
  const href = `${product}/variants/${row.id}`;
  const mayWrite = may(caller, ['admin', 'editor'], 'products:write');
  return hal(variant, {
    self: { href },
    product: { href: product },
    ...(mayWrite ? { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } } : {}),
  });
}

function conditionsOf(
  productId: number,
  { sku, gtin, available }: z.output<typeof schema.listVariants>,
): Condition[] {
  const conditions: Condition[] = [{ column: 'product_id', operator: '=', value: productId }];
  if (sku !== undefined) conditions.push({ column: 'sku', operator: '=', value: sku });
  if (gtin !== undefined) conditions.push({ column: 'gtin', operator: '=', value: comparableGtin(gtin) });
  if (available !== undefined) {
    conditions.push({
      column: 'available',
      operator: '=',
      value: available === 'true' ? 1 : 0,
      literal: true,
    });
  }
  return conditions;
}
