/** The schema of stock adjustments: how many pieces came or went, and why. */

import { z } from 'zod';
import { buildHalSchema, buildLinksSchema, buildPageSchemas } from '../../http/hal/index.ts';
import { commonSorts, listParameters } from '../../http/paginate.ts';
import { identifier, idFilter, text, timestamp } from '../../http/schema.ts';
import { maxId } from '../../storage/database.ts';
import { maxSkuLength } from '../products/members/shared.ts';
import { pieces } from '../products/members/stock.ts';

const maxAdjustments = 500;

const delta = z
  .int()
  .min(-maxId)
  .max(maxId)
  .refine(pieces => pieces !== 0, { error: 'must not be 0', params: { rule: 'notZero' } })
  .describe('Pieces added or, if negative, removed.')
  .meta({ not: { const: 0 }, examples: [12] });
const reason = text(200)
  .describe('The reason, for readers of the list.')
  .meta({ examples: ['delivery 4711'] });
const variant = identifier().describe('The variant, if the product has variants.');
const sku = text(maxSkuLength).meta({ examples: ['LAMP-0001'] });

const line = z
  .object({
    productId: identifier().nullish(),
    variantId: variant.nullish(),
    sku: sku.nullish(),
    delta,
    reason,
  })
  .refine(
    ({ productId, variantId, sku }) => (sku ?? null) === null || (productId ?? variantId ?? null) === null,
    {
      error: 'must not be given together with productId or variantId',
      path: ['sku'],
      params: { rule: 'one' },
    },
  )
  .refine(line => (line.sku ?? line.productId ?? line.variantId ?? null) !== null, {
    error: 'is required, or variantId, or sku',
    path: ['productId'],
    params: { rule: 'required' },
  })
  .meta({ id: 'NewStockAdjustment' });

export const adjustStock = z
  .object({
    adjustments: z.array(line).min(1).max(maxAdjustments).describe('Applied in this order, all or none.'),
  })
  .meta({ id: 'AdjustStock' });

const adjustment = z
  .object({
    id: identifier(),
    productId: identifier().describe('The product, which may have been deleted since.'),
    variantId: variant.nullable(),
    sku: sku.nullable().describe('The sku at that time.'),
    delta,
    reason,
    onHand: pieces.describe('Pieces in stock afterwards.'),
    reserved: pieces.describe('Of these, pieces reserved for orders.'),
    actor: text(300)
      .describe('Who did it: `user:<id>` or `key:<id>`.')
      .meta({ examples: ['user:1'] }),
    createdAt: timestamp(),
  })
  .meta({ id: 'StockAdjustment' });

/** Adjustments have no address. */
const adjustmentHal = buildHalSchema(
  adjustment,
  'StockAdjustmentHal',
  buildLinksSchema(['product'], ['variant']).describe(
    'The product and the variant, which may have been deleted since.',
  ),
  z.object({}),
);

export const adjusted = z
  .object({
    data: z.array(adjustment).max(maxAdjustments).describe('In the order in which they were sent.'),
  })
  .meta({ id: 'AdjustedStock' });

export const adjustmentPage = buildPageSchemas(
  adjustment,
  adjustmentHal,
  'adjustments',
  'StockAdjustmentList',
);
export const sortColumns = commonSorts;

export const listAdjustments = z.object({
  productId: idFilter('Only adjustments of this product and its variants.'),
  variantId: idFilter('Only adjustments of this variant.'),
  ...listParameters(sortColumns),
});

export type Adjustment = z.output<typeof adjustment>;
export type Line = z.output<typeof line>;
