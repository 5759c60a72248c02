/** From a record of a file to the fields of a product. */
import { isObject } from './record.ts';

/** The product fields that can be imported and exported, in the order of an exported file. */
export const productFields = [
  'sku',
  'name',
  'price',
  'currency',
  'description',
  'category',
  'tags',
  'status',
] as const;

/** Which column a field is taken from. */
export type Mapping = ReadonlyMap<string, string>;

/** A mapping that cannot be used; the message names the rule and the part that breaks it. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
}

/**
 * Reads `name=title,price=UnitPrice`: FIELD=COLUMN pairs with commas between them, spaces around either
 * ignored, each field of `fields` at most once. A column's name may hold `=` but no comma. An empty text is an
 * empty mapping. Throws `MappingError`.
 */
export function parseMapping(text: string, fields: readonly string[] = productFields): Mapping {
  const mapping = new Map<string, string>();
  if (text.trim() === '') return mapping;
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const field = pair.slice(0, Math.max(at, 0)).trim();
    const column = pair.slice(at + 1).trim();
    if (field === '' || column === '') {
      throw new MappingError(
        `a mapping is FIELD=COLUMN pairs with commas between them, not "${pair.trim()}"`,
      );
    }
    if (!fields.includes(field)) {
      throw new MappingError(`a mapping's field is one of ${fields.join(', ')}, not "${field}"`);
    }
    if (mapping.has(field)) throw new MappingError(`a mapping gives each field once, but "${field}" twice`);
    mapping.set(field, column);
  }
  return mapping;
}

/**
 * Picks each of `fields` from its mapped column, or without one from the column of the same name. A column is
 * found by its exact name, else by its name in another case, else as a dotted path into objects
 * (`dimensions.width`). A field whose column is missing, null or an empty string is absent from the result.
 * Text is converted for the fields that are not text (`price`, `tags`) and for a mapped `status`, and a number
 * to text for the others; what cannot be converted stays as it is, so that validation names it.
 */
export function mapRecord(
  record: Readonly<Record<string, unknown>>,
  mapping: Mapping,
  fields: readonly string[],
): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const field of fields) {
    const column = mapping.get(field);
    const value = pick(record, column ?? field);
    if (value === undefined || value === null || value === '') continue;
    if (field === 'price') mapped[field] = toPrice(value);
    else if (field === 'tags') mapped[field] = toTags(value);
    else if (field === 'status' && column !== undefined) mapped[field] = toStatus(value, column);
    else mapped[field] = toText(value);
  }
  return mapped;
}

/** The value of a column, found as `mapRecord` finds it; undefined when there is no such column. */
export function pick(record: Readonly<Record<string, unknown>>, column: string): unknown {
  if (Object.hasOwn(record, column)) return record[column];
  const key = sameName(record, column);
  if (key !== undefined) return record[key];
  const dot = column.indexOf('.');
  if (dot < 0) return undefined;
  const member = pick(record, column.slice(0, dot));
  return isObject(member) ? pick(member, column.slice(dot + 1)) : undefined;
}

/** The first key that equals the name but for case. */
function sameName(record: Readonly<Record<string, unknown>>, name: string): string | undefined {
  for (const key in record) {
    // The length is compared first: this runs for every field that a record leaves out.
    if (key.length === name.length && key.toLowerCase() === name.toLowerCase()) return key;
  }
  return undefined;
}

/** JSON files often hold an article number as a number; the fields that are text take its digits. */
function toText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

const decimal = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A decimal number with a point and no grouping (`1234.50`), spaces around it ignored; else the value itself. */
function toPrice(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  const price = decimal.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(price) ? price : value;
}

/** A JSON array, or items with `;` or `|` between them, trimmed, empty ones left out. */
function toTags(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (!value.startsWith('[')) {
    return value
      .split(/[;|]/)
      .map(tag => tag.trim())
      .filter(tag => tag !== '');
  }
  try {
    const tags: unknown = JSON.parse(value);
    return Array.isArray(tags) ? tags : value;
  } catch {
    return value;
  }
}

const archivedColumn = /^(?:is[ _-]?)?(?:archived|discontinued)$/i;

/**
 * The one rule for a mapped `status`: a yes-or-no value (true, false, 1, 0) counts when the column is called
 * archived or discontinued (`Discontinued`, `is_archived`, `isDiscontinued`): yes is `archived`, no is
 * `active`. From any other column, and for any other value, the value is taken as it is.
 */
function toStatus(value: unknown, column: string): unknown {
  if (!archivedColumn.test(column.slice(column.lastIndexOf('.') + 1))) return value;
  const word = String(value).trim().toLowerCase();
  if (word === 'true' || word === '1') return 'archived';
  if (word === 'false' || word === '0') return 'active';
  return value;
}
