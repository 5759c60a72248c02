/** Members that products and variants have alike: the length of skus, the former price, the weight, and a filter. */
import { z } from 'zod';

/** In characters: the length of the longest skus that shops export. */
export const maxSkuLength = 255;

/** A filter of lists. */
export const availableParameter = z
  .enum(['true', 'false'])
  .optional()
  .describe('Only items that can be bought now, or only the others.');

export const compareAtPrice = z.number().min(0).describe('The former price, to be shown next to the price.');

export const weight = z
  .object({
    value: z
      .number()
      .gt(0)
      .describe('The weight in `unit`.')
      .meta({ examples: [1.2] }),
    unit: z.enum(['g', 'kg', 'oz', 'lb']).describe('The unit of the value.'),
  })
  .meta({ id: 'Weight', description: 'A value above 0 and its unit.' });
