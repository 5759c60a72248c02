/** Further prices of products and variants. */
import { z } from 'zod';

export const compareAtPrice = z
  .number()
  .min(0)
  .describe('What it has cost before, to be shown beside its price.');
