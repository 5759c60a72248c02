/** The fields of an existing product after a record. */
import { isDeepStrictEqual } from 'node:util';
import { createFieldError } from '../../../http/errors.ts';
import { normalizeCategories } from '../categories.ts';
import { maxKeys } from '../members/attributes.ts';
import { mergeStockPart } from '../members/stock.ts';
import type { ProductFields } from '../schema.ts';
import { isGiven, optional, type PreparedRecord } from './prepared.ts';

/**
 * An omitted field keeps its value, as do omitted members of the stock and attributes in separate columns; an explicit
 * null removes it.
 * @param own the fields of a new product from the same record
 * @throws HttpError for more attributes than a product may have
 */
export function computeFieldsAfter(
  before: ProductFields,
  record: PreparedRecord,
  own: ProductFields,
): ProductFields {
  const kept = optional.filter(field => !isGiven(record, field)).map(field => [field, before[field]]);
  const merged: ProductFields = {
    ...own,
    attributes: computeAttributesAfter(before, record, own),
    stock: record.stock == null ? null : mergeStockPart(record.stock, before.stock),
    ...Object.fromEntries(kept),
    options: computeOptionsAfter(before, record, own),
    sku: own.sku ?? before.sku,
  };
  return normalizeCategories(merged);
}

/** Options that only follow from variants replace none of the same names, which get new values elsewhere. */
function computeOptionsAfter(
  { options: before }: ProductFields,
  record: PreparedRecord,
  { options: own }: ProductFields,
): ProductFields['options'] {
  if (isGiven(record, 'options')) return own;
  const names = new Set(before.map(({ name }) => name));
  const isFitting = own.length === before.length && own.every(({ name }) => names.has(name));
  return own.length === 0 || isFitting ? before : own;
}

function computeAttributesAfter(
  { attributes: before }: ProductFields,
  record: PreparedRecord,
  { attributes: given }: ProductFields,
): ProductFields['attributes'] {
  const own = keepAsTheyLook(before, record, given);
  if (!isGiven(record, 'attributesByKey')) return own;
  const all = { ...before, ...own };
  if (Object.keys(all).length > maxKeys)
    throw createFieldError(
      'attributes',
      'maxProperties',
      `must have ${maxKeys} keys or fewer, including the existing ones`,
    );
  return all;
}

/** Keeps a value that looks like its cell: an export wrote the cell from it before the attribute had a type. */
function keepAsTheyLook(
  before: ProductFields['attributes'],
  { attributesAsTheyLook }: PreparedRecord,
  own: ProductFields['attributes'],
): ProductFields['attributes'] {
  if (attributesAsTheyLook === '') return own;
  const kept = { ...own };
  // Boundary: the reading thread has serialized them.
  for (const [key, plain] of Object.entries(JSON.parse(attributesAsTheyLook) as Record<string, unknown>)) {
    const value = Object.hasOwn(before, key) ? before[key] : undefined;
    if (value !== undefined && isDeepStrictEqual(value, plain)) kept[key] = value;
  }
  return kept;
}
