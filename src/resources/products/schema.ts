/** The schema of products: representation, create, replace, patch, bulk and list. */
import { z } from 'zod';
import { listParameters } from '../../http/paginate.ts';
import {
  count,
  currencyCode,
  identifier,
  integerParameter,
  notBlank,
  numberParameter,
  prose,
  text,
  timestamp,
} from '../../http/schema.ts';
import { maxPathBytes, maxPathLength } from '../../storage/categories/names.ts';
import { maxId } from '../../storage/database.ts';
import { facetMeta, facetParameter } from '../attributes/facets.ts';
import { attributeParameters } from '../attributes/filters.ts';
import { categoryPath, shownPath } from '../categories/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';
import { attributes, sentAttributes } from './members/attributes.ts';
import { gtin, gtinParameter } from './members/gtin.ts';
import { image, sentImages } from './members/images.ts';
import { options } from './members/options.ts';
import { availableParameter, compareAtPrice, maxSkuLength, weight } from './members/shared.ts';
import { changedStock, sentStock, stock, stockText } from './members/stock.ts';

export const statuses = ['active', 'archived'] as const;

const name = text(200).describe('Trimmed; must not be blank.');
const price = z.number().min(0).describe('In major units of the currency; returned as sent.');
const currency = currencyCode.meta({ minLength: 3, maxLength: 3, examples: ['EUR'] });
const currencyText =
  'The currency of the amounts (ISO 4217). A product created without one gets that of the service, which also counts where PUT or PATCH has made it null.';
const status = z.enum(statuses);
const description = prose(100_000);
const sku = text(maxSkuLength).describe('Unique among products and variants.');
const categoryText = `The path of the main category: names joined by \` > \`, at most ${maxPathBytes} bytes in UTF-8. A new category is created.`;
const categoriesText = 'The paths of further categories, without the main one.';
const category = categoryPath.describe(categoryText);
const tags = z.array(text(50)).max(50);
const rating = z
  .object({
    average: z
      .number()
      .min(1)
      .max(5)
      .nullable()
      .describe('The average, to two decimals; null without reviews.'),
    count: count(),
  })
  .describe('The rating from its reviews. Read-only.');
const brand = text(100)
  .describe('The brand. Trimmed; must not be blank.')
  .meta({ examples: ['Nordlicht'] });
const mpn = text(100).describe('The manufacturer’s part number.');
const externalId = text(200).describe('The id in another system. Unique among products.');
const categories = z.array(categoryPath).max(20).describe(categoriesText);

const example = {
  id: 1,
  name: 'Walnut desk lamp',
  price: 79.5,
  currency: 'EUR',
  status: 'active',
  description: 'A dimmable lamp with a solid walnut foot.',
  sku: 'LAMP-0001',
  category: 'lighting > desk lamps',
  tags: ['desk', 'wood'],
  createdAt: '2026-01-15T09:30:00.000Z',
  updatedAt: '2026-01-15T09:30:00.000Z',
  rating: { average: 4.67, count: 3 },
  brand: 'Nordlicht',
  gtin: '4006381333931',
  mpn: 'NL-2041-W',
  externalId: 'erp-48151',
  compareAtPrice: 99,
  weight: { value: 1.2, unit: 'kg' },
  categories: ['office'],
  attributes: { colour: 'walnut', watt: 12.5, dimmable: true, materials: ['walnut', 'steel'] },
  options: [{ name: 'Finish', values: ['Oiled', 'Waxed', 'Lacquered'] }],
  images: [
    {
      ...{ id: 1_274_218_653, url: 'https://images.example/lamp.jpg', alt: 'The lamp, lit' },
      ...{ width: null, height: null, colour: null, type: null },
    },
  ],
  stock: { tracked: true, onHand: 40, reserved: 2, backorder: false },
  variantCount: 0,
  priceRange: { min: 79.5, max: 79.5 },
  available: true,
} as const;

const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, rating: _rating, ...rest } = example;
const { variantCount: _variantCount, priceRange: _priceRange, available: _available, ...others } = rest;
const { stock: _stock, ...uncounted } = others;
export const productExample = example;
const writable = { ...uncounted, images: [{ url: 'https://images.example/lamp.jpg', alt: 'The lamp, lit' }] };
export const productBodyExample = { ...writable, stock: { tracked: true, onHand: 40, backorder: false } };
/** An example for a product that may have variants; its sku and `externalId` differ from those of the example above. */
export const productReplacementExample = { ...writable, sku: 'LAMP-0002', externalId: 'erp-48152' };

export const product = z
  .object({
    id: identifier(),
    name,
    price,
    currency: currency.nullable().describe(currencyText),
    status,
    description: description.nullable(),
    sku: sku.nullable(),
    category: shownPath.nullable().describe(categoryText),
    tags,
    createdAt: timestamp(),
    updatedAt: timestamp(),
    rating,
    brand: brand.nullable(),
    gtin: gtin.nullable(),
    mpn: mpn.nullable(),
    externalId: externalId.nullable(),
    compareAtPrice: compareAtPrice.nullable(),
    weight: weight.nullable(),
    categories: z.array(shownPath).max(20).describe(categoriesText),
    attributes,
    options,
    images: z.array(image).max(100).describe('Sorted by position.'),
    stock: stock.nullable().describe(stockText),
    variantCount: count().describe('The number of variants. Read-only.'),
    priceRange: z
      .object({
        min: z.number().min(0).describe('The lowest price, which is the price of the product.'),
        max: z.number().min(0).describe('The highest price.'),
      })
      .describe('The lowest and the highest price of its variants, or its own. Read-only.'),
    available: z
      .boolean()
      .describe(
        'Whether it can be bought now: active, and in stock, not tracked or on backorder. Read-only.',
      ),
    basePrice: price
      .optional()
      .describe(
        'Only of a product with variants: its own price, which variants without a price have. Read-only.',
      ),
  })
  .meta({ id: 'Product', example });

