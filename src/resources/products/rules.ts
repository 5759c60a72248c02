/** What a product cannot become, whatever its schema allows: what it has already is against it. */

import { isDeepStrictEqual } from 'node:util';
import { buildErrorDetail, createFieldError, HttpError } from '../../http/errors.ts';
import { findUnknownImage } from './members/images.ts';
import type { Option } from './members/options.ts';
import { type Stock, type StockFields, toStockFields } from './members/stock.ts';
import type { Product, ProductFields } from './schema.ts';

/**
 * @param before the product as it is; undefined for a new one
 * @throws HttpError 400 that names the field
 */
export function refuseImpossible(before: Product | undefined, { stock, images }: ProductFields): void {
  const unknown = findUnknownImage(before?.images ?? [], images);
  if (unknown !== undefined) {
    const { index, field } = unknown;
    throw createFieldError(['images', index, field], 'unknown', 'must be that of an image the product has');
  }
  refuseOwnStock(before, stock);
  refuseBelowReserved(before?.stock ?? null, stock);
}

/** @throws HttpError 400 for pieces of a product that has variants, other than it has had since before it had some */
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

const mostBytesOfCharacter = 3;

/** Characters of products that one change writes again at most. */
export const mostWritten = 6_000_000;

/**
 * Keeps one change from holding up all other requests: what COMMIT does grows with all that is written.
 * @param update what is sent for each product
 * @returns a function to be called with each of them, as it is stored and parsed; it throws an HttpError 400 as soon as they
 * have more text than one change may write, as they are or as they would be
 */
export function createTextLimit(
  update: object,
): (stored: { readonly document: string }, product: Product) => void {
  const sent = JSON.stringify(update).length;
  let before = 0;
  let after = 0;
  return ({ document }, product) => {
    before += document.length;
    after += document.length + sent;
    for (const [name, value] of Object.entries(product))
      if (name in update) after -= JSON.stringify(value).length;
    refuseLongTexts('ids', Math.max(before, after));
  };
}

/**
 * @param field the member that names the products
 * @param characters what they have together
 * @throws HttpError 400 when that is more than one change may write
 */
export function refuseLongTexts(field: string, characters: number): void {
  if (characters <= mostWritten) return;
  const most = mostWritten.toLocaleString('en');
  const rule = `must name products that have ${most} characters of text together at most, before and after`;
  throw createFieldError(field, 'maxText', `${rule}: send fewer`);
}

/** The same before any is read: as JavaScript counts characters, none takes more bytes of UTF-8. @param bytes all they have */
export const refuseManyBytes = (field: string, bytes: number): void =>
  refuseLongTexts(field, Math.floor(bytes / mostBytesOfCharacter));

const isSame = (stock: Stock | null, fields: StockFields): boolean =>
  isDeepStrictEqual(toStockFields(stock), fields);

/** @throws HttpError 400 for a stock that does not have what orders have reserved of it */
export function refuseBelowReserved(before: Stock | null, stock: StockFields | null): void {
  const { reserved = 0, onHand = 0 } = before ?? {};
  if (reserved === 0) return;
  if (stock === null) {
    throw createFieldError('stock', 'reserved', `cannot be removed while orders have reserved ${reserved}`);
  }
  // Sold beyond what there was, it may stay below; and backorder may end.
  if (stock.onHand < reserved && stock.onHand < onHand && !stock.backorder) {
    throw createFieldError(
      ['stock', 'onHand'],
      'minimum',
      `must be at least ${reserved}, the number that orders have reserved`,
    );
  }
}

export interface OptionValue {
  readonly name: string;
  readonly value: string;
}

/** What a change of a product's options means for its variants, which have a value of each. */
export interface OptionsChange {
  /** New names by those that the options have had. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Values that are taken away, which variants must not have; by the names that their options have had. */
  readonly removed: readonly OptionValue[];
}

/** @throws HttpError 409 when it takes away or adds an option of a product with variants */
export function readOptionsChange(before: Product, { options }: ProductFields): OptionsChange {
  if (before.variantCount === 0) return { renamed: new Map(), removed: [] };
  const names = options.map(({ name }) => name);
  const renamed = findRenamed(before.options, names);
  const gone = before.options.find(({ name }) => !names.includes(name) && !renamed.has(name));
  if (gone !== undefined) throw createOptionUsedError(gone.name);
  const had = new Set(before.options.map(({ name }) => renamed.get(name) ?? name));
  const fresh = names.find(name => !had.has(name));
  if (fresh !== undefined)
    throw createRefusedOptionsError(`"${fresh}" cannot be added: variants have no value of it`);
  const kept = new Map(options.map(({ name, values }) => [name, new Set(values)]));
  const removed = before.options.flatMap(({ name, values }) => {
    const own = kept.get(renamed.get(name) ?? name);
    return values.filter(value => own?.has(value) !== true).map(value => ({ name, value }));
  });
  return { renamed, removed };
}

/** A name is renamed by a new one in its place. */
function findRenamed(before: readonly Option[], names: readonly string[]): Map<string, string> {
  const renamed = new Map<string, string>();
  for (const [index, { name }] of before.entries()) {
    const next = names[index];
    if (next === undefined || names.includes(name)) continue;
    if (before.every(option => option.name !== next)) renamed.set(name, next);
  }
  return renamed;
}

/** The error for options that are renamed by a change of several products: each may have very many variants. */
export const createBulkRenameError = (name: string): HttpError =>
  createRefusedOptionsError(`variants have the option "${name}": rename it of one product at a time`);

/** The error for an option, or a value of one, that variants have. */
export function createOptionUsedError(name: string, value?: string): HttpError {
  const what = value === undefined ? `the option "${name}"` : `the value "${value}" of the option "${name}"`;
  return createRefusedOptionsError(`variants have ${what}; change or delete them first`);
}

function createRefusedOptionsError(message: string): HttpError {
  const details = [buildErrorDetail(['options'], 'inUse', message)];
  return new HttpError('OPTION_IN_USE', { message: `options: ${message}`, details });
}
