/** Records of an import, prepared as far as possible without the database: validated, as rows, with split words. */
import type { z } from 'zod';
import type { ErrorDetail } from '../../../http/errors.ts';
import { createParser, type Parse } from '../../../http/request/parser.ts';
import { toErrorDetails } from '../../../http/schema.ts';
import { getMemberNames, isObject } from '../../../json-object.ts';
import type { AttributeValues } from '../../../storage/attributes/values.ts';
import { canBeMisspelt, toDocumentWords } from '../../../storage/search/text/words.ts';
import { normalizeCategories } from '../categories.ts';
import { mediaPath } from '../members/images.ts';
import type { Option } from '../members/options.ts';
import { mergeStockPart, type StockPart, stockPart } from '../members/stock.ts';
import { type ProductRow, productOf, toProductFields, toProductRow } from '../row.ts';
import { completeFields, createProduct, type ProductFields } from '../schema.ts';
import { toSearchText } from '../search-text.ts';
import { type Identity, readExportIdentity } from './identity.ts';
import {
  checkOptions,
  checkVariants,
  collectOptions,
  isVariantDetails,
  type VariantRecord,
  variantRecords,
} from './variant-records.ts';

/** Fields that an import treats like the API. */
type PlainFields = Omit<z.output<typeof createProduct>, 'stock'>;

/** The validated fields of one record; omitted fields, and omitted members of its stock, are absent. */
export interface ImportRecord extends PlainFields {
  /** Whether the price was sent as `basePrice`; otherwise it may be the shown price, which depends on variants. */
  readonly isOwnPrice?: boolean;
  readonly stock?: StockPart | null | undefined;
  /** Whether attributes under other keys stay. */
  readonly attributesByKey?: boolean;
  /** For attributes whose type changes how their cells are read: the values as read without the type. */
  readonly attributesAsTheyLook?: Readonly<Record<string, unknown>>;
  readonly variants?: readonly VariantRecord[];
  /** Whether the record has no options, and these only follow from its variants. */
  readonly areOptionsOfVariants?: boolean;
  readonly identity?: Identity;
}

export interface PreparedRecord {
  /** The row of a new product with only the fields of this record. */
  readonly row: ProductRow;
  /** The words of such a product in the search index. */
  readonly words: string;
  readonly tags: readonly string[];
  readonly category: string | null;
  readonly categories: readonly string[];
  readonly attributes: AttributeValues;
  readonly options: readonly Option[];
  /** For attributes whose type changes how cells are read: the values without the type, as JSON text, or empty. */
  readonly attributesAsTheyLook: string;
  /** The fields that the record itself has, for updates of an existing product: see `isGiven`. */
  readonly given: number;
  /** Its stock as the record has it: omitted members keep their values in an existing product. */
  readonly stock: StockPart | null | undefined;
  /** Its variants as JSON text, empty if it names none; their number and skus. */
  readonly variants: string;
  readonly variantCount: number;
  readonly variantSkus: readonly string[];
  readonly images: number;
  /** Whether any of its images is an upload, to this or another catalog. */
  readonly hasUploads: boolean;
  /** What identifies the product if it has no sku, external id or variant sku; absent from most files. */
  readonly identity?: Identity;
  /** The line of the file on which the record starts. */
  readonly line: number;
}

const { name: _name, price: _price, sku: _sku, ...omissible } = createProduct.shape;

/** Fields that a record may omit; without a sku, the product keeps its own. */
export const optional = getMemberNames(omissible);

/** The fields that a record may have; the index of each is its bit in `given`. */
const givenFields = [...optional, 'isOwnPrice', 'attributesByKey'] as const;
type GivenField = (typeof givenFields)[number];
const toBit = (field: GivenField): number => 1 << givenFields.indexOf(field);

/** Whether the record has this field, possibly as an explicit null, which its row does not distinguish from absence. */
export function isGiven({ given }: PreparedRecord, field: GivenField): boolean {
  return (given & toBit(field)) !== 0;
}

