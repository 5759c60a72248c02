/** Stock adjustments over HTTP: making and listing them. */
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { hal, halCollection, isHal } from '../../http/hal/index.ts';
import { ok } from '../../http/response/reply.ts';
import type { Condition } from '../../storage/list/request.ts';
import type { Dependencies } from '../dependencies.ts';
import { apply, placeOf } from './apply.ts';
import type { StockLocks } from './locked.ts';
import * as schema from './schema.ts';
import { type AdjustmentStore, adjustmentOf, type StoredAdjustment } from './store.ts';

const tag = 'Stock';
const path = '/stock/adjustments';

interface StockStores {
  readonly adjustments: AdjustmentStore;
  readonly stock: StockLocks;
}

export function stockEndpoints({ paginator }: Dependencies, { adjustments, stock }: StockStores): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path,
      operationId: 'adjustStock',
      summary: 'Adjust stock',
      description:
        'Adds to what is on hand, or takes from it, of products and variants, 500 lines at most: all or none. What is sold through orders is not to be adjusted: it is taken when they are paid. Each line names a product by productId, a variant by variantId, or either by sku.',
      tag,
      access: allow.staff('products:write'),
      body: {
        kind: 'json',
        schema: schema.adjustStock,
        example: { adjustments: [{ productId: 1, delta: 12, reason: 'delivery 4711' }] },
      },
      responses: { 200: { description: 'What there is of each now.', schema: schema.adjusted } },
      errors: ['ADJUSTMENT_REFUSED'],
      handle({ body, write, cause }) {
        return write(async session => {
          const lines = body.adjustments;
          const known = {
            bySku: await adjustments.placesBySku(
              session,
              lines.flatMap(({ sku }) => sku ?? []),
            ),
            byVariant: await adjustments.placesById(
              session,
              lines.flatMap(({ variantId }) => variantId ?? []),
            ),
          };
          const places = lines.map(line => placeOf(line, known));
          const locked = await stock.lock(
            session,
            places.filter(place => place !== undefined),
          );
          const { actor, at } = cause();
          const made = apply(lines, places, locked).map(one => ({ ...one, actor, created_at: at }));
          await locked.save(session, cause());
          const stored = await adjustments.insert(session, made);
          return ok({ data: stored.map(adjustmentOf) });
        });
      },
    }),
    endpoint({
      method: 'GET',
      path,
      operationId: 'listStockAdjustments',
      summary: 'List stock adjustments',
      tag,
      access: allow.staff('products:read'),
      query: schema.listAdjustments,
      responses: {
        200: {
          description: 'One page of adjustments.',
          schema: schema.adjustmentList,
          hal: schema.adjustmentListHal,
        },
      },
      errors: ['INVALID_CURSOR'],
      async handle({ query, url, mediaType }) {
        const { productId, variantId } = query;
        const conditions: Condition[] = [];
        if (productId !== undefined)
          conditions.push({ column: 'product_id', operator: '=', value: productId });
        if (variantId !== undefined)
          conditions.push({ column: 'variant_id', operator: '=', value: variantId });
        const request = paginator.request(query, conditions, schema.sortColumns, 'stock adjustments');
        const listed = await adjustments.list(request);
        const envelope = paginator.envelope(listed, request, 'stock adjustments', url, row =>
          JSON.stringify(isHal(mediaType) ? adjustmentHal(versionRoot(url), row) : adjustmentOf(row)),
        );
        return ok(isHal(mediaType) ? halCollection(envelope, 'adjustments', selfAddress(url)) : envelope);
      },
    }),
  ];
}

/** @param root the address of the version */
function adjustmentHal(root: string, row: StoredAdjustment): object {
  const adjustment = adjustmentOf(row);
  const { productId, variantId } = adjustment;
  const product = `${root}/products/${productId}`;
  return hal(adjustment, {
    product: { href: product },
    ...(variantId === null ? {} : { variant: { href: `${product}/variants/${variantId}` } }),
  });
}
