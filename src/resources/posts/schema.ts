/** The schema of posts. */
import { z } from 'zod';
import { listParameters } from '../../http/paginate.ts';
import { identifier, idFilter, prose, text, timestamp } from '../../http/schema.ts';
import { author, jsonLinks, textSorts } from '../authored/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';

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
    _links: jsonLinks('posts', 'comments'),
  })
  .meta({ id: 'Post' });

export const { hal, page } = buildHalSchemas(post, 'posts', {
  always: ['comments'],
  sometimes: ['author', 'edit', 'delete'],
});

export const writePost = z.object({ title, body }).meta({ id: 'WritePost' });
export const patchPost = writePost.partial().meta({ id: 'PatchPost' });

export const sortColumns = textSorts;

export const listPosts = z.object({
  author: idFilter('Only posts by the user with this id.'),
  ...listParameters(sortColumns),
});
