/** THE schema of reviews. */
import { z } from 'zod';
import { collectionOf, pageParameters, sortParameters } from '../../http/paginate.ts';
import { identifier, prose, text, timestamp } from '../../http/schema.ts';

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
    author: z.object({ id: identifier(), name: text(200).meta({ examples: ['Ada Winter'] }) }),
    rating,
    body: body.nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  })
  .meta({ id: 'Review' });

export const createReview = z.object({ rating, body: body.nullish() }).meta({ id: 'CreateReview' });
export const reviewList = collectionOf(review, 'ReviewList');
export const sortColumns = { id: 'id', rating: 'rating', createdAt: 'created_at' } as const;
export const listReviews = z.object({ ...sortParameters(['id', 'rating', 'createdAt']), ...pageParameters });

export type Review = z.output<typeof review>;
export type NewReview = z.output<typeof createReview>;
