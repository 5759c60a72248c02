/**
 * A product as a row. One text holds the whole product (`document`: see members/stored.ts); the other columns are for
 * filters, sorts and unique indexes. This file builds both, from what clients set and what the service maintains: the
 * rating, images, reserved stock, and the summary of variants.
 */

import { type RawBuilder, sql } from 'kysely';
import { getMemberNames } from '../../json-object.ts';
import { toEventAttributes } from '../../storage/attributes/values.ts';
import type { ColumnType } from '../../storage/bulk.ts';
import { getPathsAbove } from '../../storage/categories/names.ts';
import { buildLockedProduct, buildShownProduct, type ShownProduct } from '../../storage/categories/shown.ts';
import type { Collection } from '../../storage/changes/change.ts';
import type { Dialect } from '../../storage/database.ts';
import type { Row } from '../../storage/tables.ts';
import { createShownRows, type StoredRow } from '../short-form.ts';
import { toComparableGtin } from './members/gtin.ts';
import { type Image, mergeImages } from './members/images.ts';
import { isBuyable, type KeptStock, toKeptStock, toStock, toStockFields } from './members/stock.ts';
import { storedProduct } from './members/stored.ts';
import type { Product, ProductFields, Rating } from './schema.ts';

export type StoredProduct = StoredRow<Product>;

/** A product that is locked until the transaction ends, with the columns needed to change it. */
export type LockedProduct = StoredProduct &
  Pick<Row<'products'>, 'category_id' | 'base_price' | 'rating_sum' | 'rating_count'>;

export function buildStoredColumns(dialect: Dialect): RawBuilder<unknown> {
  return buildShownColumns(buildShownProduct(dialect));
}

const buildShownColumns = ({ document, updated_at }: ShownProduct) =>
  sql`products.id, ${document} as document, ${updated_at} as updated_at`;

/** The columns of a product for locking, in a transaction that shares the tree of categories. */
export function buildLockedColumns(dialect: Dialect): RawBuilder<unknown> {
  return sql`${buildShownColumns(buildLockedProduct(dialect))}, category_id, base_price, rating_sum, rating_count`;
}

export const {
  jsonOf: productJson,
  valueOf: productOf,
  shown: shownProductRow,
  buildChange: buildProductChange,
  fromEvent: storedOf,
} = createShownRows('product', storedProduct);

/** How events determine which lists of products have changed. */
export const products: Collection = {
  name: 'products',
  events: {
    resource: 'product',
    keys: ['sku', 'external_id', 'gtin', 'name', 'tag', 'brand', 'category', 'status'],
    valuesOf(id, document) {
      const product = storedProduct.membersOf(document);
      const { name, price, status, category, sku, tags, createdAt, brand, gtin } = product;
      return {
        ...{ id, name, price, status, sku, tag: tags, created_at: Date.parse(createdAt), brand },
        category: collectCategoryPaths(category, product.categories),
        categories: product.categories,
        gtin: gtin == null ? null : toComparableGtin(gtin),
        external_id: product.externalId,
        available: Number(product.available),
        ...toEventAttributes(product),
      };
    },
  },
};

/** The paths of the categories that a product is listed in: its own, and all of their ancestors. */
function collectCategoryPaths(category: string | null, categories: readonly string[]): readonly string[] {
  if (categories.length === 0) return category === null ? [] : getPathsAbove(category);
  const own = category === null ? categories : [category, ...categories];
  return [...new Set(own.flatMap(getPathsAbove))];
}

/** All columns written with a product's fields. The columns behind its rating have their own writer: writes/kept.ts. */
export type WrittenRow = Omit<Row<'products'>, 'id' | 'rating_sum' | 'rating_count'>;

/** The same without its categories (categories.ts). */
export type ProductRow = Omit<WrittenRow, 'category_id' | 'further_categories'>;

export const writtenColumns = {
  name: 'text',
  price: 'double precision',
  status: 'text',
  category_id: 'integer',
  further_categories: 'integer',
  sku: 'text',
  created_at: 'double precision',
  updated_at: 'double precision',
  document: 'text',
  brand: 'text',
  gtin: 'text',
  external_id: 'text',
  available: 'integer',
  base_price: 'double precision',
  variant_count: 'integer',
} as const satisfies { readonly [Column in keyof WrittenRow]: ColumnType };
export const writtenNames = getMemberNames(writtenColumns);

