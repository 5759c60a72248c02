/** The weight of a product. */
import { z } from 'zod';

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
