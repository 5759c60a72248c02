/** Readers that convert a cell of a table or a member of an object to a field of a product. */
import { attributeKey, toAttributeKey } from '../../attribute-key.ts';
import { isObject, tryParseJson } from '../../json-object.ts';
import { type AmountOptions, type DecimalMark, readAmount, readCurrency } from './amount.ts';
import { addBase, encodeSpaces, isPath, splitAddresses, toList, toPath } from './list.ts';
import { type AttributeTypes, parseBoolean, readTypedValue } from './typed.ts';
import { findWeightUnit, readWeight, type WeightUnit } from './weight.ts';

/** Options that a user gives for the cells of a file. */
export interface CellOptions {
  readonly decimal?: DecimalMark | undefined;
  /** The currency of records that name none. */
  readonly currency?: string | undefined;
  /** The separator between tags; `;` or `|` if undefined. */
  readonly tagSeparator?: string | undefined;
  /** The separator between the names of a category's path; if undefined, paths are kept as they are. */
  readonly categorySeparator?: string | undefined;
  /** The unit of weights that name none. */
  readonly weightUnit?: WeightUnit | undefined;
  readonly watch?: AmountOptions['watch'];
  /** The prefix of images that are only paths. */
  readonly imageBase?: string | undefined;
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

  /** The value that a message shows. */
  toJSON(): unknown {
    return this.value;
  }
}

/** An amount whose cell also names a currency. */
export class AmountIn {
  readonly value: number;
  readonly currency: string;
  /** The currencies that the sign in the cell may stand for. */
  readonly choices: readonly string[];

  constructor(value: number, currency: string, choices: readonly string[] = [currency]) {
    this.value = value;
    this.currency = currency;
    this.choices = choices;
  }
}

export type Reader = (value: unknown, options: CellOptions) => unknown;

/** JSON files often hold article numbers as numbers; text fields take their digits. */
const toText: Reader = value => (typeof value === 'number' ? String(value) : value);

const toAmount: Reader = (value, options) => {
  if (typeof value !== 'string') return value;
  const read = readAmount(value, options satisfies AmountOptions);
  if (typeof read === 'string') return new Unreadable(read, value);
  return read.currency === undefined ? read.value : new AmountIn(read.value, read.currency, read.choices);
};

/** The problem of a number of pieces with a currency beside it. */
export const withoutCurrency = 'must be a number without a currency';

const parseJson: Reader = value => {
  if (typeof value !== 'string') return value;
  const parsed = tryParseJson(value);
  return parsed === undefined ? new Unreadable('must be JSON', value) : parsed;
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

const toAddress: Reader = (value, { imageBase }) => {
  if (typeof value !== 'string' || value === '') return value;
  if (imageBase === undefined && isPath(value))
    return new Unreadable('is only a path: --image-base names the address that precedes it', value);
  return addBase(value, imageBase);
};

const toImage: Reader = (value, options) => {
  if (typeof value === 'string') return { url: toAddress(value, options) };
  if (!isObject(value)) return value;
  const url = toAddress(value.url, options);
  // The other members are what a catalog adds for its own uploads.
  return value.alt === undefined ? { url } : { url, alt: value.alt };
};

const toImages: Reader = (value, options) => {
  const items =
    typeof value === 'string' && !value.startsWith('[')
      ? splitAddresses(value).map(encodeSpaces)
      : parseJson(value, options);
  return Array.isArray(items) ? items.map(item => toImage(item, options)) : items;
};

/** Reads `{"tracked": true, "onHand": 5}`, or only a number of pieces. */
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
  image: toAddress,
  imageId: keepAsItIs,
  position: keepAsItIs,
};

/** Statuses of shops → those of a product. */
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
  currency: (value: unknown, options: CellOptions) =>
    typeof value === 'string' ? readCurrency(value, options) : value,
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
  attributes: parseJson,
  options: parseJson,
  images: toImages,
  stock: toStock,
  variants: toVariants,
} satisfies Record<string, Reader>;

export type Field = keyof typeof fieldReaders;

/** Readers of columns that hold one member of a field, such as `stock.onHand`. */
const memberReaders: Readonly<Record<string, Reader>> = {
  'stock.tracked': value => parseBoolean(value),
  'stock.onHand': toAmount,
  'stock.backorder': value => parseBoolean(value),
  // As in a column of whole weights, 0 is none.
  'weight.value': (value, options) => toAmount(value, options) || undefined,
  'weight.unit': value => (typeof value === 'string' ? (findWeightUnit(value) ?? value) : value),
};

const attributePrefix = 'attributes.';

/** The name of an attribute's column with a valid key; undefined unless it is called `attributes.…`. */
export function toAttributeName(column: string): string | undefined {
  if (column.length <= attributePrefix.length) return undefined;
  if (column.slice(0, attributePrefix.length).toLowerCase() !== attributePrefix) return undefined;
  const key = column.slice(attributePrefix.length);
  return `${attributePrefix}${attributeKey.test(key) ? key : toAttributeKey(key)}`;
}

export const memberNames = Object.keys(memberReaders);

/** A further column of a list, such as `images#2`: some shops write each image of a product into a column of its own. */
const furtherColumn = /^(tags|categories|images)#\d+$/;

/** The list that a further column belongs to; undefined for any other name. */
export const findListField = (name: string): string | undefined => furtherColumn.exec(name)?.[1];

/** The reader of a field or of a member of a field; undefined for an unknown name. */
export function findReader(name: string): Reader | undefined {
  // Boundary: Object.hasOwn does not narrow the type of the name.
  if (Object.hasOwn(fieldReaders, name)) return fieldReaders[name as Field];
  if (Object.hasOwn(memberReaders, name)) return memberReaders[name];
  const list = findListField(name);
  if (list !== undefined) return findReader(list);
  if (toAttributeName(name) !== name) return undefined;
  const key = name.slice(attributePrefix.length);
  return (value, options) => readTypedValue(value, options.types?.get(key), options);
}
