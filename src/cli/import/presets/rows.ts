/** Combines the rows of one product: columns with one value for the product are repeated in each row. */
import type { AttributeSet } from './attributes.ts';
import { getColumn } from './cells.ts';
import type { Row } from './preset.ts';

/** The first row, with its empty cells filled from the rows after it. */
export const foldRows = (first: Row, others: readonly Row[]): Row => ({
  ...first,
  text: name => first.text(name) || (others.find(row => row.text(name) !== '')?.text(name) ?? ''),
  cell: column => first.cell(column) || (others.find(row => row.cell(column) !== '')?.cell(column) ?? ''),
});

/** Of rows with the same key, as in concatenated exports, only the last. @param onRepeated called for each other row */
export function keepLast(rows: readonly Row[], toKey: (row: Row) => string, onRepeated: () => void): Row[] {
  const kept = new Map(rows.map(row => [toKey(row), row]));
  for (let left = kept.size; left < rows.length; left += 1) onRepeated();
  return [...kept.values()];
}

/** The distinct texts, without the one that is used elsewhere. */
const findOthers = (texts: readonly string[], taken: string): string[] =>
  [...new Set(texts)].filter(text => text !== taken);

/**
 * The product's description, or its short description, or the first description of its variants. The others are kept
 * as attributes.
 * @param names the names of these attributes
 */
export function readDescription(
  [own, ...variants]: readonly [Row, ...Row[]],
  attributes: AttributeSet,
  names: readonly [descriptions: string, shorts: string],
  read = (text: string): string => text,
): string {
  const description =
    own.text('description') || own.text('short') || foldRows(own, variants).text('description');
  for (const [index, column] of (['description', 'short'] as const).entries()) {
    const texts = findOthers(
      [own, ...variants].map(row => row.text(column)),
      description,
    );
    attributes.addAsItIs(names[index] ?? column, texts.map(read));
  }
  return read(description);
}

/**
 * Keeps as attributes the values of these columns that differ from the first one.
 * @param split splits columns that hold lists: a list whose items are all in the first list is not kept
 */
export function keepOthers(
  attributes: AttributeSet,
  rows: readonly Row[],
  names: readonly string[],
  split = (text: string): readonly string[] => [text],
): void {
  const [first, ...others] = rows;
  if (first === undefined) return;
  const product = foldRows(first, others);
  for (const name of names) {
    const own = product.text(name);
    const had = new Set(split(own));
    const texts = others.map(row => row.text(name)).filter(text => !split(text).every(one => had.has(one)));
    attributes.add(getColumn(first, name), findOthers(texts, own));
  }
}

/** The value that all non-empty rows agree on. If they differ, returns undefined and keeps all values as attributes. */
export function readAgreed(rows: readonly Row[], name: string, attributes: AttributeSet): string | undefined {
  const [first] = rows;
  const texts = [...new Set(rows.map(row => row.text(name)))].filter(text => text !== '');
  if (first === undefined || texts.length < 2) return texts[0];
  attributes.addCodes(getColumn(first, name), texts);
  return undefined;
}
