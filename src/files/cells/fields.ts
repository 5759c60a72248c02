/** How each field of a product is read from a cell of a table or a member of an object. */
import { attributeKey, toAttributeKey } from '../../attribute-key.ts';
import { isObject } from '../../json-object.ts';
import { type AmountOptions, type DecimalMark, readAmount } from './amount.ts';
import { encodeSpaces, splitAddresses, toList, toPath } from './list.ts';
import { type AttributeTypes, parseBoolean, readTypedValue } from './typed.ts';
import { readWeight, type WeightUnit } from './weight.ts';

/** What a user says of the cells of a file. */
export interface CellOptions {
  readonly decimal?: DecimalMark | undefined;
  /** Of records that name none. */
  readonly currency?: string | undefined;
  /** What stands between tags; undefined: `;` or `|`. */
  readonly tagSeparator?: string | undefined;
  /** What stands between the names of a category's path; undefined: they are taken as they are. */
  readonly categorySeparator?: string | undefined;
  /** Of weights that name none. */
  readonly weightUnit?: WeightUnit | undefined;
  /** The types of the attributes that the catalog defines. */
  readonly types?: AttributeTypes | undefined;
}

/** A value that cannot be read, and why. */
export class Unreadable {
  readonly problem: string;
  readonly value: unknown;

  constructor(problem: string, value: unknown) {
    this.problem = problem;
    this.value = value;
  }

  /** What a message shows. */
  toJSON(): unknown {
    return this.value;
  }
}

/** An amount in whose cell a currency stands. */
export class AmountIn {
  readonly value: number;
  readonly currency: string;
  /** What the sign in the cell may stand for. */
  readonly choices: readonly string[];

  constructor(value: number, currency: string, choices: readonly string[] = [currency]) {
    this.value = value;
    this.currency = currency;
    this.choices = choices;
  }
}

export type Reader = (value: unknown, options: CellOptions) => unknown;

/** JSON files often hold an article number as a number; the fields that are text take its digits. */
const toText: Reader = value => (typeof value === 'number' ? String(value) : value);

const toAmount: Reader = (value, options) => {
  if (typeof value !== 'string') return value;
  const read = readAmount(value, options satisfies AmountOptions);
  if (typeof read === 'string') return new Unreadable(read, value);
  return read.currency === undefined ? read.value : new AmountIn(read.value, read.currency, read.choices);
};

/** Why an amount with a currency beside it is not a number of pieces. */
export const withoutCurrency = 'must be a number without a currency';

const parseJson: Reader = value => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return new Unreadable('must be JSON', value);
  }
};

const toWeight: Reader = (value, options) => {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  if (typeof value === 'string' && value.startsWith('{')) return parseJson(value, options);
  const read = readWeight(String(value), options.weightUnit, options);
  return typeof read === 'string' ? new Unreadable(read, value) : read;
};

const splitPath = (value: unknown, separator: string | undefined): unknown =>
  typeof value === 'string' && separator !== undefined ? toPath(value, separator) : value;

const toPaths: Reader = (value, { categorySeparator }) => {
  const items = toList(value);
  return Array.isArray(items) ? items.map(item => splitPath(toText(item, {}), categorySeparator)) : items;
};

const toImage = (value: unknown): unknown => {
  if (typeof value === 'string') return { url: value };
  if (!isObject(value)) return value;
  // The rest is what a catalog says of its own uploads.
  return value.alt === undefined ? { url: value.url } : { url: value.url, alt: value.alt };
};

const toImages: Reader = (value, options) => {
  const items =
    typeof value === 'string' && !value.startsWith('[')
      ? splitAddresses(value).map(encodeSpaces)
      : parseJson(value, options);
  return Array.isArray(items) ? items.map(toImage) : items;
};

