/** Records of an import as far as they can be made ready without the database: checked, as rows, their words split. */
import type { z } from 'zod';
import type { ErrorDetail } from '../../../http/errors.ts';
import { createParser, type Parse } from '../../../http/request/parser.ts';
import { toErrorDetails } from '../../../http/schema.ts';
import { isObject } from '../../../json-object.ts';
import type { AttributeValues } from '../../../storage/attributes/values.ts';
import { canBeMisspelt, isNoWord, splitDocument } from '../../../storage/search/text/words.ts';
import { normalizeCategories } from '../categories.ts';
import { mediaPath } from '../members/images.ts';
import type { Option } from '../members/options.ts';
import { mergeStockPart, type StockPart, stockPart } from '../members/stock.ts';
import { type ProductRow, productOf, toProductFields, toProductRow } from '../row.ts';
import { completeFields, createProduct, type ProductFields } from '../schema.ts';
import { toSearchText } from '../search-text.ts';
import {
  checkOptions,
  checkVariants,
  collectOptions,
  isVariantDetails,
  type VariantRecord,
  variantRecords,
} from './variant-records.ts';

/** Fields that are the same wherever they are sent. */
type PlainFields = Omit<z.output<typeof createProduct>, 'stock'>;

/** The checked fields of one record; a field that the record leaves out is absent, as is a member of its stock. */
export interface ImportRecord extends PlainFields {
  /** Whether the price was sent as `basePrice`: else it may be the one that is shown, which variants decide. */
  readonly isOwnPrice?: boolean;
  readonly stock?: StockPart | null | undefined;
  /** Whether what a product has under other keys stays. */
  readonly attributesByKey?: boolean;
  /** Of attributes that their type makes others than their cells look like: as these look. */
  readonly attributesAsTheyLook?: Readonly<Record<string, unknown>>;
  readonly variants?: readonly VariantRecord[];
}

export interface PreparedRecord {
  /** The row of a new product with just the fields of this record. */
  readonly row: ProductRow;
  /** What the search index holds of such a product. */
  readonly words: string;
  readonly tags: readonly string[];
  readonly category: string | null;
  readonly categories: readonly string[];
  readonly attributes: AttributeValues;
  readonly options: readonly Option[];
  /** Of attributes that their type makes others than they look like in the file: as they look, as JSON text, or empty. */
  readonly attributesAsTheyLook: string;
  /** What the record has itself, for a product that exists: see `isGiven`. */
  readonly given: number;
  /** Its variants as JSON text, empty where it says nothing of them; their number and skus. */
  readonly variants: string;
  readonly variantCount: number;
  readonly variantSkus: readonly string[];
  readonly images: number;
  /** Whether any of its images is an upload, to this catalog or another one. */
  readonly hasUploads: boolean;
  /** The line of the file on which it starts. */
  readonly line: number;
}

/** Those that a record may leave out. */
export const optional = [
  'currency',
  'status',
  'description',
  'category',
  'tags',
  'brand',
  'gtin',
  'mpn',
  'externalId',
  'compareAtPrice',
  'weight',
  'categories',
  'attributes',
  'options',
  'images',
  'stock',
] as const;

/** The fields that a record may give; the place of each is its bit in `given`. */
const givenFields = [
  ...optional,
  'isOwnPrice',
  'attributesByKey',
  'stock.tracked',
  'stock.onHand',
  'stock.backorder',
] as const;
type GivenField = (typeof givenFields)[number];
const toBit = (field: GivenField): number => 1 << givenFields.indexOf(field);

/** Whether the record gives it, be it by an explicit null, which its row no longer distinguishes from none. */
export function isGiven({ given }: PreparedRecord, field: GivenField): boolean {
  return (given & toBit(field)) !== 0;
}

function computeGiven(record: ImportRecord): number {
  let given = 0;
  for (let bit = 0; bit < optional.length; bit++) {
    const field = optional[bit];
    if (field !== undefined && record[field] !== undefined) given |= 1 << bit;
  }
  const { isOwnPrice, attributesByKey, stock } = record;
  if (isOwnPrice === true) given |= toBit('isOwnPrice');
  if (attributesByKey === true) given |= toBit('attributesByKey');
  if (stock == null) return given;
  for (const member of ['tracked', 'onHand', 'backorder'] as const)
    if (stock[member] !== undefined) given |= toBit(`stock.${member}`);
  return given;
}

const importedProduct = createProduct.extend({
  basePrice: createProduct.shape.price.nullish(),
  stock: stockPart.nullish(),
});

/** What a mapped record says, or what is wrong with it. */
export type RecordCheck = (input: Readonly<Record<string, unknown>>) => ImportRecord | readonly ErrorDetail[];

