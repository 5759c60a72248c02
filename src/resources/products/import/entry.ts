/** A product while a batch is planned, with the records so far merged into it. */

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

/** A new product: as prepared from its only record, or with the merged fields of several records. */
export type ImportCreate =
  | { readonly prepared: PreparedRecord }
  | { readonly fields: ProductFields; readonly variants: readonly VariantFields[] };

export interface ImportUpdate {
  readonly stored: LockedProduct & { readonly value: Product };
  readonly before: ProductFields;
  readonly after: ProductFields;
  readonly inserts: readonly VariantFields[];
  readonly changes: readonly { readonly before: StoredVariant; readonly fields: VariantFields }[];
}

/** A product while a batch is planned: its state after the records so far. */
export interface Entry {
  /** Undefined for a new product. */
  readonly stored: Pick<ImportUpdate, 'stored' | 'before'> | undefined;
  /** The only record of a new product. */
  prepared: PreparedRecord | undefined;
  /** Undefined while `prepared` holds them. */
  fields: ProductFields | undefined;
  /** Its variants; undefined for a new product while no record names any. */
  slots: readonly Slot[] | undefined;
  /** The number of records that have changed it so far. */
  changes: number;
}

export const createEntry = (): Entry => ({
  stored: undefined,
  prepared: undefined,
  fields: undefined,
  slots: undefined,
  changes: 0,
});

export function toEntry(row: LockedProduct, variants: readonly StoredVariant[]): Entry {
  const value = productOf(row);
  const fields = toProductFields(value, row.base_price);
  const stored = { stored: { ...row, value }, before: fields };
  return { ...createEntry(), stored, fields, slots: toSlots(variants) };
}

/** @throws HttpError for attributes that do not fit their definitions */
type RequireFit = (after: Attributed, before?: Attributed) => void;

/** The context of merging, besides the existing products. */
export interface MergeContext {
  readonly requireFit: RequireFit;
  readonly uploads: Uploads;
}

/** The state of an entry after a record; undefined if the record changes nothing. @throws HttpError */
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
  const isSame = before !== undefined && isDeepStrictEqual(after, before);
  if (isSame && (slots === entry.slots || !slots?.some(isChanged))) return undefined;
  return { prepared: undefined, fields: after, slots };
}

const isNewEntry = ({ fields, prepared }: Entry): boolean => fields === undefined && prepared === undefined;

export const parseVariants = ({ variants }: PreparedRecord): VariantRecord[] =>
  // Boundary: the reading thread has validated and serialized them.
  variants === '' ? [] : (JSON.parse(variants) as VariantRecord[]);

/**
 * If a product without options becomes one with variants, one of them may take over the product's sku. The stock moves
 * along with the sku, unless orders have reserved some of it.
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
 * The stock of a product after the records so far, including reserved quantities.
 * @param before undefined for a new product
 */
const computeStock = ({ stored }: Entry, before: ProductFields | undefined): Stock | null =>
  before === undefined ? null : toStock(before.stock, toKeptStock(stored?.stored.value.stock ?? null));

/** The images of a product after the records so far. */
const computeImages = ({ stored }: Entry, before: ProductFields | undefined): Image[] =>
  mergeImages(stored?.stored.value.images ?? [], before?.images ?? []);

/** @param own the price of variants without one */
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

/** Undefined if nothing has changed. */
export function toUpdate(entry: Entry): ImportUpdate | undefined {
  if (entry.stored === undefined) return undefined;
  const after = getFields(entry);
  const changed = (entry.slots ?? []).filter(isChanged);
  if (changed.length === 0 && isDeepStrictEqual(after, entry.stored.before)) return undefined;
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

/** The number of images in a record that are uploads missing from the catalog. */
export function countLostUploads(entry: Entry, record: PreparedRecord, uploads: Uploads): number {
  const { images } = toPreparedFields(record);
  const had = computeImages(entry, isNewEntry(entry) ? undefined : getFields(entry));
  const here = addUploads(had, images, uploads);
  return images.filter(({ url }) => !isHere(url, here)).length;
}

/** The fields of a product after a record, before variants are merged. @param before undefined for a new product */
function mergeFields(
  entry: Entry,
  before: ProductFields | undefined,
  record: PreparedRecord,
  uploads: Uploads,
): ProductFields {
  const own = toPreparedFields(record);
  const had = addUploads(computeImages(entry, before), own.images, uploads);
  // Missing uploads are dropped. An omitted text keeps its value.
  const sent = own.images
    .filter(({ url }) => isHere(url, had))
    .map(({ url, alt }) => ({ url, alt: alt ?? undefined }));
  const whole = { ...own, images: mergeImages(had, sent) };
  return before === undefined ? whole : computeFieldsAfter(before, record, whole);
}

/**
 * The product's own price after a record. A record without `basePrice` has the shown price; with variants, that is the
 * lowest price of a variant. If the product shows this price both before and after, its own price stays. Otherwise the
 * record's price becomes the own price, which applies to variants without one.
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
