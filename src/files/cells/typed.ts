/** Reads the values of defined attributes: cells of a table have no types, so the definition decides. */
import { isDeepStrictEqual } from 'node:util';
import { type AmountOptions, readAmount } from './amount.ts';
import { parseAttributeValue } from './attribute.ts';

export type AttributeType = 'text' | 'number' | 'boolean' | 'date' | 'choice';

/** The types of the defined attributes, by key. */
export type AttributeTypes = ReadonlyMap<string, AttributeType>;

/** A value that its type changes from what the cell looks like. */
export class TypedValue {
  readonly value: unknown;
  /** The value without the type: what an export has written if the attribute was defined after the value. */
  readonly plain: unknown;

  constructor(value: unknown, plain: unknown) {
    this.value = value;
    this.plain = plain;
  }
}

/** The value in a cell; a TypedValue if its type changes it from what the cell looks like. */
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
 * The value in a cell. A value that the type does not allow stays text, so that the error shows it as written. A list
 * or a text in the form of JSON is parsed.
 * @param plain the value without the type
 * @param type undefined if the attribute is not defined
 */
function parseTypedValue(
  cell: unknown,
  plain: unknown,
  type: AttributeType | undefined,
  options: AmountOptions,
): unknown {
  if (typeof cell !== 'string') return plain;
  if (type === undefined) return parseAttributeValue(cell, options.decimal);
  // The items of a list are always texts; types that do not allow texts refuse them later.
  if (Array.isArray(plain)) return plain.map(item => parseListed(String(item), type));
  return parseTypedText(isQuoted(cell) && typeof plain === 'string' ? plain : cell, type, options);
}

const parseListed = (text: string, type: AttributeType): string =>
  type === 'date' || type === 'choice' ? text.trim() : text;

const isQuoted = (cell: string): boolean => cell.trim().startsWith('"');

/** Converts a text to a value of the type. */
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

/** Databases write a letter, spreadsheets a word in the user's language. */
const yesWords: ReadonlySet<string> = new Set('true 1 yes y ja wahr vrai oui verdadero vero waar'.split(' '));
const noWords: ReadonlySet<string> = new Set('false 0 no n nein falsch faux non falso onwaar'.split(' '));

/** Converts the usual words for true and false; returns any other value unchanged. */
export function parseBoolean(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  if (yesWords.has(word)) return true;
  return noWords.has(word) ? false : value;
}
