/** A product while a batch is planned: what records make of it, one after another. */

import { isDeepStrictEqual } from 'node:util';
import type { Attributed } from '../../attributes/rules.ts';
import type { StoredVariant } from '../../variants/row.ts';
import type { VariantFields } from '../../variants/schema.ts';
import { type Image, mediaPath, mergeImages } from '../members/images.ts';
import { completeStock, type Stock, toKeptStock, toStock } from '../members/stock.ts';
import { addUploads, type Uploads } from '../members/uploads.ts';
import { type LockedProduct, productOf, toProductFields } from '../row.ts';
import { refuseBelowReserved, refuseOwnStock } from '../rules.ts';
import type { Product, ProductFields } from '../schema.ts';
import { computeFieldsAfter } from './fields.ts';
import { isGiven, type PreparedRecord, toPreparedFields } from './prepared.ts';
import type { VariantRecord } from './variant-records.ts';
import {
  completeOptions,
  isChanged,
  mergeSlots,
  removeLostImages,
  type Slot,
  summarizeVariants,
  toSlots,
} from './variants.ts';

/** A new product: as its one record has prepared it, or with the fields that several records have come to. */
export type ImportCreate =
  | { readonly prepared: PreparedRecord }
  | { readonly fields: ProductFields; readonly variants: readonly VariantFields[] };

export interface ImportUpdate {
  readonly stored: LockedProduct;
  readonly product: Product;
  readonly before: ProductFields;
  readonly after: ProductFields;
  readonly inserts: readonly VariantFields[];
  readonly changes: readonly { readonly before: StoredVariant; readonly fields: VariantFields }[];
}

/** A product while a batch is planned: as it will be once the records so far are in. */
export interface Entry {
  /** Undefined for a new one. */
  readonly stored: Pick<ImportUpdate, 'stored' | 'product' | 'before'> | undefined;
  /** The only record of a new one. */
  prepared: PreparedRecord | undefined;
  /** Undefined while `prepared` says it. */
  fields: ProductFields | undefined;
  /** Its variants, of those that have been read; undefined where no record says anything of them. */
  slots: readonly Slot[] | undefined;
  /** Records that have changed it so far. */
  changes: number;
}

/** The entry of a product that exists. @param variants its own, where a record may say something of them */
export function toEntry(row: LockedProduct, variants?: readonly StoredVariant[]): Entry {
  const product = productOf(row);
  const fields = toProductFields(product, row.base_price);
  const stored = { stored: row, product, before: fields };
  return {
    stored,
    prepared: undefined,
    fields,
    slots: variants === undefined ? undefined : toSlots(variants),
    changes: 0,
  };
}

export const createEntry = (): Entry => ({
  stored: undefined,
  prepared: undefined,
  fields: undefined,
  slots: undefined,
  changes: 0,
});

/** @throws HttpError for attributes that do not fit what is defined */
export type RequireFit = (after: Attributed, before?: Attributed) => void;

/** What records are merged with besides the products that there are. */
export interface MergeContext {
  readonly requireFit: RequireFit;
  readonly uploads: Uploads;
}

/** What an entry is once a record is in; undefined when that changes nothing. @throws HttpError */
export function mergeRecord(
  entry: Entry,
  record: PreparedRecord,
  { requireFit, uploads }: MergeContext,
): Pick<Entry, 'prepared' | 'fields' | 'slots'> | undefined {
  const isNew = isNewEntry(entry);
  const given = record.variants === '' ? undefined : parseVariants(record);
  if (isNew && given === undefined && !record.hasUploads) {
    requireFit(record);
    return { prepared: record, fields: undefined, slots: undefined };
  }
  const before = isNew ? undefined : getFields(entry);
  const fields = mergeFields(entry, before, record, uploads);
  const { own, variants } = moveSku(fields, computeStock(entry, before), record, given);
  const { slots, options } = mergeVariants(entry, before, own, variants);
  const price = computeOwnPrice(entry, before, record, { price: own.price, slots });
  const after = { ...own, price, options };
  requireFit(after, before);
  const stock = computeStock(entry, before);
  if (before !== undefined) refuseOwnStock({ variantCount: entry.slots?.length ?? 0, stock }, after.stock);
  refuseBelowReserved(stock, after.stock);
  const isSame = before !== undefined && areFieldsEqual(after, before);
  if (isSame && (slots === entry.slots || !slots?.some(isChanged))) return undefined;
  return { prepared: undefined, fields: after, slots };
}

const isNewEntry = ({ fields, prepared }: Entry): boolean => fields === undefined && prepared === undefined;

// Boundary: the thread that reads has checked them, and made text of them.
const parseVariants = ({ variants }: PreparedRecord): VariantRecord[] =>
  JSON.parse(variants) as VariantRecord[];

/**
 * A product without options may be given some: then one of its variants has the sku that it had itself. The pieces
 * there are go with the sku, but for a product of which orders have reserved some.
 * @param had the stock of the product before the record
 */
