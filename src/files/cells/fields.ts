/** How each field of a product is read from a cell of a table or a member of an object. */
import { isObject } from '../../json-object.ts';
import { type AmountOptions, type DecimalMark, readAmount } from './amount.ts';
import { attributeKey } from './attribute.ts';
import { splitAddresses, toList, toPath } from './list.ts';
import { type AttributeTypes, booleanOf, typedValue } from './typed.ts';
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
  /** Of the attributes that the catalog defines. */
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

  constructor(value: number, currency: string) {
    this.value = value;
    this.currency = currency;
  }
}

export type Reader = (value: unknown, options: CellOptions) => unknown;

/** JSON files often hold an article number as a number; the fields that are text take its digits. */
const text: Reader = value => (typeof value === 'number' ? String(value) : value);

const amount: Reader = (value, options) => {
  if (typeof value !== 'string') return value;
  const read = readAmount(value, options satisfies AmountOptions);
  if (typeof read === 'string') return new Unreadable(read, value);
  return read.currency === undefined ? read.value : new AmountIn(read.value, read.currency);
};

/** Why an amount in whose cell a currency stands is no number of pieces. */
export const withoutCurrency = 'must be a number without a currency';

const json: Reader = value => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return new Unreadable('must be JSON', value);
  }
};

const weight: Reader = (value, options) => {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  if (typeof value === 'string' && value.startsWith('{')) return json(value, options);
  const read = readWeight(String(value), options.weightUnit, options);
  return typeof read === 'string' ? new Unreadable(read, value) : read;
};

const path = (value: unknown, separator: string | undefined): unknown =>
  typeof value === 'string' && separator !== undefined ? toPath(value, separator) : value;

const paths: Reader = (value, { categorySeparator }) => {
  const items = toList(value);
  return Array.isArray(items) ? items.map(item => path(text(item, {}), categorySeparator)) : items;
};

const image = (value: unknown): unknown => {
  if (typeof value === 'string') return { url: value };
  if (!isObject(value)) return value;
  // The rest is what a catalog says of its own uploads.
  return value.alt === undefined ? { url: value.url } : { url: value.url, alt: value.alt };
};

const images: Reader = (value, options) => {
  const items =
    typeof value === 'string' && !value.startsWith('[') ? splitAddresses(value) : json(value, options);
  return Array.isArray(items) ? items.map(image) : items;
};

/** `{"tracked": true, "onHand": 5}`, or a number of pieces alone. */
const stock: Reader = (value, options) => {
  if (typeof value === 'number') return { onHand: value };
  if (typeof value === 'string' && !value.startsWith('{')) {
    const pieces = amount(value, options);
    if (pieces instanceof AmountIn) return new Unreadable(withoutCurrency, value);
    return typeof pieces === 'number' ? { onHand: pieces } : pieces;
  }
  const members = json(value, options);
  if (!isObject(members) || members instanceof Unreadable) return members;
  const { reserved: _reserved, ...own } = members;
  return own;
};

const attributes: Reader = (value, options) => json(value, options);

const variants: Reader = (value, options) => {
  const items = json(value, options);
  return Array.isArray(items) ? items.map(item => variant(item, options)) : items;
};

function variant(value: unknown, options: CellOptions): unknown {
  if (!isObject(value)) return value;
  const read: Record<string, unknown> = {};
  for (const [name, reader] of Object.entries(variantReaders)) {
    const given = value[name];
    if (given !== undefined) read[name] = given === null ? null : reader(given, options);
  }
  return read;
}

const asItIs: Reader = value => value;
const variantReaders: Readonly<Record<string, Reader>> = {
  sku: text,
  gtin: text,
  options: asItIs,
  price: amount,
  compareAtPrice: amount,
  weight,
  stock,
  image: asItIs,
  imageId: asItIs,
  position: asItIs,
};

/** What shops call their statuses, as these two. */
const statuses: ReadonlyMap<unknown, string> = new Map([
  ...['active', 'publish', 'published', 'enabled'].map(word => [word, 'active'] as const),
  ...['archived', 'draft', 'private', 'pending', 'unpublished', 'disabled', 'inactive'].map(
    word => [word, 'archived'] as const,
  ),
]);

const status: Reader = value =>
  (typeof value === 'string' ? statuses.get(value.trim().toLowerCase()) : undefined) ?? value;

/** The fields that can be imported, in the order of an exported file. */
export const fieldReaders = {
  sku: text,
  name: text,
  price: amount,
  currency: text,
  description: text,
  category: (value: unknown, options: CellOptions) => path(text(value, options), options.categorySeparator),
  tags: (value: unknown, options: CellOptions) => toList(value, options.tagSeparator),
  status,
  brand: text,
  gtin: text,
  mpn: text,
  externalId: text,
  compareAtPrice: amount,
  basePrice: amount,
  weight,
  categories: paths,
  attributes,
  options: json,
  images,
  stock,
  variants,
} satisfies Record<string, Reader>;

export type Field = keyof typeof fieldReaders;

/** Columns such as `attributes.colour` and `stock.onHand`: members of a field. */
const memberReaders: Readonly<Record<string, Reader>> = {
  'stock.tracked': value => booleanOf(value),
  'stock.onHand': amount,
  'stock.backorder': value => booleanOf(value),
  'weight.value': amount,
  'weight.unit': text,
};

const attributePrefix = 'attributes.';
const attributeForm = /^[a-z][a-z0-9_.-]{0,63}$/;

/** The name a column has as a member of the attributes; undefined for one that is not called `attributes.…`. */
export function attributeName(column: string): string | undefined {
  if (column.length <= attributePrefix.length) return undefined;
  if (column.slice(0, attributePrefix.length).toLowerCase() !== attributePrefix) return undefined;
  const key = column.slice(attributePrefix.length);
  return `${attributePrefix}${attributeForm.test(key) ? key : attributeKey(key)}`;
}

export const memberNames = Object.keys(memberReaders);

/** How a field or a member of one is read; undefined when there is none of that name. */
export function readerOf(name: string): Reader | undefined {
  // Boundary: Object.hasOwn does not narrow the type of the name that it has found.
  if (Object.hasOwn(fieldReaders, name)) return fieldReaders[name as Field];
  if (Object.hasOwn(memberReaders, name)) return memberReaders[name];
  if (attributeName(name) !== name) return undefined;
  const key = name.slice(attributePrefix.length);
  return (value, options) => typedValue(value, options.types?.get(key), options);
}
