/** Reads the cells of shops' files: weights, stock, GTINs, tags, URLs of images. */
import { readAmount } from '../../../files/cells/amount.ts';
import {
  addBase,
  encodeSpaces,
  isAddress,
  splitAddresses,
  splitList,
  toPath,
} from '../../../files/cells/list.ts';
import { readWeight, type Weight, type WeightUnit } from '../../../files/cells/weight.ts';
import { isGtin } from '../../../resources/products/members/gtin.ts';
import { decodeEntities } from '../../../storage/search/text/html.ts';
import { type Drafting, type Row, RowProblem, type Stock, type Uncounted } from './preset.ts';

export const getColumn = (row: Row, name: string): string => row.columns.found.get(name) ?? name;

/** Decodes entities in plain text; text with tags is HTML, and stays as it is. */
export const decodePlainText = (text: string): string => (text.includes('<') ? text : decodeEntities(text));

/** @param unit the unit of a number without one */
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
 * The number of pieces, as a whole number. Shops count below zero when they have sold more than their stock.
 * @param isOut the shop says that the product is out of stock, which takes precedence over the number
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
  if (isOut && !negative && read.value > 0)
    drafting.note('stock of products marked out of stock was taken as 0');
  if (negative || isOut) return 0;
  if (!Number.isInteger(read.value)) drafting.note('stock that is not a whole number was rounded down');
  return Math.floor(read.value);
}

export const outOfStock: Stock = { tracked: true, onHand: 0, backorder: false };
export const uncounted: Uncounted = { tracked: false };

/** A GTIN without separators. If the text is not a GTIN, returns undefined and adds a note. */
export function parseGtin(text: string, { note }: Drafting): string | undefined {
  const digits = text.replace(/[\s'’-]/g, '');
  if (digits === '') return undefined;
  if (isGtin(digits)) return digits;
  note('barcodes that are not GTINs were kept as attributes');
  return undefined;
}

/** At most this many tags per product, and characters per tag. */
const [maxTags, maxTagLength] = [50, 50];

export function parseTags(texts: readonly string[], { cells, note }: Drafting): string[] {
  const all = [...new Set(texts.flatMap(text => splitList(text, cells.tagSeparator ?? ',')))];
  const tags = all.filter(tag => tag.length <= maxTagLength).slice(0, maxTags);
  if (tags.length < all.length)
    note(`tags of more than ${maxTagLength} characters, or beyond ${maxTags}, were left out`);
  return tags;
}

export const parsePath = (text: string, separator: string, { cells }: Drafting): string =>
  toPath(text, cells.categorySeparator ?? separator);

/** Matches a quoted item of a value, in which quotation marks are doubled, or the comma before a name. */
const pairSigns = /(?<=[=|])"(?:[^"]|"")*"(?=[,|]|$)|,(?=[a-z_][a-z0-9_]{0,63}=)/gi;
const loosePairSigns = /(?<=[=|])"(?:[^"]|"")*"(?=[,|]|$)|,\s*(?=[a-z_][a-z0-9_]{0,63}=)/gi;
const quotedItem = /(?<=^|\|)"((?:[^"]|"")*)"(?=\||$)/g;

/**
 * Parses `color=Red,material=Cotton, washed,activity="Gym"|"Hiking"`: a comma outside quotation marks ends a value if a
 * name and `=` follow.
 * @param isLoose allows spaces before the name
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
  'images are paths and were left out: import again with --image-base and the address that precedes them, ' +
  'as in --image-base https://shop.example/media/catalog/product';

/** The URLs in a cell; paths are prefixed with the base, if there is one, and left out otherwise. */
export function parseAddresses(text: string, { cells, note }: Drafting): string[] {
  const found: string[] = [];
  for (const one of splitAddresses(text)) {
    const url = encodeSpaces(one);
    if (isAddress(url) || cells.imageBase !== undefined) found.push(addBase(url, cells.imageBase));
    else note(pathsLeftOut);
  }
  return found;
}

/** The image of a variant. It is one of the product's images, so its notes have been counted there. */
export const parseVariantImage = (text: string, drafting: Drafting): string | undefined =>
  parseAddresses(text, withholdNotes(drafting))[0];

/** A drafting without notes, for cells that are read a second time. */
export const withholdNotes = (drafting: Drafting): Drafting => ({ ...drafting, note: () => undefined });

const listOfLabels = /^(?:"(?:[^"]|"")*"|[^",]*)(?:,(?:"(?:[^"]|"")*"|[^",]*))*$/;
const labelInList = /(?<=^|,)(?:"((?:[^"]|"")*)"|[^",]*)(?=,|$)/g;

/**
 * Parses the texts of images, a CSV list: `Front,"Back, open"`. Magento does not escape commas and quotation marks in
 * labels: if there are more labels than images, or stray quotes, the labels cannot be assigned to images.
 */
export function parseLabels(text: string, images: number): string[] {
  if (!listOfLabels.test(text)) return [];
  const labels = [...text.matchAll(labelInList)].map(([whole, quoted]) =>
    (quoted?.replaceAll('""', '"') ?? whole).trim(),
  );
  return labels.length > images ? [] : labels;
}

/** Restores line ends in HTML and text, which the shop writes as `\n`, and a literal `\n` as `\\n`. */
export const restoreLineEnds = (text: string): string =>
  text
    .split('\\\\n')
    .map(part => part.replaceAll('\\r\\n', '\n').replaceAll('\\n', '\n'))
    .join('\\n');