function moveSku(
  own: ProductFields,
  had: Stock | null,
  record: PreparedRecord,
  variants: readonly VariantRecord[] | undefined,
): { own: ProductFields; variants: readonly VariantRecord[] | undefined } {
  const isMoved = record.row.sku === null && variants?.some(({ sku }) => sku != null && sku === own.sku);
  if (variants === undefined || isMoved !== true) return { own, variants };
  const { sku, stock } = own;
  const left = { ...own, sku: null };
  if (stock === null || isGiven(record, 'stock') || toKeptStock(had).reserved > 0)
    return { own: left, variants };
  return {
    own: { ...left, stock: null },
    variants: variants.map(one =>
      one.sku === sku && one.stock !== null ? { ...one, stock: completeStock(one.stock ?? {}, stock) } : one,
    ),
  };
}

/**
 * The stock of a product as the records so far leave it, with what orders have reserved.
 * @param before undefined for a new product
 */
const computeStock = ({ stored }: Entry, before: ProductFields | undefined): Stock | null =>
  before === undefined ? null : toStock(before.stock, toKeptStock(stored?.product.stock ?? null));

/** The images of a product as the records so far leave it. */
const computeImages = ({ stored }: Entry, before: ProductFields | undefined): Image[] =>
  mergeImages(stored?.product.images ?? [], before?.images ?? []);

/** @param own the price that variants without one have */
const computeShownPrice = (slots: readonly Slot[] = [], own: number): number =>
  slots.length === 0
    ? own
    : summarizeVariants(
        slots.map(({ fields }) => fields),
        own,
      ).prices.min;

function mergeVariants(
  { slots }: Entry,
  before: ProductFields | undefined,
  own: ProductFields,
  variants: readonly VariantRecord[] | undefined,
): { slots: readonly Slot[] | undefined; options: ProductFields['options'] } {
  if (variants === undefined && (slots === undefined || slots.length === 0))
    return { slots, options: own.options };
  const next =
    variants === undefined ? removeLostImages(slots ?? [], own) : mergeSlots(slots ?? [], variants, own);
  return { slots: next, options: [...completeOptions(before?.options ?? [], own.options, next)] };
}

/** Undefined where nothing of it is another. */
export function toUpdate(entry: Entry): ImportUpdate | undefined {
  if (entry.stored === undefined) return undefined;
  const after = getFields(entry);
  const changed = (entry.slots ?? []).filter(isChanged);
  if (changed.length === 0 && areFieldsEqual(after, entry.stored.before)) return undefined;
  return {
    ...entry.stored,
    after,
    inserts: changed.filter(({ stored }) => stored === undefined).map(({ fields }) => fields),
    changes: changed.flatMap(({ stored, fields }) =>
      stored === undefined ? [] : [{ before: stored, fields }],
    ),
  };
}

export const toCreate = (entry: Entry): ImportCreate =>
  entry.prepared === undefined
    ? { fields: getFields(entry), variants: (entry.slots ?? []).map(({ fields }) => fields) }
    : { prepared: entry.prepared };

function getFields({ fields, prepared }: Entry): ProductFields {
  if (fields !== undefined) return fields;
  if (prepared === undefined) throw new Error('an entry has neither fields nor a record');
  return toPreparedFields(prepared);
}

const isHere = (url: string | null | undefined, had: readonly Image[]): boolean =>
  url?.startsWith(mediaPath) !== true || had.some(image => image.url === url);

/** How many images of a record are uploads that the catalog does not have. */
export function countLostUploads(entry: Entry, record: PreparedRecord, uploads: Uploads): number {
  const { images } = toPreparedFields(record);
  const had = computeImages(entry, isNewEntry(entry) ? undefined : getFields(entry));
  const here = addUploads(had, images, uploads);
  return images.filter(({ url }) => !isHere(url, here)).length;
}

/** The fields of a product once a record is in, but for what its variants decide. @param before undefined for a new one */
function mergeFields(
  entry: Entry,
  before: ProductFields | undefined,
  record: PreparedRecord,
  uploads: Uploads,
): ProductFields {
  const own = toPreparedFields(record);
  const had = addUploads(computeImages(entry, before), own.images, uploads);
  // Other uploads are not here. A text that is left out stays.
  const sent = own.images
    .filter(({ url }) => isHere(url, had))
    .map(({ url, alt }) => ({ url, alt: alt ?? undefined }));
  const whole = { ...own, images: mergeImages(had, sent) };
  return before === undefined ? whole : computeFieldsAfter(before, record, whole);
}

/**
 * The price that is then a product's own. A record without `basePrice` has the price that is shown, with variants the
 * lowest of theirs: it says nothing of the product’s own where the product shows it before and after. Else it is
 * what the variants without a price cost.
 */
function computeOwnPrice(
  { slots }: Entry,
  before: ProductFields | undefined,
  record: PreparedRecord,
  after: { readonly price: number; readonly slots: readonly Slot[] | undefined },
): number {
  if (before === undefined || isGiven(record, 'isOwnPrice')) return after.price;
  const isShown = [slots, after.slots].every(all => computeShownPrice(all, before.price) === after.price);
  return isShown ? before.price : after.price;
}

function areFieldsEqual(a: ProductFields, b: ProductFields): boolean {
  return isDeepStrictEqual(a, b);
}
