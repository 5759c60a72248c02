/** Merges the variants of import records into those of a product. */
import { isDeepStrictEqual } from 'node:util';
import { createFieldError } from '../../../http/errors.ts';
import { maxId } from '../../../storage/database.ts';
import { type StoredVariant, toCombination, toVariantFields, variantOf } from '../../variants/row.ts';
import type { VariantFields } from '../../variants/schema.ts';
import { maxValues, type Option } from '../members/options.ts';
import {
  isBuyable,
  mergeStockPart,
  type Stock,
  type StockFields,
  toKeptStock,
  toStock,
} from '../members/stock.ts';
import { refuseBelowReserved } from '../rules.ts';
import type { ProductFields } from '../schema.ts';
import { collectOptions, formatOptions, type VariantRecord } from './variant-records.ts';

/** A variant while a batch is planned: its state after the records so far. */
export interface Slot {
  /** Undefined for a new variant. */
  readonly stored: StoredVariant | undefined;
  readonly fields: VariantFields;
}

/** The variants of an existing product. */
export const toSlots = (stored: readonly StoredVariant[]): Slot[] =>
  stored.map(row => ({ stored: row, fields: toVariantFields(variantOf(row)) }));

export const isChanged = ({ stored, fields }: Slot): boolean =>
  stored === undefined || !isDeepStrictEqual(toVariantFields(variantOf(stored)), fields);

/**
 * The variants of a product after a record. Each variant of the record matches by sku, else by combination, else it is
 * new. No variants are removed.
 * @param product after the record, including its options
 * @throws HttpError naming what is invalid
 */
export function mergeSlots(
  before: readonly Slot[],
  records: readonly VariantRecord[],
  product: Pick<ProductFields, 'images' | 'options'>,
): Slot[] {
  const slots = removeLostImages(before, product);
  const places = findPlaces(slots, records);
  let last = Math.max(0, ...slots.map(({ fields }) => fields.position ?? 0));
  for (const [index, record] of records.entries()) {
    const at = places[index];
    const slot = at === undefined ? undefined : slots[at];
    const position = record.position ?? slot?.fields.position ?? Math.min(last + 1, maxId);
    last = Math.max(last, position);
    const fields = { ...mergeVariant(slot?.fields, record, product, index), position };
    refuseBelowReserved(computeStock(slot), fields.stock, ['variants', index]);
    if (at === undefined) slots.push({ stored: undefined, fields });
    else slots[at] = { stored: slot?.stored, fields };
  }
  refuseSame(slots);
  return slots;
}

/** The slot of each record; undefined for a new one. A match by combination takes no slot that is matched by sku. */
function findPlaces(slots: readonly Slot[], records: readonly VariantRecord[]): (number | undefined)[] {
  const bySku = new Map<string, number>();
  const byCombination = new Map<string, number>();
  for (const [index, { fields }] of slots.entries()) {
    if (fields.sku !== null) bySku.set(fields.sku, index);
    byCombination.set(toCombination(fields.options), index);
  }
  const places = records.map(({ sku }) => (sku == null ? undefined : bySku.get(sku)));
  const claimed = new Set(places);
  return places.map((place, index) => {
    if (place !== undefined) return place;
    const at = byCombination.get(toCombination(records[index]?.options ?? {}));
    return claimed.has(at) ? undefined : at;
  });
}

/** The stock of a variant after the records so far, including reserved quantities. */
const computeStock = (slot: Slot | undefined): Stock | null =>
  slot?.stored === undefined ? null : toStock(slot.fields.stock, toKeptStock(variantOf(slot.stored).stock));

/** Variants lose images that the product will no longer have. */
export function removeLostImages(slots: readonly Slot[], { images }: Pick<ProductFields, 'images'>): Slot[] {
  const kept = new Set(images.map(({ id }) => id));
  return slots.map(slot => {
    const { imageId } = slot.fields;
    return imageId === null || kept.has(imageId)
      ? slot
      : { ...slot, fields: { ...slot.fields, imageId: null } };
  });
}

