/** What the rows of one product say together: columns with one value for the product are repeated in each row. */
import type { AttributeSet } from './attributes.ts';
import { getColumn } from './cells.ts';
import type { Row } from './preset.ts';

/** The first row, with the cells that it leaves empty as the rows after it have them. */
export const foldRows = (first: Row, others: readonly Row[]): Row => ({
  ...first,
  text: name => first.text(name) || (others.find(row => row.text(name) !== '')?.text(name) ?? ''),
  cell: column => first.cell(column) || (others.find(row => row.cell(column) !== '')?.cell(column) ?? ''),
});

/** The texts that are not taken elsewhere, each once. */
const findOthers = (texts: readonly string[], taken: string): string[] =>
  [...new Set(texts)].filter(text => text !== taken);

/**
 * The product's own description, else its short one, else the first of its variants. The others are kept as attributes.
 * @param names of these attributes: of descriptions and of short ones
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
 * Keeps as attributes what rows say of these columns beside the first that says something.
 * @param split of columns with lists: one whose items are all in the first list says nothing more
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

/** What all rows that say something agree on; where they do not, each has its own, and all are kept as attributes. */
export function readAgreed(rows: readonly Row[], name: string, attributes: AttributeSet): string | undefined {
  const [first] = rows;
  const texts = [...new Set(rows.map(row => row.text(name)))].filter(text => text !== '');
  if (first === undefined || texts.length < 2) return texts[0];
  attributes.addCodes(getColumn(first, name), texts);
  return undefined;
}
