/** Stock adjustments over HTTP: making and listing them. */
import { isDeepStrictEqual } from 'node:util';
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint, type RequestUrl } from '../../http/endpoint.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { isHal, toHal } from '../../http/hal/index.ts';
import { replyOk } from '../../http/response/reply.ts';
import type { Session } from '../../storage/database.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { createListEndpoint } from '../crud/list.ts';
import { maxWritten, refuseLongTexts, refuseManyBytes } from '../products/rules.ts';
import type { Stores } from '../stores.ts';
import { apply, findStockItem } from './apply.ts';
import type { LockedStock, Stocked, StockItem } from './locked.ts';
import * as schema from './schema.ts';
import { type StoredAdjustment, toAdjustment } from './store.ts';

const tag = 'Stock';
const path = '/stock/adjustments';

interface LockedItems {
  /** The items of the lines, in the same order; undefined for one that does not exist. */
  readonly items: readonly (StockItem | undefined)[];
  readonly locked: LockedStock;
}

export function createStockEndpoints({ paginator, adjustments, stock }: Stores): Endpoint[] {
  async function findItems(session: Session, lines: readonly schema.Line[]) {
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
    return lines.map(line => findStockItem(line, known));
  }

  /** Locks what the lines name. A sku may go to another item while the transaction waits for a lock. */
  async function lockItems(
    session: Session,
    lines: readonly schema.Line[],
    items: LockedItems['items'],
  ): Promise<LockedItems> {
    const locked = await stock.lock(
      session,
      items.filter(item => item !== undefined),
      bytes => refuseManyBytes('adjustments', bytes),
    );
    const mayHaveMoved = items.some(
      (item, index) => item !== undefined && !hasSku(lines[index], locked.get(item)),
    );
    if (!mayHaveMoved) return { items, locked };
    const found = await findItems(session, lines);
    // After a change by hand, a row may be found by another sku than its document has.
    return isDeepStrictEqual(found, items) ? { items, locked } : lockItems(session, lines, found);
  }

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
          const { items, locked } = await lockItems(session, lines, await findItems(session, lines));
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

/** Whether a locked item has the sku by which a line names it, if it does. */
const hasSku = (line: schema.Line | undefined, found: Stocked | undefined): boolean =>
  typeof line?.sku !== 'string' || (found?.variant ?? found?.product)?.sku === line.sku;

function toAdjustmentHal(url: RequestUrl, row: StoredAdjustment): object {
  const adjustment = toAdjustment(row);
  const { productId, variantId } = adjustment;
  const variant =
    variantId === null
      ? {}
      : { variant: { href: buildAddress(url, 'products', productId, 'variants', variantId) } };
  return toHal(adjustment, { product: { href: buildAddress(url, 'products', productId) }, ...variant });
}
