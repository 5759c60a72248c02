/** The fast way to check a record of an import: nearly every record is plain, and Zod costs more than all else. */
import type { z } from 'zod';
import type { createProduct } from '../schema.ts';

/** The checked fields of one record; a field that the record leaves out is absent. */
export type ImportRecord = z.output<typeof createProduct>;

/**
 * True for records that the create schema would give back just as they are: decided by rules that are
 * stricter than the schema's, so false says nothing. A property test compares both.
 * @param input has no other members than the schema's
 */
export function plainRecord(input: Readonly<Record<string, unknown>>): input is ImportRecord {
  const { name, price, currency, status, description, sku, category, tags } = input;
  return (
    isPlain(name, 200) &&
    typeof price === 'number' &&
    price >= 0 &&
    price < Number.POSITIVE_INFINITY &&
    (currency === undefined || (typeof currency === 'string' && /^[A-Z]{3}$/.test(currency))) &&
    (status === undefined || status === 'active' || status === 'archived') &&
    (description === undefined || isStorable(description, 10_000)) &&
    (sku === undefined || isPlain(sku, 64)) &&
    (category === undefined || isPlain(category, 100)) &&
    (tags === undefined || (Array.isArray(tags) && tags.length <= 50 && tags.every(isPlainTag)))
  );
}

const isPlainTag = (tag: unknown): boolean => isPlain(tag, 50);

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