export const { hal, page } = buildHalSchemas(
  product,
  'products',
  { always: ['reviews', 'variants', 'images'], sometimes: ['edit', 'delete'] },
  facetMeta,
);

/** POST: name and price are required; `currency` falls back to the service's default. */
export const createProduct = z
  .object({
    name,
    price,
    currency: currency.nullish().describe(currencyText),
    status: status.nullish(),
    description: description.nullish(),
    sku: sku.nullish(),
    category: category.nullish(),
    tags: tags.nullish(),
    brand: brand.nullish(),
    gtin: gtin.nullish(),
    mpn: mpn.nullish(),
    externalId: externalId.nullish(),
    compareAtPrice: compareAtPrice.nullish(),
    weight: weight.nullish(),
    categories: categories.nullish(),
    attributes: sentAttributes.nullish(),
    options: options.nullish(),
    images: sentImages.nullish(),
    stock: sentStock.nullish().describe(stockText),
  })
  .meta({ id: 'CreateProduct' });

/** All fields of a product: omitted ones become null (lists and attributes empty, status active). */
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
  brand: input.brand ?? null,
  gtin: input.gtin ?? null,
  mpn: input.mpn ?? null,
  externalId: input.externalId ?? null,
  compareAtPrice: input.compareAtPrice ?? null,
  weight: input.weight ?? null,
  categories: input.categories ?? [],
  attributes: input.attributes ?? {},
  options: input.options ?? [],
  images: input.images ?? [],
  stock: input.stock ?? null,
});

/** PUT: omitted fields become null (lists and attributes empty, status active). */
export const replaceProduct = createProduct
  .transform(input => completeFields(input))
  .meta({ id: 'ReplaceProduct' });

export const patchProduct = createProduct
  .extend({ stock: changedStock.nullish().describe(stockText) })
  .partial()
  .meta({ id: 'PatchProduct' });

export const sortColumns = {
  id: 'id',
  price: 'price',
  name: 'name',
  createdAt: 'created_at',
} as const;

const maxRepeated = 50;

/** A repeatable parameter: a product must match any of its values. @param one the OpenAPI schema of one value */
function buildRepeatedParameter<Value>(
  value: z.ZodType<Value, string>,
  one: object,
  { example, maxValues = maxRepeated }: { example: unknown; maxValues?: number | undefined },
) {
  const override = { anyOf: [one, { type: 'array', items: one, maxItems: maxValues }], examples: [example] };
  return z.array(value).max(maxValues).optional().meta({ override });
}

/** @param longest the maximum length of a value, in characters */
const buildRepeatedText = (
  value: z.ZodType<string, string>,
  longest: number,
  example: string,
  maxValues?: number,
) =>
  buildRepeatedParameter(
    value,
    { type: 'string', minLength: 1, maxLength: longest, pattern: notBlank },
    { example, maxValues },
  );

export const listProducts = z.object({
  id: buildRepeatedParameter(
    integerParameter(1, maxId),
    { type: 'integer', format: 'int32', minimum: 1, maximum: maxId },
    { example: 1, maxValues: 100 },
  ).describe('Only the product with this id. May be repeated to match any of the ids.'),
  status: status.optional().describe('Only products with this status.'),
  category: buildRepeatedText(categoryPath, maxPathLength, 'lighting').describe(
    'Only products in the category with this path or in one below it. May be repeated to match any of them.',
  ),
  name: text(200).optional().describe('Only products with exactly this name.'),
  sku: buildRepeatedText(text(maxSkuLength), maxSkuLength, 'LAMP-0001', 100).describe(
    'Only the product that has exactly this sku, or a variant with it. May be repeated to match any of them.',
  ),
  tag: buildRepeatedText(text(50), 50, 'desk').describe(
    'Only products with exactly this tag. May be repeated to match any of them.',
  ),
  brand: buildRepeatedText(text(100), 100, 'Nordlicht').describe(
    'Only products of this brand. May be repeated to match any of them.',
  ),
  gtin: gtinParameter
    .optional()
    .describe('Only products that have this GTIN, or a variant with it; leading zeros are ignored.'),
  externalId: text(200).optional().describe('Only the product with this id in another system.'),
  available: availableParameter,
  minPrice: numberParameter({ examples: [10] })
    .optional()
    .describe('Only products that cost this much or more; of variants, the lowest price counts.'),
  maxPrice: numberParameter({ examples: [100] })
    .optional()
    .describe('Only products that cost this much or less; of variants, the lowest price counts.'),
  ...attributeParameters,
  ...facetParameter,
  ...listParameters(sortColumns),
});

/** All fields that a caller may set, with defaults filled in: the result of parsing any write. */
export type ProductFields = z.output<typeof replaceProduct>;
export type Product = z.output<typeof product>;
export type Rating = z.output<typeof rating>;
