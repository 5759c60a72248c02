/** Cells of shops' files: weights, stock, GTINs, tags, addresses of images. */
import { readAmount } from '../../../files/cells/amount.ts';
import { encodeSpaces, isAddress, splitAddresses, splitList, toPath } from '../../../files/cells/list.ts';
import { readWeight, type Weight, type WeightUnit } from '../../../files/cells/weight.ts';
import { isGtin } from '../../../resources/products/members/gtin.ts';
import { decodeEntities } from '../../../storage/search/text/html.ts';
import { type Drafting, type Row, RowProblem, type Stock, type Uncounted } from './preset.ts';

export const getColumn = (row: Row, name: string): string => row.columns.found.get(name) ?? name;

/** Text in which a shop has written characters as entities; HTML, which holds tags, stays as it is. */
export const decodePlainText = (text: string): string => (text.includes('<') ? text : decodeEntities(text));

/** @param unit of a number that names none */
export function readWeightCell(
  row: Row,
  name: string,
  unit: WeightUnit | undefined,
  { cells }: Drafting,
): Weight | undefined {
  const text = row.text(name);
  const read = readWeight(text, unit, cells);
  if (typeof read === 'string') throw new RowProblem(row, getColumn(row, name), read, text);
  return read;
}

/**
 * Pieces as a whole number; shops count below zero what they have sold beyond their stock.
 * @param isOut the shop says that there is none to be sold, which counts for more than a number
 */
export function readPiecesCell(
  row: Row,
  name: string,
  drafting: Drafting,
  isOut = false,
): number | undefined {
  const text = row.text(name);
  if (text === '') return undefined;
  const negative = text.startsWith('-');
  const read = readAmount(negative ? text.slice(1) : text, drafting.cells);
  if (typeof read === 'string') throw new RowProblem(row, getColumn(row, name), read, text);
  if (negative && read.value > 0) drafting.note('stock below 0 was taken as 0');
  if (isOut && !negative && read.value > 0) drafting.note('stock of what is out of stock was taken as 0');
  return negative || isOut ? 0 : Math.floor(read.value);
}

export const outOfStock: Stock = { tracked: true, onHand: 0, backorder: false };
export const uncounted: Uncounted = { tracked: false };

/** A GTIN without separators between its digits; undefined, and noted, when the text is not a GTIN. */
export function parseGtin(text: string, { note }: Drafting): string | undefined {
  const digits = text.replace(/[\s'’-]/g, '');
  if (digits === '') return undefined;
  if (isGtin(digits)) return digits;
  note('barcodes that are no GTIN were kept as attributes');
  return undefined;
}

/** What a product may have of tags. */
const [mostTags, longestTag] = [50, 50];

/** @param separator of a file of this shop */
export function parseTags(texts: readonly string[], separator: string, { cells, note }: Drafting): string[] {
  const all = [...new Set(texts.flatMap(text => splitList(text, cells.tagSeparator ?? separator)))];
  const tags = all.filter(tag => tag.length <= longestTag).slice(0, mostTags);
  if (tags.length < all.length)
    note(`tags of more than ${longestTag} characters, or beyond ${mostTags}, were left out`);
  return tags;
}

export const parsePath = (text: string, separator: string, { cells }: Drafting): string =>
  toPath(text, cells.categorySeparator ?? separator);

/** What stands in quotation marks, which are doubled within it, as an item of a value; or the comma before a name. */
const pairSigns = /(?<=[=|])"(?:[^"]|"")*"(?=[,|]|$)|,(?=[a-z_][a-z0-9_]{0,63}=)/gi;
const loosePairSigns = /(?<=[=|])"(?:[^"]|"")*"(?=[,|]|$)|,\s*(?=[a-z_][a-z0-9_]{0,63}=)/gi;
const quotedItem = /(?<=^|\|)"((?:[^"]|"")*)"(?=\||$)/g;

/**
 * `color=Red,material=Cotton, washed,activity="Gym"|"Hiking"`: a comma ends a value where a name and `=` follow, unless
 * it is within quotation marks.
 * @param isLoose also with spaces before the name
 */
export function parsePairs(text: string, isLoose = false): Record<string, string> {
  const pairs: Record<string, string> = {};
  let begin = 0;
  const take = (end: number): void => {
    const part = text.slice(begin, end);
    const at = part.indexOf('=');
    if (at > 0) pairs[part.slice(0, at).trim()] = removeQuotes(part.slice(at + 1).trim());
    begin = end + 1;
  };
  for (const { 0: sign, index } of text.matchAll(isLoose ? loosePairSigns : pairSigns))
    if (sign.startsWith(',')) take(index);
  take(text.length);
  return pairs;
}

const removeQuotes = (value: string): string =>
  value.replaceAll(quotedItem, (_, item: string) => item.replaceAll('""', '"'));

const pathsLeftOut =
  'images are paths and were left out: import again with --image-base and the address that stands before them, ' +
  'as in --image-base https://shop.example/media/catalog/product';

/** The addresses in a cell; paths get the base, if there is one. */
export function parseAddresses(text: string, { imageBase, note }: Drafting): string[] {
  const found: string[] = [];
  for (const one of splitAddresses(text)) {
    const url = encodeSpaces(one);
    if (isAddress(url)) found.push(url);
    else if (imageBase !== undefined) found.push(`${imageBase.replace(/\/$/, '')}/${url.replace(/^\//, '')}`);
    else note(pathsLeftOut);
  }
  return found;
}

/** The image of a variant: one of its product's, of which what is to be said has been noted. */
export const parseVariantImage = (text: string, drafting: Drafting): string | undefined =>
  parseAddresses(text, withholdNotes(drafting))[0];

/** For what is read once more. */
export const withholdNotes = (drafting: Drafting): Drafting => ({ ...drafting, note: () => undefined });

const listOfLabels = /^(?:"(?:[^"]|"")*"|[^",]*)(?:,(?:"(?:[^"]|"")*"|[^",]*))*$/;
const labelInList = /(?<=^|,)(?:"((?:[^"]|"")*)"|[^",]*)(?=,|$)/g;

/**
 * The texts of images, as CSV: `Front,"Back, open"`. Magento writes commas and quotation marks within a label as they
 * are, so that where there are more of them, or other quotes, it cannot be known which text belongs to which image.
 */
export function parseLabels(text: string, images: number): string[] {
  if (!listOfLabels.test(text)) return [];
  const labels = [...text.matchAll(labelInList)].map(([whole, quoted]) =>
    (quoted?.replaceAll('""', '"') ?? whole).trim(),
  );
  return labels.length > images ? [] : labels;
}

/** HTML and text in which a shop has written its line ends as \\n, and what was \\n with one more backslash. */
export const restoreLineEnds = (text: string): string =>
  text
    .split('\\\\n')
    .map(part => part.replaceAll('\\r\\n', '\n').replaceAll('\\n', '\n'))
    .join('\\n');
