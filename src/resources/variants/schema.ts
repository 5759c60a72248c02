/** The schema of variants: the forms in which a product is sold, each with one combination of its options. */
import { z } from 'zod';
import { listParameters } from '../../http/paginate.ts';
import { identifier, text, timestamp } from '../../http/schema.ts';
import { maxId } from '../../storage/database.ts';
import { buildHalSchemas } from '../crud/schema.ts';
import { gtin, gtinParameter } from '../products/members/gtin.ts';
import { maxOptionLengths } from '../products/members/options.ts';
import { availableParameter, compareAtPrice, maxSkuLength, weight } from '../products/members/shared.ts';
import { changedStock, sentStock, stock, stockText } from '../products/members/stock.ts';

const sku = text(maxSkuLength).describe('Unique among products and variants.');
const price = z.number().min(0).describe('In the currency of the product; null to use the product’s price.');
const options = z
  .record(text(maxOptionLengths.name), text(maxOptionLengths.value))
  .describe('A value for each option of the product.')
  .meta({ maxProperties: 5, examples: [{ Finish: 'Oiled' }] });
const imageId = identifier().describe('An image of the product.');
const position = z
  .int()
  .min(0)
  .max(maxId)
  .describe('The position among the variants of the product.')
  .meta({ examples: [1] });

const example = {
  id: 1,
  productId: 1,
  sku: 'LAMP-0001-OILED',
  gtin: '4006381333931',
  options: { Finish: 'Oiled' },
  price: null,
  compareAtPrice: null,
  weight: { value: 1.1, unit: 'kg' },
  stock: { tracked: true, onHand: 12, reserved: 0, backorder: false },
  imageId: null,
  position: 1,
  available: true,
  createdAt: '2026-01-15T09:30:00.000Z',
  updatedAt: '2026-01-15T09:30:00.000Z',
} as const;

export const variantBodyExample = {
  sku: 'LAMP-0001-OILED',
  options: { Finish: 'Oiled' },
  weight: { value: 1.1, unit: 'kg' },
  stock: { tracked: true, onHand: 12, backorder: false },
};

export const variant = z
  .object({
    id: identifier(),
    productId: identifier().describe('The product it is a variant of.'),
    sku: sku.nullable(),
    gtin: gtin.nullable(),
    options,
    price: price.nullable(),
    compareAtPrice: compareAtPrice.nullable(),
    weight: weight.nullable(),
    stock: stock.nullable().describe(stockText),
    imageId: imageId.nullable(),
    position,
    available: z.boolean().describe('Whether it is in stock, not tracked or on backorder. Read-only.'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  })
  .meta({ id: 'Variant', example });

export const { hal, page } = buildHalSchemas(variant, 'variants', {
  always: ['product'],
  sometimes: ['image', 'edit', 'delete'],
});

export const createVariant = z
  .object({
    options,
    sku: sku.nullish(),
    gtin: gtin.nullish(),
    price: price.nullish(),
    compareAtPrice: compareAtPrice.nullish(),
    weight: weight.nullish(),
    stock: sentStock.nullish().describe(stockText),
    imageId: imageId.nullish(),
    position: position.nullish().describe('The position; last if omitted for a new variant.'),
  })
  .meta({ id: 'CreateVariant' });

/** PUT: omitted fields become null; the position stays. */
export const replaceVariant = createVariant
  .transform(input => ({
    options: input.options,
    sku: input.sku ?? null,
    gtin: input.gtin ?? null,
    price: input.price ?? null,
    compareAtPrice: input.compareAtPrice ?? null,
    weight: input.weight ?? null,
    stock: input.stock ?? null,
    imageId: input.imageId ?? null,
    /** Null keeps the position; a new variant goes to the end. */
    position: input.position ?? null,
  }))
  .meta({ id: 'ReplaceVariant' });

export const patchVariant = createVariant
  .extend({ stock: changedStock.nullish().describe(stockText) })
  .partial()
  .meta({ id: 'PatchVariant' });

export const sortColumns = { id: 'id', position: 'position', createdAt: 'created_at' } as const;

export const listVariants = z.object({
  sku: text(maxSkuLength).optional().describe('Only the variant with exactly this sku.'),
  gtin: gtinParameter.optional().describe('Only variants with this GTIN; leading zeros are ignored.'),
  available: availableParameter,
  ...listParameters(sortColumns),
});

export type VariantFields = z.output<typeof replaceVariant>;
export type Variant = z.output<typeof variant>;
