/**
 * The price of an order, at the current prices. Prices have any number of decimals; the amount of a line, and the
 * total, are whole minor units (docs/decisions/0040). Pure.
 */
import { buildErrorDetail, type ErrorDetail, HttpError } from '../../http/errors.ts';
import { computeAmount, maxAmount, toMajor, toMinor } from '../../money.ts';
import type { Product } from '../products/schema.ts';
import type { Variant } from '../variants/schema.ts';
import type { NewOrder as OrderBody } from './schema.ts';
import type { NewItem } from './store.ts';

/** The product and variant that a line of an order names, if they exist. */
export interface OrderedProduct {
  readonly product: Product | undefined;
  /** The product's own price, for variants without one. */
  readonly basePrice: number;
  /** Also undefined for a variant of another product. */
  readonly variant: Variant | undefined;
}

/**
 * @param named the products and variants of the lines, in the same order
 * @param defaultCurrency the currency of products without one
 * @throws HttpError 422 PRODUCT_UNAVAILABLE, MIXED_CURRENCIES or ORDER_TOO_LARGE, naming the lines
 */
export function priceLines(
  lines: OrderBody['items'],
  named: readonly OrderedProduct[],
  defaultCurrency: string,
) {
  const found = requireOrderable(lines, named);
  const currency = requireCommonCurrency(
    found.map(({ product }) => product),
    defaultCurrency,
  );
  const amounts = found.map(line => ({ ...line, total: computeAmount(line.price, line.quantity, currency) }));
  const total = amounts.reduce((sum, line) => sum + line.total, 0n);
  // No line exceeds the total, so a number holds each amount exactly.
  if (total > BigInt(maxAmount)) throw new HttpError('ORDER_TOO_LARGE');
  const items = amounts.map(
    ({ product, variant, quantity, price, total }): NewItem => ({
      product_id: product.id,
      variant_id: variant?.id ?? null,
      name: product.name,
      sku: variant === undefined ? product.sku : variant.sku,
      options: variant === undefined ? null : JSON.stringify(variant.options),
      quantity,
      ...toStoredPrice(price, currency),
      total: Number(total),
    }),
  );
  return { currency, total: Number(total), items };
}

/** @param price the unit price; in minor units no larger than the largest amount */
function toStoredPrice(price: number, currency: string): Pick<NewItem, 'unit_price' | 'exact_price'> {
  const unitPrice = Number(toMinor(price, currency));
  const isWhole = toMajor(unitPrice, currency) === price;
  return { unit_price: unitPrice, exact_price: isWhole ? null : String(price) };
}

interface Line {
  readonly product: Product;
  readonly variant: Variant | undefined;
  readonly price: number;
  readonly quantity: number;
}

/** @throws HttpError 422 PRODUCT_UNAVAILABLE naming each line that cannot be ordered */
function requireOrderable(lines: OrderBody['items'], named: readonly OrderedProduct[]): Line[] {
  const found: Line[] = [];
  const missing: ErrorDetail[] = [];
  lines.forEach(({ productId, variantId, quantity }, index) => {
    const { product, variant, basePrice } = named[index] ?? {};
    const refuse = (member: 'productId' | 'variantId', code: string, message: string) =>
      void missing.push(buildErrorDetail(['items', index, member], code, message));
    if (product === undefined) refuse('productId', 'unavailable', `product ${productId} does not exist`);
    else if (product.status !== 'active')
      refuse('productId', 'unavailable', `product ${productId} is archived`);
    else if (variantId != null && variant === undefined)
      refuse('variantId', 'unknown', `product ${productId} has no variant ${variantId}`);
    else if (variant === undefined && product.variantCount > 0)
      refuse('variantId', 'required', `is required: product ${productId} has variants`);
    else found.push({ product, variant, price: variant?.price ?? basePrice ?? product.price, quantity });
  });
  if (missing.length > 0) throw new HttpError('PRODUCT_UNAVAILABLE', { details: missing });
  return found;
}

function requireCommonCurrency(products: readonly Product[], defaultCurrency: string): string {
  const currencies = products.map(product => product.currency ?? defaultCurrency);
  const [first = defaultCurrency] = currencies;
  if (currencies.every(currency => currency === first)) return first;
  throw new HttpError('MIXED_CURRENCIES', {
    details: currencies.map((currency, index) =>
      buildErrorDetail(['items', index, 'productId'], 'currency', `is priced in ${currency}`),
    ),
  });
}
