/** Mappings from the fields of a product to the columns of a file. */

import { getMemberNames, isObject } from '../../json-object.ts';
import { type Field, fieldReaders, findListField, findReader, memberNames } from './fields.ts';

/** The product fields that can be imported and exported, in the order of an exported file. */
export const productFields: readonly Field[] = getMemberNames(fieldReaders);

/** What a column or a value may be for, as messages list it. */
const listed = [...productFields, ...memberNames, 'attributes.KEY'].join(', ');

/** Fields → the columns that they are read from. */
export type Mapping = ReadonlyMap<string, string>;

/** A mapping that cannot be used; the message names the rule and the part that breaks it. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
}

/**
 * Reads `name=title,price=UnitPrice`: FIELD=COLUMN pairs separated by commas. Spaces around a field or column are
 * ignored. Each field may occur once, a list several times. A column's name may contain `=`, and commas if no `=` follows them. An empty text is
 * an empty mapping. Throws `MappingError`.
 */
export function parseMapping(text: string): Mapping {
  const mapping = new Map<string, string>();
  if (text.trim() === '') return mapping;
  for (const pair of splitPairs(text)) {
    const at = pair.indexOf('=');
    const field = pair.slice(0, Math.max(at, 0)).trim();
    const column = pair.slice(at + 1).trim();
    if (field === '' || column === '')
      throw new MappingError(`a mapping is FIELD=COLUMN pairs separated by commas, not "${pair.trim()}"`);
    if (findReader(field) === undefined)
      throw new MappingError(`the field of a mapping must be one of ${listed}, not "${field}"`);
    mapping.set(nameEntry(field, mapping), column);
  }
  return mapping;
}

/** The name of a field in a mapping; a list may have several columns: `images`, `images#2`, … */
function nameEntry(field: string, mapping: Mapping): string {
  let name = field;
  for (let number = 2; mapping.has(name); number += 1) name = `${field}#${number}`;
  if (name !== field && findListField(name) === undefined)
    throw new MappingError(`a mapping may name a field only once; "${field}" is named twice`);
  return name;
}

/** Splits at commas, except before a part without `=`, which belongs to a column such as `Price (net, EUR)`. */
function splitPairs(text: string): string[] {
  const pairs: string[] = [];
  for (const part of text.split(',')) {
    const last = pairs.length - 1;
    if (last < 0 || part.includes('=') || part.trim() === '') pairs.push(part);
    else pairs[last] += `,${part}`;
  }
  return pairs;
}

/**
 * Reads texts such as `brand=Acme`: FIELD=VALUE, where the value may contain `=` and commas. Each field may occur once.
 * Throws `MappingError`.
 */
export function parseSettings(texts: readonly string[]): Mapping {
  const settings = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const field = text.slice(0, Math.max(at, 0)).trim();
    if (field === '') throw new MappingError(`takes FIELD=VALUE, not "${text}"`);
    if (findReader(field) === undefined)
      throw new MappingError(`the field must be one of ${listed}, not "${field}"`);
    if (settings.has(field)) throw new MappingError(`may name a field only once; "${field}" is named twice`);
    settings.set(field, text.slice(at + 1).trim());
  }
  return settings;
}

/** The value of a column, found by its exact name, or ignoring case, or as a dotted path; undefined if not found. */
export function pickMember(record: Readonly<Record<string, unknown>>, column: string): unknown {
  if (Object.hasOwn(record, column)) return record[column];
  const key = findSameName(record, column);
  if (key !== undefined) return record[key];
  const dot = column.indexOf('.');
  if (dot < 0) return undefined;
  const member = pickMember(record, column.slice(0, dot));
  return isObject(member) ? pickMember(member, column.slice(dot + 1)) : undefined;
}

/** The first key that equals the name, ignoring case. */
function findSameName(record: Readonly<Record<string, unknown>>, name: string): string | undefined {
  for (const key in record) {
    // The length is compared first: this runs for every field that a record leaves out.
    if (key.length === name.length && key.toLowerCase() === name.toLowerCase()) return key;
  }
  return undefined;
}

/** `a.b.c` → `a`, `a.b` and `a.b.c`. */
export const listPrefixes = (path: string): string[] => {
  const names = path.split('.');
  return names.map((_, index) => names.slice(0, index + 1).join('.'));
};
