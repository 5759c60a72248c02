/** THE schema of posts. */
import { z } from 'zod';
import { halCollectionOf, halOf, linksOf } from '../../http/hal/index.ts';
import { collectionOf, pageParameters, sortParameters } from '../../http/paginate.ts';
import { identifier, integerParameter, prose, text, timestamp } from '../../http/schema.ts';
import { largestId } from '../../storage/database.ts';
import { author } from '../authored/index.ts';

const title = text(200).meta({ examples: ['Open on Sunday'] });
const body = prose(100_000).meta({ examples: ['From noon to five, with coffee.'] });

export const post = z
  .object({
    id: identifier(),
    title,
    body,
    author,
    createdAt: timestamp(),
    updatedAt: timestamp(),
    _links: z.object({
      self: z.url().meta({ examples: ['https://shop.example/v1/posts/1'] }),
      author: z
        .url()
        .optional()
        .describe('Absent once the author has no account any more.')
        .meta({ examples: ['https://shop.example/v1/users/1'] }),
      comments: z.url().meta({ examples: ['https://shop.example/v1/posts/1/comments'] }),
    }),
  })
  .meta({ id: 'Post' });

export const postHal = halOf(
  post,
  'PostHal',
  linksOf(['self', 'comments'], ['author', 'edit', 'delete']),
  z.object({}),
);

export const writePost = z.object({ title, body }).meta({ id: 'WritePost' });
export const patchPost = writePost.partial().meta({ id: 'PatchPost' });

export const postList = collectionOf(post, 'PostList');
export const postListHal = halCollectionOf(postHal, 'posts', postList, 'PostListHal');
export const sortColumns = { id: 'id', title: 'title', createdAt: 'created_at' } as const;

export const listPosts = z.object({
  author: integerParameter(1, largestId, { examples: [1] })
    .optional()
    .describe('Only posts by the user with this id.'),
  ...sortParameters(['id', 'title', 'createdAt']),
  ...pageParameters,
});

/** What a caller may set. */
export type PostFields = z.output<typeof writePost>;
