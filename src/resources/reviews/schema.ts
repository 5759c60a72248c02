/** The schema of reviews. */
import { z } from 'zod';
import { listParameters } from '../../http/paginate.ts';
import { identifier, idFilter, integerParameter, prose, timestamp } from '../../http/schema.ts';
import { author } from '../authored/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';

const rating = z
  .int()
  .min(1)
  .max(5)
  .meta({ examples: [5] });
const body = prose(5000).meta({ examples: ['Bright, and well made.'] });

export const review = z
  .object({
    id: identifier(),
    productId: identifier(),
    author,
    rating,
    body: body.nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  })
  .meta({ id: 'Review' });

export const { hal, page } = buildHalSchemas(review, 'reviews', {
  always: ['product'],
  sometimes: ['author', 'edit', 'delete'],
});

export const createReview = z.object({ rating, body: body.nullish() }).meta({ id: 'CreateReview' });

/** PUT: an omitted body becomes null. */
export const replaceReview = createReview
  .transform(input => ({ rating: input.rating, body: input.body ?? null }))
  .meta({ id: 'ReplaceReview' });

export const patchReview = createReview.partial().meta({ id: 'PatchReview' });

export const sortColumns = { id: 'id', rating: 'rating', createdAt: 'created_at' } as const;
export const listReviews = z.object(listParameters(sortColumns));

export const listAllReviews = z.object({
  productId: idFilter('Only reviews of the product with this id.'),
  author: idFilter('Only reviews by the user with this id.'),
  rating: integerParameter(1, 5, { examples: [5] })
    .optional()
    .describe('Only reviews with this rating.'),
  ...listParameters(sortColumns),
});

export type ReviewFields = z.output<typeof replaceReview>;
