/** What an order costs: the products as they are at this moment, in whole minor units. Pure. */
import { type ErrorDetail, HttpError } from '../../http/errors.ts';
import { largestAmount, toMinor } from '../../money.ts';
import type { Product } from '../products/schema.ts';
import type { NewOrder as OrderBody } from './schema.ts';
import type { NewItem } from './store.ts';

export interface Priced {
  readonly currency: string;
  readonly total: number;
  readonly items: readonly NewItem[];
}

/**
 * @param products those of the lines that exist, by id
 * @param defaultCurrency of products that name none
 * @throws HttpError 422 PRODUCT_UNAVAILABLE, MIXED_CURRENCIES or ORDER_TOO_LARGE, naming the lines
 */
export function priced(
  lines: OrderBody['items'],
  products: ReadonlyMap<number, Product>,
  defaultCurrency: string,
): Priced {
  const found = available(lines, products);
  const currency = commonCurrency(
    found.map(({ product }) => product),
    defaultCurrency,
  );
  const amounts = found.map(({ product, quantity }) => {
    const unitPrice = toMinor(product.price, currency);
    return { product, quantity, unitPrice, total: unitPrice * BigInt(quantity) };
  });
  const total = amounts.reduce((sum, line) => sum + line.total, 0n);
  // No part is larger than the total: each of them is a number that holds it exactly.
  if (total > BigInt(largestAmount)) throw new HttpError('ORDER_TOO_LARGE');
  const items = amounts.map(line => ({
    product_id: line.product.id,
    name: line.product.name,
    sku: line.product.sku,
    quantity: line.quantity,
    unit_price: Number(line.unitPrice),
    total: Number(line.total),
  }));
  return { currency, total: Number(total), items };
}

interface Line {
  readonly product: Product;
  readonly quantity: number;
}

function available(lines: OrderBody['items'], products: ReadonlyMap<number, Product>): Line[] {
  const found: Line[] = [];
  const missing: ErrorDetail[] = [];
  lines.forEach(({ productId, quantity }, index) => {
    const product = products.get(productId);
    if (product?.status === 'active') found.push({ product, quantity });
    else {
      const reason = product === undefined ? 'does not exist' : 'is archived';
      missing.push(detail(index, 'unavailable', `product ${productId} ${reason}`));
    }
  });
  if (missing.length > 0) throw new HttpError('PRODUCT_UNAVAILABLE', { details: missing });
  return found;
}

function commonCurrency(products: readonly Product[], defaultCurrency: string): string {
  const currencies = products.map(product => product.currency ?? defaultCurrency);
  const [first = defaultCurrency] = currencies;
  if (currencies.every(currency => currency === first)) return first;
  throw new HttpError('MIXED_CURRENCIES', {
    details: currencies.map((currency, index) => detail(index, 'currency', `is priced in ${currency}`)),
  });
}

function detail(index: number, code: string, message: string): ErrorDetail {
  return { field: `items.${index}.productId`, pointer: `#/items/${index}/productId`, code, message };
}
