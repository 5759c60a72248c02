/** Further prices of products and variants. */
import { z } from 'zod';

export const compareAtPrice = z.number().min(0).describe('The former price, to be shown next to the price.');
