/** Reads amounts in shops' files, with their currencies, and chooses between the regular price and that of a sale. */
import { readAmount } from '../../../files/cells/amount.ts';
import type { AttributeSet } from './attributes.ts';
import { getColumn } from './cells.ts';
import { isSaleOn, type Period } from './dates.ts';
import { type Drafting, type NamedCurrency, type Row, RowProblem } from './preset.ts';

/** An amount and the currency beside it; undefined when the cell is empty. @throws RowProblem */
export function readAmountCell(row: Row, name: string, { cells }: Drafting) {
  const text = row.text(name);
  if (text === '') return undefined;
  const column = getColumn(row, name);
  const read = readAmount(text, cells);
  if (typeof read === 'string') throw new RowProblem(row, column, read, text);
  if (read.value < 0) throw new RowProblem(row, column, 'must be 0 or more', text);
  const { value, currency: code, choices } = read;
  const currency: NamedCurrency | undefined =
    code === undefined ? undefined : { code, choices, line: row.line, column, text };
  return { value, currency };
}

/** The currency of all amounts, since a product has only one. @throws RowProblem if two amounts differ in it */
export function requireOneCurrency(all: readonly (NamedCurrency | undefined)[]): NamedCurrency | undefined {
  const named = all.filter(one => one !== undefined);
  const [first] = named;
  for (const one of named) {
    if (first === undefined || one.code === first.code) continue;
    throw new RowProblem(one, one.column, `is in ${one.code}, the price in ${first.code}`, one.text);
  }
  return first;
}

/** The columns of the regular price and the sale price, and the dates of the sale; either date may be empty. */
interface Sale extends Period {
  readonly regular: string;
  readonly sale: string;
}

/** The dates of a sale in two columns, which are also kept as attributes. */
export function readSaleDates(
  row: Row,
  columns: Pick<Sale, 'from' | 'to'>,
  attributes: AttributeSet,
): Pick<Sale, 'from' | 'to'> {
  const [from, to] = [row.text(columns.from), row.text(columns.to)];
  attributes.add(getColumn(row, columns.from), from);
  attributes.add(getColumn(row, columns.to), to);
  return { from, to };
}

/** The current price, and during a sale the regular one. If the sale is not on, its price is kept as an attribute. */
export function readSalePrices(
  row: Row,
  { regular: regularName, sale: saleName, ...dates }: Sale,
  drafting: Drafting,
  attributes: AttributeSet,
) {
  const regular = readAmountCell(row, regularName, drafting);
  const sale = readAmountCell(row, saleName, drafting);
  const currency = requireOneCurrency([regular?.currency, sale?.currency]);
  const isLower = sale !== undefined && (regular === undefined || sale.value < regular.value);
  if (isLower && isSaleOn(dates, drafting))
    return { price: sale.value, compareAtPrice: regular?.value, currency };
  if (isLower) attributes.add(getColumn(row, saleName), row.text(saleName));
  // After a sale, the former price is removed.
  const compareAtPrice = row.columns.found.has(saleName) ? null : undefined;
  return { price: regular?.value, compareAtPrice, currency };
}
