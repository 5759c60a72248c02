/** A variant as a row: one text holds it (stored.ts); the other columns are for filters, sorts and unique indexes. */
import { getMemberNames } from '../../json-object.ts';
import type { ColumnType } from '../../storage/bulk.ts';
import type { Collection } from '../../storage/changes/change.ts';
import { toComparedCode } from '../../storage/search/text/words.ts';
import type { Tables } from '../../storage/tables.ts';
import { toComparableGtin } from '../products/members/gtin.ts';
import { isBuyable, type KeptStock, toKeptStock, toStock, toStockFields } from '../products/members/stock.ts';
import { createShownRows, type StoredRow } from '../short-form.ts';
import type { Variant, VariantFields } from './schema.ts';
import { storedVariant } from './stored.ts';

export type StoredVariant = StoredRow<Variant>;

export type VariantRow = Omit<Tables['product_variants'], 'id'>;

export const variantColumns = {
  product_id: 'integer',
  sku: 'text',
  code: 'text',
  gtin: 'text',
  combination: 'text',
  price: 'double precision',
  available: 'integer',
  position: 'integer',
  created_at: 'double precision',
  updated_at: 'double precision',
  document: 'text',
} as const satisfies { readonly [Column in keyof VariantRow]: ColumnType };
export const variantNames = getMemberNames(variantColumns);

export const {
  jsonOf: variantJson,
  valueOf: variantOf,
  shown: shownVariantRow,
  buildChange: buildVariantChange,
  fromEvent: storedVariantOf,
} = createShownRows('variant', storedVariant);

/** How events determine which lists of variants have changed. */
export const variants: Collection = {
  name: 'variants',
  events: {
    resource: 'variant',
    keys: ['sku', 'gtin', 'product_id'],
    valuesOf(id, document) {
      const variant = storedVariant.membersOf(document);
      const { productId, sku, gtin, position, available, createdAt } = variant;
      return {
        ...{ id, product_id: productId, sku, position },
        gtin: gtin === null ? null : toComparableGtin(gtin),
        available: Number(available),
        created_at: Date.parse(createdAt),
      };
    },
  },
};

/** The same text for the same options in any order. */
export const toCombination = (options: VariantFields['options']): string =>
  JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Unique among the variants of a product. A digest, since the values may be too long for an index. */
const computeCombination = (options: VariantFields['options']): string =>
  new Bun.CryptoHasher('sha256').update(toCombination(options)).digest('base64url');

/** What the service maintains of a variant; clients cannot set it. */
export interface KeptVariant {
  readonly productId: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly position: number;
  readonly stock: KeptStock;
}

/** The values of an existing variant. */
export function toKeptVariant({ productId, createdAt, position, stock }: Variant): KeptVariant {
  return { productId, createdAt: Date.parse(createdAt), position, stock: toKeptStock(stock) };
}

/** The fields of a variant that clients may set. */
export function toVariantFields({ id: _id, productId: _product, ...variant }: Variant): VariantFields {
  const { createdAt: _created, updatedAt: _updated, available: _available, stock, ...written } = variant;
  return { ...written, stock: toStockFields(stock) };
}

/** The row of a variant. @param now epoch milliseconds */
export function toVariantRow(fields: VariantFields, now: number, kept: KeptVariant): VariantRow {
  const { productId, createdAt } = kept;
  const stock = toStock(fields.stock, kept.stock);
  const members: Omit<Variant, 'id'> = {
    productId,
    sku: fields.sku,
    gtin: fields.gtin,
    options: fields.options,
    price: fields.price,
    compareAtPrice: fields.compareAtPrice,
    weight: fields.weight,
    stock,
    imageId: fields.imageId,
    position: fields.position ?? kept.position,
    available: isBuyable(stock),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(now).toISOString(),
  };
  return {
    product_id: productId,
    sku: members.sku,
    code: members.sku === null ? null : toComparedCode(members.sku),
    gtin: members.gtin === null ? null : toComparableGtin(members.gtin),
    combination: computeCombination(members.options),
    price: members.price,
    available: Number(members.available),
    position: members.position,
    created_at: createdAt,
    updated_at: now,
    document: storedVariant.documentOf(members),
  };
}
