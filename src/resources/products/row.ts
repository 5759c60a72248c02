/**
 * A product as a row. It holds its representation as JSON text (`document`), so that reading serves text as it
 * is; the other columns are what SQL filters, sorts and keeps unique. Both are made here, and a product's rating
 * by ratings.ts.
 */
import type { Collection } from '../../storage/changes/change.ts';
import { parseStored } from '../../storage/damage.ts';
import type { ProductsTable } from '../../storage/tables.ts';
import type { Product, ProductFields, Rating } from './schema.ts';

/** A product as it is stored. */
export interface StoredProduct {
  readonly id: number;
  readonly document: string;
  readonly updated_at: number;
}

/** The representation as JSON text. */
export function productJson(row: { readonly id: number; readonly document: string }): string {
  return `{"id":${row.id},${row.document}`;
}

/** The representation as a value. */
export function productOf(row: StoredProduct): Product {
  return parseStored<Product>(productJson(row));
}

/** A stored product from its representation as JSON text. */
export function storedOf(id: number, text: string): StoredProduct {
  const { updatedAt } = parseStored<Product>(text);
  return { id, document: text.slice(`{"id":${id},`.length), updated_at: Date.parse(updatedAt) };
}

/** How events tell which lists of products have changed. */
export const products: Collection = {
  name: 'products',
  told: {
    resource: 'product',
    keys: ['sku', 'tag', 'category', 'status'],
    valuesOf(document) {
      const { id, name, price, status, category, sku, tags, createdAt } = parseStored<Product>(document);
      return { id, name, price, status, category, sku, tag: tags, created_at: Date.parse(createdAt) };
    },
  },
};

/** What is written with a product's fields; the sums behind its rating have a writer of their own: ratings.ts. */
export type ProductRow = Omit<ProductsTable, 'id' | 'rating_sum' | 'rating_count'>;

const unrated: Rating = { average: null, count: 0 };

/** @param now epoch milliseconds; @param createdAt the same, and @param rating, for a product that exists already */
export function rowOf(
  fields: ProductFields,
  now: number,
  createdAt: number = now,
  rating: Rating = unrated,
): ProductRow {
  const { name, price, currency, status, description, sku, category, tags } = fields;
  const updatedText = new Date(now).toISOString();
  const createdText = createdAt === now ? updatedText : new Date(createdAt).toISOString();
  const dates = { createdAt: createdText, updatedAt: updatedText };
  const members = { name, price, currency, status, description, sku, category, tags, ...dates, rating };
  const document = JSON.stringify(members).slice(1);
  return { name, price, status, category, sku, created_at: createdAt, updated_at: now, document };
}
