/** THE schema of posts. */
import { z } from 'zod';
import { halOf, linksOf, pageSchemas } from '../../http/hal/index.ts';
import { listParameters } from '../../http/paginate.ts';
import { identifier, idFilter, prose, text, timestamp } from '../../http/schema.ts';
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

export const postHal = halOf(post, 'PostHal', linksOf(['self', 'comments'], ['author', 'edit', 'delete']));

export const writePost = z.object({ title, body }).meta({ id: 'WritePost' });
export const patchPost = writePost.partial().meta({ id: 'PatchPost' });

export const postPage = pageSchemas(post, postHal, 'posts', 'PostList');
export const sortColumns = { id: 'id', title: 'title', createdAt: 'created_at' } as const;

export const listPosts = z.object({
  author: idFilter('Only posts by the user with this id.'),
  ...listParameters(sortColumns),
});

/** What a caller may set. */
export type PostFields = z.output<typeof writePost>;
