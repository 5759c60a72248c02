/** Applies adjustments to locked stock, line by line; all or none. */
import { buildErrorDetail, type ErrorDetail, HttpError } from '../../http/errors.ts';
import type { LockedStock, StockItem } from './locked.ts';
import { adjust, isCounted } from './quantities.ts';
import type { Line } from './schema.ts';
import type { NewAdjustment } from './store.ts';

/** An adjustment without its actor and time. */
type Applied = Omit<NewAdjustment, 'actor' | 'created_at'>;

/** Items by the sku or variant id that lines name. */
export interface StockItems {
  readonly bySku: ReadonlyMap<string, StockItem>;
  readonly byVariant: ReadonlyMap<number, StockItem>;
}

/** The item that a line names; undefined if it does not exist, or the variant belongs to another product. */
export function findStockItem(
  { productId, variantId, sku }: Line,
  { bySku, byVariant }: StockItems,
): StockItem | undefined {
  if (typeof sku === 'string') return bySku.get(sku);
  if (typeof variantId !== 'number') return typeof productId === 'number' ? { productId } : undefined;
  const item = byVariant.get(variantId);
  return typeof productId === 'number' && item?.productId !== productId ? undefined : item;
}

/**
 * Applies the lines to the locked stock.
 * @param items the items of the lines, in the same order
 * @throws HttpError 422 ADJUSTMENT_REFUSED naming each line that cannot be applied
 */
export function apply(
  lines: readonly Line[],
  items: readonly (StockItem | undefined)[],
  locked: LockedStock,
): Applied[] {
  const applied: Applied[] = [];
  const problems: ErrorDetail[] = [];
  lines.forEach((line, index) => {
    const result = applyOne(line, items[index], locked);
    if (!('rule' in result)) applied.push(result);
    else {
      const { member, rule, message } = result;
      problems.push(buildErrorDetail(['adjustments', index, member], rule, message));
    }
  });
  if (problems.length > 0) throw new HttpError('ADJUSTMENT_REFUSED', { details: problems });
  return applied;
}

interface Problem {
  readonly member: 'productId' | 'variantId' | 'sku' | 'delta';
  readonly rule: string;
  readonly message: string;
}

function applyOne(line: Line, item: StockItem | undefined, locked: LockedStock): Applied | Problem {
  const found = item === undefined ? undefined : locked.get(item);
  const member =
    typeof line.sku === 'string' ? 'sku' : typeof line.variantId === 'number' ? 'variantId' : 'productId';
  if (item === undefined || found === undefined) {
    const what = member === 'variantId' ? 'variant' : 'product';
    const message =
      member === 'variantId' && typeof line.productId === 'number'
        ? `product ${line.productId} has no variant ${line.variantId}`
        : `there is no ${what} with ${member} ${line[member]}`;
    return { member, rule: 'unknown', message };
  }
  const { product, variant, stock } = found;
  if (variant === undefined && product.variantCount > 0) {
    const message = `product ${product.id} has variants: adjust one of them`;
    return { member, rule: 'variants', message };
  }
  if (!isCounted(stock)) {
    const name = variant === undefined ? `product ${product.id}` : `variant ${variant.id}`;
    return { member, rule: 'untracked', message: `the stock of ${name} is not tracked` };
  }
  const after = adjust(stock, line.delta);
  if ('rule' in after) return { member: 'delta', ...after };
  locked.set(item, after);
  return {
    product_id: product.id,
    variant_id: variant?.id ?? null,
    sku: (variant ?? product).sku,
    delta: line.delta,
    reason: line.reason,
    on_hand: after.onHand,
    reserved: after.reserved,
  };
}
