/** Rules that depend on the state of a product, beyond its schema. */

import { isDeepStrictEqual } from 'node:util';
import { buildErrorDetail, createFieldError, HttpError } from '../../http/errors.ts';
import { findUnknownImage } from './members/images.ts';
import type { Option } from './members/options.ts';
import { type Stock, type StockFields, toStockFields } from './members/stock.ts';
import type { Product, ProductFields } from './schema.ts';

/**
 * @param before the current product; undefined for a new one
 * @throws HttpError 400 naming the field
 */
export function refuseImpossible(before: Product | undefined, { stock, images }: ProductFields): void {
  const unknown = findUnknownImage(before?.images ?? [], images);
  if (unknown !== undefined) {
    const { index, field } = unknown;
    const rule = `must be the ${field === 'id' ? 'id' : 'address'} of an image of the product`;
    throw createFieldError(['images', index, field], 'unknown', `${rule}, not ${images[index]?.[field]}`);
  }
  refuseOwnStock(before, stock);
  refuseBelowReserved(before?.stock ?? null, stock);
}

/** @throws HttpError 400 for own stock of a product with variants, unless it already had this stock before */
export function refuseOwnStock(
  before: Pick<Product, 'variantCount' | 'stock'> | undefined,
  stock: StockFields | null,
): void {
  if (before === undefined || before.variantCount === 0 || stock === null || isSame(before.stock, stock))
    return;
  throw createFieldError(
    'stock',
    'variants',
    'must be null: a product with variants has stock on each variant',
  );
}

const maxBytesPerCharacter = 3;

/** The maximum number of characters of products that one change may rewrite. */
export const maxWritten = 6_000_000;

/**
 * Keeps a change from blocking all other requests: the time of COMMIT grows with the amount of data written.
 * @param field the member that names the products
 * @returns a function to be called with each product, as stored and as parsed, and its change. It throws an HttpError
 *   400 as soon as their total text, before or after the change, exceeds what one change may write.
 */
export function createTextLimit(
  field: string,
): (stored: { readonly document: string }, product: Product, update: object) => void {
  let sent: { readonly update: object; readonly length: number } | undefined;
  let before = 0;
  let after = 0;
  return ({ document }, product, update) => {
    // Products may have one change in common.
    if (sent?.update !== update) sent = { update, length: JSON.stringify(update).length };
    before += document.length;
    after += document.length + sent.length;
    for (const [name, value] of Object.entries(product))
      if (name in update) after -= JSON.stringify(value).length;
    refuseLongTexts(field, Math.max(before, after));
  };
}

/**
 * @param field the member that names the products
 * @param characters their total text
 * @throws HttpError 400 if that is more than one change may write
 */
export function refuseLongTexts(field: string, characters: number): void {
  if (characters <= maxWritten) return;
  const most = maxWritten.toLocaleString('en');
  const rule = `must name products with at most ${most} characters of text in total, before and after`;
  throw createFieldError(field, 'maxText', `${rule}: name fewer`);
}

/** The same check before reading any: a UTF-16 code unit has at most 3 bytes in UTF-8. @param bytes their total */
export const refuseManyBytes = (field: string, bytes: number): void =>
  refuseLongTexts(field, Math.floor(bytes / maxBytesPerCharacter));

const isSame = (stock: Stock | null, fields: StockFields): boolean =>
  isDeepStrictEqual(toStockFields(stock), fields);

/**
 * @param path the names on the path to what has the stock; none for the body
 * @throws HttpError 400 for a stock that is less than orders have reserved
 */
export function refuseBelowReserved(
  before: Stock | null,
  stock: StockFields | null,
  path: readonly (string | number)[] = [],
): void {
  const { reserved = 0, onHand = 0 } = before ?? {};
  if (reserved === 0) return;
  const refuse = (member: readonly string[], rule: string, message: string) =>
    createFieldError([...path, 'stock', ...member], rule, message);
  if (stock === null)
    throw refuse([], 'reserved', `cannot be removed while orders have reserved ${reserved}`);
  // After backorders, the stock may stay below the reserved quantity, and backorder may be switched off.
  if (stock.onHand < reserved && stock.onHand < onHand && !stock.backorder)
    throw refuse(['onHand'], 'minimum', `must be at least ${reserved}, the number that orders have reserved`);
}

export interface OptionValue {
  readonly name: string;
  readonly value: string;
}

/** The effect of a change of a product's options on its variants, which have a value for each option. */
export interface OptionsChange {
  /** New names by former name. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Removed values, which no variant may have, by the former names of their options. */
  readonly removed: readonly OptionValue[];
}

/** @throws HttpError 409 if it removes or adds an option of a product with variants */
export function readOptionsChange(before: Product, { options }: ProductFields): OptionsChange {
  if (before.variantCount === 0) return { renamed: new Map(), removed: [] };
  const names = options.map(({ name }) => name);
  const renamed = findRenamed(before.options, names);
  const gone = before.options.find(({ name }) => !names.includes(name) && !renamed.has(name));
  if (gone !== undefined) throw createOptionUsedError(gone.name);
  const had = new Set(before.options.map(({ name }) => renamed.get(name) ?? name));
  const fresh = names.find(name => !had.has(name));
  if (fresh !== undefined)
    throw createRefusedOptionsError(`"${fresh}" cannot be added: variants have no value for it`);
  const kept = new Map(options.map(({ name, values }) => [name, new Set(values)]));
  const removed = before.options.flatMap(({ name, values }) => {
    const own = kept.get(renamed.get(name) ?? name);
    return values.filter(value => own?.has(value) !== true).map(value => ({ name, value }));
  });
  return { renamed, removed };
}

/** A new name at the position of a former one renames that option. */
function findRenamed(before: readonly Option[], names: readonly string[]): Map<string, string> {
  const renamed = new Map<string, string>();
  for (const [index, { name }] of before.entries()) {
    const next = names[index];
    if (next === undefined || names.includes(name)) continue;
    if (before.every(option => option.name !== next)) renamed.set(name, next);
  }
  return renamed;
}

/** The error for renaming an option of several products at once: each may have very many variants. */
export const createBulkRenameError = (name: string): HttpError =>
  createRefusedOptionsError(`variants have the option "${name}": rename it one product at a time`);

/** The error for removing an option or value that variants have. */
export function createOptionUsedError(name: string, value?: string): HttpError {
  const what = value === undefined ? `the option "${name}"` : `the value "${value}" of the option "${name}"`;
  return createRefusedOptionsError(`variants have ${what}; change or delete them first`);
}

function createRefusedOptionsError(message: string): HttpError {
  const details = [buildErrorDetail(['options'], 'inUse', message)];
  return new HttpError('OPTION_IN_USE', { message: `options: ${message}`, details });
}
