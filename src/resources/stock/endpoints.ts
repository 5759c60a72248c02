/** Stock adjustments over HTTP: making and listing them. */
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint, type RequestUrl } from '../../http/endpoint.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { isHal, toHal } from '../../http/hal/index.ts';
import { replyOk } from '../../http/response/reply.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { createListEndpoint } from '../crud/list.ts';
import type { Dependencies } from '../dependencies.ts';
import { maxWritten, refuseLongTexts, refuseManyBytes } from '../products/rules.ts';
import { apply, findStockItem } from './apply.ts';
import type { StockLocks } from './locked.ts';
import * as schema from './schema.ts';
import { type AdjustmentStore, type StoredAdjustment, toAdjustment } from './store.ts';

const tag = 'Stock';
const path = '/stock/adjustments';

interface StockStores {
  readonly adjustments: AdjustmentStore;
  readonly stock: StockLocks;
}

export function createStockEndpoints(
  { paginator }: Dependencies,
  { adjustments, stock }: StockStores,
): Endpoint[] {
  return [
    createEndpoint({
      method: 'POST',
      path,
      operationId: 'adjustStock',
      summary: 'Adjust stock',
      description: `Adds to or subtracts from the pieces on hand of products and variants, in up to 500 lines: all or none. Each line names a product by productId, a variant by variantId, or either by sku. The products may have ${maxWritten.toLocaleString('en')} characters of text in total. Do not adjust stock for orders: it is subtracted when they are paid.`,
      tag,
      access: allow.staff('products:write'),
      body: {
        kind: 'json',
        schema: schema.adjustStock,
        example: { adjustments: [{ productId: 2, delta: 12, reason: 'delivery 4711' }] },
      },
      responses: { 200: { description: 'The stock of each after the adjustment.', schema: schema.adjusted } },
      errors: ['ADJUSTMENT_REFUSED'],
      handle({ body, write, cause }) {
        return write(async session => {
          const lines = body.adjustments;
          const known = {
            bySku: await adjustments.itemsBySku(
              session,
              lines.flatMap(({ sku }) => sku ?? []),
            ),
            byVariant: await adjustments.itemsByVariant(
              session,
              lines.flatMap(({ variantId }) => variantId ?? []),
            ),
          };
          const items = lines.map(line => findStockItem(line, known));
          const locked = await stock.lock(
            session,
            items.filter(item => item !== undefined),
            bytes => refuseManyBytes('adjustments', bytes),
          );
          refuseLongTexts('adjustments', locked.characters);
          const { actor, at } = cause();
          const made = apply(lines, items, locked).map(one => ({ ...one, actor, created_at: at }));
          await locked.save(session, cause());
          const stored = await adjustments.insert(session, made);
          return replyOk({ data: stored.map(toAdjustment) });
        });
      },
    }),
    createListEndpoint(paginator, {
      path,
      operationId: 'listStockAdjustments',
      summary: 'List stock adjustments',
      tag,
      // A key with `products:read` may be a storefront's: it must not see who adjusted stock, and why.
      access: allow.staff('products:write'),
      query: schema.listAdjustments,
      page: schema.adjustmentPage,
      name: 'stock adjustments',
      items: 'adjustments',
      relation: 'adjustments',
      list: adjustments.list,
      sortColumns: schema.sortColumns,
      requested({ query }) {
        const { productId, variantId } = query;
        return { query, conditions: createEqualConditions({ product_id: productId, variant_id: variantId }) };
      },
      textsOf:
        ({ url, mediaType }) =>
        row =>
          JSON.stringify(isHal(mediaType) ? toAdjustmentHal(url, row) : toAdjustment(row)),
    }),
  ];
}

function toAdjustmentHal(url: RequestUrl, row: StoredAdjustment): object {
  const adjustment = toAdjustment(row);
  const { productId, variantId } = adjustment;
  const variant =
    variantId === null
      ? {}
      : { variant: { href: buildAddress(url, 'products', productId, 'variants', variantId) } };
  return toHal(adjustment, { product: { href: buildAddress(url, 'products', productId) }, ...variant });
}