/** `{"tracked": true, "onHand": 5}`, or a number of pieces alone. */
const toStock: Reader = (value, options) => {
  if (typeof value === 'number') return { onHand: value };
  if (typeof value === 'string' && !value.startsWith('{')) {
    const pieces = toAmount(value, options);
    if (pieces instanceof AmountIn) return new Unreadable(withoutCurrency, value);
    return typeof pieces === 'number' ? { onHand: pieces } : pieces;
  }
  const members = parseJson(value, options);
  if (!isObject(members) || members instanceof Unreadable) return members;
  const { reserved: _reserved, ...own } = members;
  return own;
};

const toAttributes: Reader = (value, options) => parseJson(value, options);

const toVariants: Reader = (value, options) => {
  const items = parseJson(value, options);
  return Array.isArray(items) ? items.map(item => toVariant(item, options)) : items;
};

function toVariant(value: unknown, options: CellOptions): unknown {
  if (!isObject(value)) return value;
  const read: Record<string, unknown> = {};
  for (const [name, reader] of Object.entries(variantReaders)) {
    const given = value[name];
    if (given !== undefined) read[name] = given === null ? null : reader(given, options);
  }
  return read;
}

const keepAsItIs: Reader = value => value;
const variantReaders: Readonly<Record<string, Reader>> = {
  sku: toText,
  gtin: toText,
  options: keepAsItIs,
  price: toAmount,
  compareAtPrice: toAmount,
  weight: toWeight,
  stock: toStock,
  image: keepAsItIs,
  imageId: keepAsItIs,
  position: keepAsItIs,
};

/** What shops call their statuses, as these two. */
const statuses: ReadonlyMap<unknown, string> = new Map([
  ...['active', 'publish', 'published', 'enabled'].map(word => [word, 'active'] as const),
  ...['archived', 'draft', 'private', 'pending', 'unpublished', 'disabled', 'inactive'].map(
    word => [word, 'archived'] as const,
  ),
]);

const toStatusWord: Reader = value =>
  (typeof value === 'string' ? statuses.get(value.trim().toLowerCase()) : undefined) ?? value;

/** The fields that can be imported, in the order of an exported file. */
export const fieldReaders = {
  sku: toText,
  name: toText,
  price: toAmount,
  currency: toText,
  description: toText,
  category: (value: unknown, options: CellOptions) =>
    splitPath(toText(value, options), options.categorySeparator),
  tags: (value: unknown, options: CellOptions) => toList(value, options.tagSeparator),
  status: toStatusWord,
  brand: toText,
  gtin: toText,
  mpn: toText,
  externalId: toText,
  compareAtPrice: toAmount,
  basePrice: toAmount,
  weight: toWeight,
  categories: toPaths,
  attributes: toAttributes,
  options: parseJson,
  images: toImages,
  stock: toStock,
  variants: toVariants,
} satisfies Record<string, Reader>;

export type Field = keyof typeof fieldReaders;

/** Columns such as `attributes.colour` and `stock.onHand`: members of a field. */
const memberReaders: Readonly<Record<string, Reader>> = {
  'stock.tracked': value => parseBoolean(value),
  'stock.onHand': toAmount,
  'stock.backorder': value => parseBoolean(value),
  'weight.value': toAmount,
  'weight.unit': toText,
};

const attributePrefix = 'attributes.';

/** The name a column has as a member of the attributes; undefined for one that is not called `attributes.…`. */
export function toAttributeName(column: string): string | undefined {
  if (column.length <= attributePrefix.length) return undefined;
  if (column.slice(0, attributePrefix.length).toLowerCase() !== attributePrefix) return undefined;
  const key = column.slice(attributePrefix.length);
  return `${attributePrefix}${attributeKey.test(key) ? key : toAttributeKey(key)}`;
}

export const memberNames = Object.keys(memberReaders);

/** How a field or a member of one is read; undefined for an unknown name. */
export function findReader(name: string): Reader | undefined {
  // Boundary: Object.hasOwn does not narrow the type of the name that it has found.
  if (Object.hasOwn(fieldReaders, name)) return fieldReaders[name as Field];
  if (Object.hasOwn(memberReaders, name)) return memberReaders[name];
  if (toAttributeName(name) !== name) return undefined;
  const key = name.slice(attributePrefix.length);
  return (value, options) => readTypedValue(value, options.types?.get(key), options);
}