function computeGiven(record: ImportRecord): number {
  let given = 0;
  for (let bit = 0; bit < optional.length; bit++) {
    const field = optional[bit];
    if (field !== undefined && record[field] !== undefined) given |= 1 << bit;
  }
  if (record.areOptionsOfVariants === true) given &= ~toBit('options');
  if (record.isOwnPrice === true) given |= toBit('isOwnPrice');
  if (record.attributesByKey === true) given |= toBit('attributesByKey');
  return given;
}

const importedProduct = createProduct.extend({
  basePrice: createProduct.shape.price.nullish(),
  stock: stockPart.nullish(),
});

/** Validates a mapped record; returns its fields, or what is wrong with it. */
export type RecordCheck = (input: Readonly<Record<string, unknown>>) => ImportRecord | readonly ErrorDetail[];

/** Validates mapped records with the schema of creation. */
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
  return unfit.length > 0 ? unfit : { ...checked, variants, areOptionsOfVariants: own.options === undefined };
}

const isRefused = (checked: ImportRecord | readonly ErrorDetail[]): checked is readonly ErrorDetail[] =>
  Array.isArray(checked);

function checkOwn(
  input: Readonly<Record<string, unknown>>,
  parse: Parse<z.output<typeof importedProduct>>,
): ImportRecord | readonly ErrorDetail[] {
  const { basePrice, attributesByKey, attributesAsTheyLook: asTheyLook, identity: given, ...own } = input;
  // The shown price may be omitted if the product's own price is given.
  const shown = own.price ?? (basePrice == null ? undefined : 0);
  const result = parse({ ...own, basePrice, price: shown });
  if (!result.success) return toErrorDetails(result.error);
  const { basePrice: ownPrice, ...record } = result.data;
  const identity = isObject(given) ? readExportIdentity(given) : undefined;
  return {
    ...record,
    ...(ownPrice == null ? {} : { price: ownPrice, isOwnPrice: true }),
    ...(attributesByKey === true ? { attributesByKey } : {}),
    ...(isObject(asTheyLook) ? { attributesAsTheyLook: asTheyLook } : {}),
    ...(identity === undefined ? {} : { identity }),
  };
}

function toVariantParts({ variants }: ImportRecord) {
  if (variants === undefined) return { variants: '', variantCount: 0, variantSkus: [] };
  const variantSkus = variants.flatMap(({ sku }) => sku ?? []);
  return { variants: JSON.stringify(variants), variantCount: variants.length, variantSkus };
}

/** The distinct words of records that may correct a misspelt search, which suggests none of archived products. */
export function collectMisspeltWords(records: readonly PreparedRecord[]): string[] {
  const found = new Set<string>();
  for (const { row, words } of records) {
    if (row.status === 'archived') continue;
    for (const word of words.split(' ')) if (!found.has(word) && canBeMisspelt(word)) found.add(word);
  }
  return [...found];
}

/**
 * @param defaultCurrency of a new product for which the record names none; an explicit null is kept
 * @param at epoch milliseconds, the creation time of a new product
 * @param line on which the record starts
 */
export function prepareRecord(
  record: ImportRecord,
  defaultCurrency: string,
  at: number,
  line: number = 0,
): PreparedRecord {
  const currency = record.currency === null ? null : defaultCurrency;
  const stock = record.stock == null ? null : mergeStockPart(record.stock, null);
  const fields = normalizeCategories(completeFields({ ...record, stock }, currency));
  const { tags, attributes, options, images, category, categories } = fields;
  const { attributesAsTheyLook: asTheyLook } = record;
  const parts = toVariantParts(record);
  const identity = parts.variantSkus.length > 0 ? undefined : record.identity;
  const places = { category, categories };
  const words = toDocumentWords(toSearchText(fields)).join(' ');
  return {
    row: toProductRow(fields, at),
    ...{ words, tags, ...places, attributes, options, given: computeGiven(record) },
    ...parts,
    attributesAsTheyLook: asTheyLook === undefined ? '' : JSON.stringify(asTheyLook),
    stock: record.stock,
    images: images.length,
    hasUploads: images.some(({ url }) => url?.startsWith(mediaPath)),
    ...(identity === undefined ? {} : { identity }),
    line,
  };
}

/** The fields of a product created from this record alone. */
export const toPreparedFields = ({ row }: PreparedRecord): ProductFields =>
  toProductFields(productOf({ id: 0, document: row.document }), null);