/** Checks mapped records with the create schema. */
export function createRecordCheck(): RecordCheck {
  const parse = createParser(importedProduct);
  const parseVariants = createParser(variantRecords);
  return ({ variants, ...own }) =>
    variants === undefined || variants === null
      ? checkOwn(own, parse)
      : checkWithVariants(own, parse, checkVariants(variants, parseVariants));
}

function checkWithVariants(
  own: Readonly<Record<string, unknown>>,
  parse: Parse<z.output<typeof importedProduct>>,
  variants: VariantRecord[] | ErrorDetail[],
): ImportRecord | readonly ErrorDetail[] {
  const checked = checkOwn(
    own.options == null && !isVariantDetails(variants) ? { ...own, options: collectOptions(variants) } : own,
    parse,
  );
  if (isRefused(checked) || isVariantDetails(variants))
    return [...(isRefused(checked) ? checked : []), ...(isVariantDetails(variants) ? variants : [])];
  const unfit = own.options == null ? [] : checkOptions(variants, checked.options ?? []);
  return unfit.length > 0 ? unfit : { ...checked, variants };
}

const isRefused = (checked: ImportRecord | readonly ErrorDetail[]): checked is readonly ErrorDetail[] =>
  Array.isArray(checked);

function checkOwn(
  input: Readonly<Record<string, unknown>>,
  parse: Parse<z.output<typeof importedProduct>>,
): ImportRecord | readonly ErrorDetail[] {
  const { basePrice, attributesByKey, attributesAsTheyLook: asTheyLook, ...own } = input;
  // The price that is shown may be left out where the product's own is given.
  const shown = own.price ?? (basePrice == null ? undefined : 0);
  const result = parse({ ...own, basePrice, price: shown });
  if (!result.success) return toErrorDetails(result.error);
  const { basePrice: ownPrice, ...record } = result.data;
  return {
    ...record,
    ...(ownPrice == null ? {} : { price: ownPrice, isOwnPrice: true }),
    ...(attributesByKey === true ? { attributesByKey } : {}),
    ...(isObject(asTheyLook) ? { attributesAsTheyLook: asTheyLook } : {}),
  };
}

function toVariantParts({ variants }: ImportRecord) {
  if (variants === undefined) return { variants: '', variantCount: 0, variantSkus: [] };
  const variantSkus = variants.flatMap(({ sku }) => sku ?? []);
  return { variants: JSON.stringify(variants), variantCount: variants.length, variantSkus };
}

/** Adds the words that a search may misspell; those of archived products are none that a search suggests. */
function addMisspelt(status: string, words: Iterable<string>, into: Set<string>): void {
  if (status === 'archived') return;
  for (const word of words) if (!isNoWord(word) && !into.has(word) && canBeMisspelt(word)) into.add(word);
}

/** The distinct words of some records that a search may misspell. */
export function collectMisspeltWords(records: readonly PreparedRecord[]): string[] {
  const words = new Set<string>();
  for (const { row, words: text } of records) addMisspelt(row.status, text.split(' '), words);
  return [...words];
}

/** Prepares the records of one import. */
export function createRecordPreparer(defaultCurrency: string) {
  const had = new Set<string>();
  return {
    /** @param line on which it starts; @param at epoch milliseconds: when a product that this record makes will have been created */
    prepare(record: ImportRecord, at: number, line: number = 0): PreparedRecord {
      // An explicit null is kept, also as the currency.
      const currency = record.currency === null ? null : defaultCurrency;
      const stock = record.stock == null ? null : mergeStockPart(record.stock, null);
      const fields = normalizeCategories(completeFields({ ...record, stock }, currency));
      const { text, words } = splitDocument(toSearchText(fields));
      addMisspelt(fields.status, words, had);
      const { tags, attributes, options, images, category, categories } = fields;
      const { attributesAsTheyLook: asTheyLook } = record;
      const places = { category, categories };
      const own = { words: text, tags, ...places, attributes, options, given: computeGiven(record) };
      const hasUploads = images.some(({ url }) => url?.startsWith(mediaPath));
      return {
        row: toProductRow(fields, at),
        ...own,
        ...toVariantParts(record),
        attributesAsTheyLook: asTheyLook === undefined ? '' : JSON.stringify(asTheyLook),
        images: images.length,
        hasUploads,
        line,
      };
    },
    /** The distinct words of the records since the last call that a search may misspell. */
    takeWords(): string[] {
      const words = [...had];
      had.clear();
      return words;
    },
  };
}

/** The fields of a product that a record alone makes. */
export const toPreparedFields = ({ row }: PreparedRecord): ProductFields =>
  toProductFields(productOf({ id: 0, document: row.document }), null);
