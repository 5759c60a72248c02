/**
 * A product as a row. It holds all of it in one text (`document`: see members/stored.ts); the other columns are what SQL
 * filters, sorts and keeps unique. Both are made here, from what clients write and what the service keeps of a product:
 * its rating, its images, what orders have reserved, what its variants come to.
 */
import { type RawBuilder, sql } from 'kysely';
import { toEventAttributes } from '../../storage/attributes/values.ts';
import type { ColumnType } from '../../storage/bulk.ts';
import { getPathsAbove } from '../../storage/categories/names.ts';
import { buildLockedProduct, buildShownProduct, type ShownProduct } from '../../storage/categories/shown.ts';
import type { Collection } from '../../storage/changes/change.ts';
import type { Dialect } from '../../storage/database.ts';
import type { ProductsTable } from '../../storage/tables/products.ts';
import { createShownRows, type StoredRow } from '../short-form.ts';
import { toComparableGtin } from './members/gtin.ts';
import { type Image, mergeImages } from './members/images.ts';
import { isBuyable, type KeptStock, toKeptStock, toStock, toStockFields } from './members/stock.ts';
import { storedProduct } from './members/stored.ts';
import type { Product, ProductFields, Rating } from './schema.ts';

/** A product as it is stored. */
export type StoredProduct = StoredRow<Product>;

/** A product that others cannot change until the transaction ends, with what a change of it is made of. */
export interface LockedProduct extends StoredProduct {
  readonly category_id: number | null;
  readonly base_price: number | null;
  readonly rating_sum: number;
  readonly rating_count: number;
}

/** The columns of a product that is read. */
export function buildStoredColumns(dialect: Dialect): RawBuilder<unknown> {
  return buildShownColumns(buildShownProduct(dialect));
}

const buildShownColumns = ({ document, updated_at }: ShownProduct) =>
  sql`products.id, ${document} as document, ${updated_at} as updated_at`;

/** The columns of a product that is locked by a transaction that shares the tree of categories. */
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

/** How events say which lists of products have changed. */
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

/** The paths of the categories that a product is listed in: its own, and all above them. */
function collectCategoryPaths(category: string | null, categories: readonly string[]): readonly string[] {
  if (categories.length === 0) return category === null ? [] : getPathsAbove(category);
  const own = category === null ? categories : [category, ...categories];
  return [...new Set(own.flatMap(getPathsAbove))];
}

/**
 * What is written with a product's fields, but for its categories (categories.ts); the sums behind its rating have a
 * writer of their own: ratings.ts.
 */
export type ProductRow = Omit<
  ProductsTable,
  'id' | 'category_id' | 'further_categories' | 'rating_sum' | 'rating_count' | 'variant_count'
> & {
  readonly variant_count: number;
};

/** All that is written of a product with its fields. */
export interface WrittenRow extends ProductRow {
  readonly category_id: number | null;
  readonly further_categories: number;
}

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
// Boundary: Object.keys types its result as string[]; the record has these keys and no others.
export const writtenNames = Object.keys(writtenColumns) as readonly (keyof WrittenRow)[];

/** What the variants of a product come to. */
interface VariantSummary {
  readonly count: number;
  /** Undefined without variants. */
  readonly prices: Product['priceRange'] | undefined;
  /** Whether any of them can be bought. */
  readonly available: boolean;
}

/** What the service keeps of a product, whatever clients write. */
export interface Kept {
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly rating: Rating;
  /** As they were before the change; what clients send names them. */
  readonly images: readonly Image[];
  readonly stock: KeptStock;
  readonly variants: VariantSummary;
}

const unrated: Rating = { average: null, count: 0 };
const noVariants: VariantSummary = { count: 0, prices: undefined, available: false };

/** What is kept of a product that is new. */
export const createKeptProduct = (now: number): Kept => ({
  createdAt: now,
  rating: unrated,
  images: [],
  stock: toKeptStock(null),
  variants: noVariants,
});

/** What is kept of a product that exists. */
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

/** What clients have written of a product. @param basePrice as in its row */
export function toProductFields(product: Product, basePrice: number | null): ProductFields {
  const { id: _id, createdAt: _created, updatedAt: _updated, rating: _rating, ...rest } = product;
  const { variantCount: _count, priceRange: _range, available: _available, stock, ...written } = rest;
  return { ...written, price: basePrice ?? written.price, stock: toStockFields(stock) };
}

/** Columns that say what the members say: a change writes those that it changes. */
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

/** A product as it is written. */
interface Written {
  readonly members: Omit<Product, 'id'>;
  readonly row: ProductRow;
}

/**
 * The row of a product. @param fields with the price that a client has written, be another one shown
 * @param now epoch milliseconds; @param kept of a product that exists already
 */
export const toProductRow = (fields: ProductFields, now: number, kept?: Kept): ProductRow =>
  toWrittenProduct(fields, now, kept).row;

/** The same with what it shows. */
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
  // Written out rather than spread: imports make very many.
  const members: Omit<Product, 'id'> = {
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
  const row = {
    ...toProductColumns(members),
    created_at: createdAt,
    updated_at: now,
    document: storedProduct.documentOf(members),
    base_price: variants.count === 0 ? null : fields.price,
  };
  return { members, row };
}
