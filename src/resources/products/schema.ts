/** THE schema of products: representation, create, replace, patch, bulk and list. */
import { z } from 'zod';
import { halCollectionOf, halOf, linksOf } from '../../http/hal/index.ts';
import { collectionOf, pageParameters, sortParameters } from '../../http/paginate.ts';
import { identifier, numberParameter, prose, text, timestamp } from '../../http/schema.ts';

export const statuses = ['active', 'archived'] as const;

const name = text(200).describe('Trimmed; not blank.');
const price = z.number().min(0).describe('In major units of the currency; returned as sent.');
const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be three capital letters (ISO 4217)')
  .meta({ minLength: 3, maxLength: 3, examples: ['EUR'] });
const status = z.enum(statuses);
const description = prose(10_000);
const sku = text(64).describe('Unique among products.');
const category = text(100);
const tags = z.array(text(50)).max(50);
const rating = z
  .object({
    average: z.number().min(1).max(5).nullable().describe('To two decimals; null without reviews.'),
    count: z.int().min(0),
  })
  .describe('What its reviews say. Read-only.');

const example = {
  id: 1,
  name: 'Walnut desk lamp',
  price: 79.5,
  currency: 'EUR',
  status: 'active',
  description: 'A dimmable lamp with a solid walnut foot.',
  sku: 'LAMP-0001',
  category: 'lighting',
  tags: ['desk', 'wood'],
  createdAt: '2026-01-15T09:30:00.000Z',
  updatedAt: '2026-01-15T09:30:00.000Z',
  rating: { average: 4.67, count: 3 },
} as const;

const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, rating: _rating, ...writable } = example;
export const productExample = example;
export const productBodyExample = writable;

export const product = z
  .object({
    id: identifier(),
    name,
    price,
    currency: currency.nullable(),
    status,
    description: description.nullable(),
    sku: sku.nullable(),
    category: category.nullable(),
    tags,
    createdAt: timestamp(),
    updatedAt: timestamp(),
    rating,
  })
  .meta({ id: 'Product', example });

export const productHal = halOf(
  product,
  'ProductHal',
  linksOf(['self', 'reviews'], ['edit', 'delete']),
  z.object({}),
);

/** POST: name and price; `currency` falls back to the service's default. */
export const createProduct = z
  .object({
    name,
    price,
    currency: currency.nullish(),
    status: status.nullish(),
    description: description.nullish(),
    sku: sku.nullish(),
    category: category.nullish(),
    tags: tags.nullish(),
  })
  .meta({ id: 'CreateProduct' });

/** All fields of a product: those left out become null (tags empty, status active). */
export const completeFields = (
  input: z.output<typeof createProduct>,
  defaultCurrency: string | null = null,
) => ({
  name: input.name,
  price: input.price,
  currency: input.currency ?? defaultCurrency,
  status: input.status ?? ('active' as const),
  description: input.description ?? null,
  sku: input.sku ?? null,
  category: input.category ?? null,
  tags: input.tags ?? [],
});

/** PUT: fields left out become null (tags empty, status active). */
export const replaceProduct = createProduct
  .transform(input => completeFields(input))
  .meta({ id: 'ReplaceProduct' });

/** PATCH with application/json: only the fields to change. */
export const patchProduct = createProduct.partial().meta({ id: 'PatchProduct' });

export const bulkPatch = z
  .object({
    ids: z
      .array(z.int())
      .min(1)
      .max(500)
      .refine(ids => new Set(ids).size === ids.length, {
        error: 'must not name an id twice',
        params: { rule: 'uniqueItems' },
      })
      .meta({ uniqueItems: true }),
    update: patchProduct,
  })
  .meta({ id: 'BulkPatchProducts' });

export const bulkResult = z.object({ updated: z.int().min(0).max(500) }).meta({ id: 'BulkResult' });

export const productList = collectionOf(product, 'ProductList');
export const productListHal = halCollectionOf(productHal, 'products', productList, 'ProductListHal');

/** Public names of the sorts → columns. */
export const sortColumns = {
  id: 'id',
  price: 'price',
  name: 'name',
  created_at: 'created_at',
  createdAt: 'created_at',
} as const;

export const listProducts = z.object({
  status: status.optional().describe('Only products of this status.'),
  category: text(100)
    .optional()
    .meta({ description: 'Only products of this category.', examples: ['lighting'] }),
  sku: text(64).optional().describe('Only the product with exactly this sku.'),
  tag: text(50).optional().describe('Only products that have exactly this tag among theirs.'),
  minPrice: numberParameter({ examples: [10] })
    .optional()
    .describe('Only products that cost this much or more.'),
  maxPrice: numberParameter({ examples: [100] })
    .optional()
    .describe('Only products that cost this much or less.'),
  ...sortParameters(['id', 'price', 'name', 'created_at', 'createdAt']),
  ...pageParameters,
});

/** What a caller may set, complete: every write ends in one of these. */
export type ProductFields = z.output<typeof replaceProduct>;
export type Product = z.output<typeof product>;
export type Rating = z.output<typeof rating>;
