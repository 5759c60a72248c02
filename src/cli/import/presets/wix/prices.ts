/** Reads the prices of Wix: variants cost a surcharge, and a discount applies to all of a product. */
import { toMajor, toMinor } from '../../../../money.ts';
import { getColumn } from '../cells.ts';
import { type Drafting, type Row, RowProblem } from '../preset.ts';
import { readAmountCell, requireOneCurrency } from '../prices.ts';

/** Removes what binary fractions add: 0.1 + 0.2 is 0.3. */
const toDecimal = (value: number): number => Number(value.toPrecision(15));

/** @param own the row of the product, with its price and discount */
export function readPrices(row: Row, own: Row, drafting: Drafting) {
  const price = readAmountCell(own, 'price', drafting);
  const surcharge = row === own ? undefined : readAmountCell(row, 'surcharge', drafting);
  const currency = requireOneCurrency([price?.currency, surcharge?.currency]);
  if (price === undefined && surcharge === undefined) return { price: undefined, currency };
  const regular = toDecimal((price?.value ?? 0) + (surcharge?.value ?? 0));
  const reduced = computeReduced(regular, own, currency?.code, drafting);
  return reduced < regular
    ? { price: reduced, compareAtPrice: regular, currency }
    : { price: regular, compareAtPrice: null, currency };
}

/** The price after the discount of a product, which is 0 for none, rounded to the minor unit. */
function computeReduced(regular: number, own: Row, currency: string | undefined, drafting: Drafting): number {
  const discount = readAmountCell(own, 'discount', drafting)?.value ?? 0;
  if (discount === 0) return regular;
  const mode = own.text('discountMode').toUpperCase();
  if (mode !== 'PERCENT' && mode !== 'AMOUNT')
    throw new RowProblem(own, getColumn(own, 'discountMode'), 'must be PERCENT or AMOUNT', mode);
  const left = mode === 'PERCENT' ? (regular * (100 - discount)) / 100 : regular - discount;
  const code = currency ?? drafting.cells.currency ?? '';
  return toMajor(Number(toMinor(toDecimal(Math.max(0, left)), code)), code);
}
