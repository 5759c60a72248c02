/** The weight of a product. */
import { z } from 'zod';

export const weight = z
  .object({
    value: z
      .number()
      .gt(0)
      .describe('As heavy as the unit says.')
      .meta({ examples: [1.2] }),
    unit: z.enum(['g', 'kg', 'oz', 'lb']).describe('What the value counts.'),
  })
  .meta({ id: 'Weight', description: 'A value above 0 and its unit.' });
