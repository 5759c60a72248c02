/** Finds the rows of variants among those of a product: of rows that repeat a variant the last counts. */
import { type Drafting, type Row, RowProblem } from '../preset.ts';
import { optionNumbers, readOptionValues } from './options.ts';

export const getColumnOr = (row: Row, name: string, usual: string): string =>
  row.columns.found.get(name) ?? usual;

export const isVariantRow = (row: Row): boolean =>
  row.text('option1Value') !== '' || row.text('price') !== '';

/**
 * Removes repeated variants, as in concatenated exports: the last row counts.
 * @throws RowProblem for a different variant with the same options
 */
export function keepLastRows(rows: readonly Row[], { note }: Drafting): Row[] {
  const kept = new Map<string, Row>();
  for (const row of rows) {
    const values = readOptionValues(row);
    const before = kept.get(JSON.stringify(values));
    if (before !== undefined) {
      if (row.text('sku') !== before.text('sku')) {
        const shown = values.filter(value => value !== '').join(' / ');
        const problem = shown === '' ? missingValue : `is that of line ${before.line}, of another SKU`;
        throw new RowProblem(row, getColumnOr(row, 'option1Value', 'Option1 Value'), problem, shown);
      }
      note('rows that repeat a variant were left out: the last counts');
    }
    kept.set(JSON.stringify(values), row);
  }
  return [...kept.values()];
}

/** The rows that count for the product, and those that only fill their empty cells: a later row repeats their variant. */
export function splitRepeated(
  rows: readonly Row[],
  ofVariants: readonly Row[],
): [rows: Row[], repeated: Row[]] {
  const counting = new Set(ofVariants);
  const isRepeated = (row: Row): boolean => isVariantRow(row) && !counting.has(row);
  return [rows.filter(row => !isRepeated(row)), rows.filter(isRepeated)];
}

const missingValue = 'is required: the product has other variants, and each has a value of its own';

/** @throws RowProblem when a variant lacks a value for an option that others have */
export function requireValues(rows: readonly Row[]): void {
  const used = optionNumbers.filter(number => rows.some(row => row.text(`option${number}Value`) !== ''));
  for (const row of rows) {
    const missing = used.find(number => row.text(`option${number}Value`) === '');
    if (missing === undefined) continue;
    const name = `option${missing}Value`;
    throw new RowProblem(row, getColumnOr(row, name, `Option${missing} Value`), missingValue);
  }
}
