/** Attributes that are defined: the cells of a table have no types, so that each is read as its definition says. */
import { isDeepStrictEqual } from 'node:util';
import { type AmountOptions, readAmount } from './amount.ts';
import { parseAttributeValue } from './attribute.ts';

export type AttributeType = 'text' | 'number' | 'boolean' | 'date' | 'choice';

/** The type of each attribute that is defined, by its key. */
export type AttributeTypes = ReadonlyMap<string, AttributeType>;

/** A value that by its type is another one than it looks like. */
export class TypedValue {
  readonly value: unknown;
  /** As it looks: what an export has made the cell of, where the definition came later than the value. */
  readonly plain: unknown;

  constructor(value: unknown, plain: unknown) {
    this.value = value;
    this.plain = plain;
  }
}

/** The value in a cell, or both where its type makes another one of it than it looks like. */
export function readTypedValue(
  cell: unknown,
  type: AttributeType | undefined,
  options: AmountOptions,
): unknown {
  const plain = parseAttributeValue(cell);
  const value = parseTypedValue(cell, plain, type, options);
  return isDeepStrictEqual(value, plain) ? value : new TypedValue(value, plain);
}

/**
 * The value in a cell. What the type does not allow stays a text, so that the rule that refuses it shows it as it is
 * written; a list or a text that is written as JSON is read as such.
 * @param plain as it looks
 * @param type undefined where the attribute is not defined
 */
function parseTypedValue(
  cell: unknown,
  plain: unknown,
  type: AttributeType | undefined,
  options: AmountOptions,
): unknown {
  if (typeof cell !== 'string') return plain;
  if (type === undefined) return parseAttributeValue(cell, options.decimal);
  // A list is of texts, whatever its type: where that is another one, the rule for the type refuses it.
  if (Array.isArray(plain)) return plain.map(item => parseListed(String(item), type));
  return parseTypedText(isQuoted(cell) && typeof plain === 'string' ? plain : cell, type, options);
}

const parseListed = (text: string, type: AttributeType): string =>
  type === 'date' || type === 'choice' ? text.trim() : text;

const isQuoted = (cell: string): boolean => cell.trim().startsWith('"');

/** The value that a text stands for, as its type says. */
export function parseTypedText(text: string, type: AttributeType, options: AmountOptions): unknown {
  switch (type) {
    case 'text':
      return text;
    case 'date':
    case 'choice':
      return text.trim();
    case 'boolean':
      return parseBoolean(text);
    case 'number': {
      const read = readAmount(text, options);
      return typeof read === 'string' || read.currency !== undefined ? text : read.value;
    }
  }
}

/** True or false where a value says so in any of the usual ways; otherwise the value. */
export function parseBoolean(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  if (['true', '1', 'yes', 'ja'].includes(word)) return true;
  return ['false', '0', 'no', 'nein'].includes(word) ? false : value;
}