interface VariantSummary {
  readonly count: number;
  /** Undefined without variants. */
  readonly prices: Product['priceRange'] | undefined;
  /** Whether any variant can be bought. */
  readonly available: boolean;
}

/** What the service maintains of a product; clients cannot set it. */
export interface Kept {
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly rating: Rating;
  /** The images before the change, which the fields may refer to. */
  readonly images: readonly Image[];
  readonly stock: KeptStock;
  readonly variants: VariantSummary;
}

const unrated: Rating = { average: null, count: 0 };
const noVariants: VariantSummary = { count: 0, prices: undefined, available: false };

/** The initial values for a new product. */
export const createKeptProduct = (now: number): Kept => ({
  createdAt: now,
  rating: unrated,
  images: [],
  stock: toKeptStock(null),
  variants: noVariants,
});

/** The values of an existing product. */
export function toKeptProduct(product: Product): Kept {
  const { createdAt, rating, images, stock, variantCount, priceRange, available } = product;
  return {
    createdAt: Date.parse(createdAt),
    rating,
    images,
    stock: toKeptStock(stock),
    variants: variantCount === 0 ? noVariants : { count: variantCount, prices: priceRange, available },
  };
}

/** The fields of a product that clients may set. @param basePrice as in its row */
export function toProductFields(product: Product, basePrice: number | null): ProductFields {
  const { id: _id, createdAt: _created, updatedAt: _updated, rating: _rating, ...rest } = product;
  const { variantCount: _count, priceRange: _range, available: _available, ...others } = rest;
  const { basePrice: _basePrice, stock, ...written } = others;
  return { ...written, price: basePrice ?? written.price, stock: toStockFields(stock) };
}

/** Columns derived from members: an update writes those that changed. */
export const toProductColumns = (members: Omit<Product, 'id'>) => ({
  name: members.name,
  price: members.price,
  status: members.status,
  sku: members.sku,
  brand: members.brand,
  gtin: members.gtin === null ? null : toComparableGtin(members.gtin),
  external_id: members.externalId,
  available: Number(members.available),
  variant_count: members.variantCount,
});

interface Written {
  readonly members: Omit<Product, 'id'>;
  readonly row: ProductRow;
}

/**
 * The row of a product. @param fields with the product's own price, even if a different one is shown
 * @param now epoch milliseconds; @param kept of an existing product
 */
export const toProductRow = (fields: ProductFields, now: number, kept?: Kept): ProductRow =>
  toWrittenProduct(fields, now, kept).row;

/** The row of a product, with its members. */
export function toWrittenProduct(
  fields: ProductFields,
  now: number,
  kept: Kept = createKeptProduct(now),
): Written {
  const { createdAt, rating, variants } = kept;
  const updatedAt = new Date(now).toISOString();
  const stock = toStock(fields.stock, kept.stock);
  const priceRange = variants.prices ?? { min: fields.price, max: fields.price };
  const isInStock = variants.count === 0 ? isBuyable(stock) : variants.available;
  // Written out instead of spread, because imports build very many.
  const own: Omit<Product, 'id'> = {
    category: fields.category,
    categories: fields.categories,
    name: fields.name,
    price: priceRange.min,
    currency: fields.currency,
    status: fields.status,
    description: fields.description,
    sku: fields.sku,
    tags: fields.tags,
    createdAt: createdAt === now ? updatedAt : new Date(createdAt).toISOString(),
    updatedAt,
    rating,
    brand: fields.brand,
    gtin: fields.gtin,
    mpn: fields.mpn,
    externalId: fields.externalId,
    compareAtPrice: fields.compareAtPrice,
    weight: fields.weight,
    attributes: fields.attributes,
    options: fields.options,
    images: mergeImages(kept.images, fields.images),
    stock,
    variantCount: variants.count,
    priceRange,
    available: fields.status === 'active' && isInStock,
  };
  const members = variants.count === 0 ? own : { ...own, basePrice: fields.price };
  const row = {
    ...toProductColumns(members),
    created_at: createdAt,
    updated_at: now,
    document: storedProduct.documentOf(members),
    base_price: variants.count === 0 ? null : fields.price,
  };
  return { members, row };
}