function mergeVariant(
  before: VariantFields | undefined,
  record: VariantRecord,
  product: Pick<ProductFields, 'images'>,
  index: number,
): Omit<VariantFields, 'position'> {
  const mergeMember = <Name extends keyof VariantFields & keyof VariantRecord>(name: Name) =>
    record[name] === undefined ? (before?.[name] ?? null) : record[name];
  return {
    options: record.options,
    sku: mergeMember('sku') ?? null,
    gtin: mergeMember('gtin') ?? null,
    price: mergeMember('price') ?? null,
    compareAtPrice: mergeMember('compareAtPrice') ?? null,
    weight: mergeMember('weight') ?? null,
    stock: mergeStock(before?.stock ?? null, record.stock),
    imageId: resolveImageId(before, record, product, index),
  };
}

const mergeStock = (before: StockFields | null, part: VariantRecord['stock']): StockFields | null =>
  part === undefined ? before : part === null ? null : mergeStockPart(part, before);

function resolveImageId(
  before: VariantFields | undefined,
  { image, imageId }: VariantRecord,
  { images }: Pick<ProductFields, 'images'>,
  index: number,
): number | null {
  if (image === undefined && imageId === undefined) return before?.imageId ?? null;
  const byUrl = image == null ? undefined : images.find(({ url }) => url === image)?.id;
  if (byUrl != null) return byUrl;
  if (imageId == null) return null;
  if (images.some(({ id }) => id === imageId)) return imageId;
  // An upload to another catalog: its address shows that the image is missing here.
  if (image != null) return null;
  throw createFieldError(
    ['variants', index, 'imageId'],
    'unknown',
    `must be the id of an image of the product, not ${imageId}`,
  );
}

/** A variant that matched by sku may have received the combination of another one. */
function refuseSame(slots: readonly Slot[]): void {
  const had = new Set<string>();
  for (const { fields } of slots) {
    const combination = toCombination(fields.options);
    if (had.has(combination))
      throw createFieldError(
        'variants',
        'uniqueItems',
        `two variants would have the options ${formatOptions(fields.options)}`,
      );
    had.add(combination);
  }
}

/**
 * The options of a product with variants: the record's options, plus the values of its other variants that the record
 * does not list. If these complete an option to its existing values, the existing order stays.
 * @throws HttpError if variants lack one of the options, have another one, or have too many values
 */
export function completeOptions(
  before: readonly Option[],
  given: readonly Option[],
  slots: readonly Slot[],
): readonly Option[] {
  const names = given.map(({ name }) => name);
  const used = collectOptions(slots.map(({ fields }) => fields));
  for (const { fields } of slots) {
    const own = Object.keys(fields.options);
    if (own.length === names.length && own.every(name => names.includes(name))) continue;
    const [theirs, ours] = [own, names].map(all => all.map(name => `"${name}"`).join(', '));
    throw createFieldError(
      'options',
      'inUse',
      `are ${ours || 'none'}, but the product has variants with ${theirs}`,
    );
  }
  return given.map(({ name, values }, index) => {
    const all = new Set([...values, ...(used.find(option => option.name === name)?.values ?? [])]);
    const had = before.find(option => option.name === name)?.values ?? [];
    const isSame = had.length === all.size && had.every(value => all.has(value));
    if (all.size > maxValues && !isSame)
      throw createFieldError(['options', index, 'values'], 'maxItems', tooManyValues);
    return { name, values: isSame && all.size > values.length ? had : [...all] };
  });
}

const tooManyValues = `must have ${maxValues} items or fewer, including those that variants of the product have`;

/** The summary of a new product's variants. @param price the product's own, for variants without one */
export function summarizeVariants(variants: readonly VariantFields[], price: number) {
  const prices = variants.map(variant => variant.price ?? price);
  const available = variants.some(({ stock }) => isBuyable(stock && { ...stock, reserved: 0 }));
  const range = prices.reduce(({ min, max }, one) => ({ min: Math.min(min, one), max: Math.max(max, one) }), {
    min: Number.POSITIVE_INFINITY,
    max: 0,
  });
  return { count: variants.length, prices: range, available };
}
