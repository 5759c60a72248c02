/** The fast way to check a record of an import: nearly every record is plain, and Zod costs more than all else. */
import type { z } from 'zod';
import {
  containsSeparator,
  deepest,
  longestName,
  longestPath,
  separator,
  splitPath,
} from '../../../storage/categories/names.ts';
import { isGtin } from '../members/gtin.ts';
import { longestSku } from '../members/sku.ts';
import type { StockPart } from '../members/stock.ts';
import type { createProduct } from '../schema.ts';
import type { VariantRecord } from './variant-records.ts';

/** Fields that are the same wherever they are sent. */
type PlainRecord = Omit<z.output<typeof createProduct>, 'stock'>;

/** The checked fields of one record; a field that the record leaves out is absent, as is a member of its stock. */
export interface ImportRecord extends PlainRecord {
  /** Whether the price was sent as `basePrice`: else it may be the one that is shown, which variants decide. */
  readonly isOwnPrice?: boolean;
  readonly stock?: StockPart | null | undefined;
  /** Whether what a product has under other keys stays. */
  readonly attributesByKey?: boolean;
  /** Of attributes that their type makes others than their cells look like: as these look. */
  readonly attributesAsTheyLook?: Readonly<Record<string, unknown>>;
  readonly variants?: readonly VariantRecord[];
}

/**
 * True for records that the create schema would give back just as they are: decided by rules that are
 * stricter than the schema's, so false says nothing. A property test compares both.
 * @param input has no other members than the schema's
 */
export function isPlainRecord(
  input: Readonly<Record<string, unknown>>,
): input is PlainRecord & Readonly<Record<string, unknown>> {
  const { name, price, currency, status, description, sku, category, tags } = input;
  return (
    isPlainWithin(input) &&
    isPlain(name, 200) &&
    isAmount(price) &&
    (currency === undefined || (typeof currency === 'string' && /^[A-Z]{3}$/.test(currency))) &&
    (status === undefined || status === 'active' || status === 'archived') &&
    (description === undefined || isStorable(description, 100_000)) &&
    (sku === undefined || isPlain(sku, longestSku)) &&
    (category === undefined || isPlainPath(category)) &&
    (tags === undefined || (Array.isArray(tags) && tags.length <= 50 && tags.every(isPlainTag)))
  );
}

/** The members that few files have: those that are neither plain text nor a number are left to the schema. */
function isPlainWithin(input: Readonly<Record<string, unknown>>): boolean {
  const { brand, gtin, mpn, externalId, compareAtPrice } = input;
  const { weight, categories, attributes, options, images, stock } = input;
  return (
    (brand === undefined || isPlain(brand, 100)) &&
    (gtin === undefined || (typeof gtin === 'string' && isGtin(gtin))) &&
    (mpn === undefined || isPlain(mpn, 100)) &&
    (externalId === undefined || isPlain(externalId, 200)) &&
    (compareAtPrice === undefined || isAmount(compareAtPrice)) &&
    weight === undefined &&
    categories === undefined &&
    attributes === undefined &&
    options === undefined &&
    images === undefined &&
    stock === undefined
  );
}

const isAmount = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;

const isPlainTag = (tag: unknown): boolean => isPlain(tag, 50);

/** A path that is shown as it is sent. */
const isPlainPath = (path: unknown): boolean =>
  typeof path === 'string' && path.includes('>')
    ? isPlain(path, longestPath) &&
      splitPath(path).length <= deepest &&
      path.split(separator).every(name => isPlain(name, longestName) && !containsSeparator(name))
    : isPlain(path, longestName);

/** A string that trimming leaves as it is: its first and last characters are visible ASCII. */
function isPlain(value: unknown, maximum: number): boolean {
  if (!isStorable(value, maximum)) return false;
  const last = value.length - 1;
  return last >= 0 && isVisible(value.charCodeAt(0)) && isVisible(value.charCodeAt(last));
}

const isVisible = (code: number): boolean => code > 32 && code < 127;

function isStorable(value: unknown, maximum: number): value is string {
  return (
    typeof value === 'string' && value.length <= maximum && !value.includes('\u0000') && value.isWellFormed()
  );
}
