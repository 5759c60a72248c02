/** THE schema of reviews. */
import { z } from 'zod';
import { halCollectionOf, halOf, linksOf } from '../../http/hal/index.ts';
import { collectionOf, pageParameters, sortParameters } from '../../http/paginate.ts';
import { identifier, integerParameter, prose, timestamp } from '../../http/schema.ts';
import { largestId } from '../../storage/database.ts';
import { author } from '../authored/index.ts';

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

export const reviewHal = halOf(
  review,
  'ReviewHal',
  linksOf(['self', 'product'], ['author', 'edit', 'delete']),
  z.object({}),
);

export const createReview = z.object({ rating, body: body.nullish() }).meta({ id: 'CreateReview' });

/** PUT: a body that is left out becomes null. */
export const replaceReview = createReview
  .transform(input => ({ rating: input.rating, body: input.body ?? null }))
  .meta({ id: 'ReplaceReview' });

export const patchReview = createReview.partial().meta({ id: 'PatchReview' });

export const reviewList = collectionOf(review, 'ReviewList');
export const reviewListHal = halCollectionOf(reviewHal, 'reviews', reviewList, 'ReviewListHal');
export const sortColumns = { id: 'id', rating: 'rating', createdAt: 'created_at' } as const;
export const listReviews = z.object({ ...sortParameters(['id', 'rating', 'createdAt']), ...pageParameters });

export const listAllReviews = z.object({
  productId: integerParameter(1, largestId, { examples: [1] })
    .optional()
    .describe('Only reviews of the product with this id.'),
  author: integerParameter(1, largestId, { examples: [1] })
    .optional()
    .describe('Only reviews by the user with this id.'),
  rating: integerParameter(1, 5, { examples: [5] })
    .optional()
    .describe('Only reviews with this rating.'),
  ...sortParameters(['id', 'rating', 'createdAt']),
  ...pageParameters,
});

/** What a caller may set, complete: every write ends in one of these. */
export type ReviewFields = z.output<typeof replaceReview>;
