/** The schema of comments. */
import { z } from 'zod';
import { commonSorts, listParameters } from '../../http/paginate.ts';
import { identifier, idFilter, text, timestamp } from '../../http/schema.ts';
import { author } from '../authored/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';

const body = text(5000).meta({ examples: ['See you there.'] });

export const comment = z
  .object({
    id: identifier(),
    postId: identifier(),
    body,
    author,
    createdAt: timestamp(),
    updatedAt: timestamp(),
  })
  .meta({ id: 'Comment' });

export const { hal, page } = buildHalSchemas(comment, 'comments', {
  always: ['post'],
  sometimes: ['author', 'edit', 'delete'],
});

export const writeComment = z.object({ body }).meta({ id: 'WriteComment' });
export const patchComment = writeComment.partial().meta({ id: 'PatchComment' });

export const sortColumns = commonSorts;
export const listComments = z.object(listParameters(sortColumns));

export const listAllComments = z.object({
  postId: idFilter('Only comments on the post with this id.'),
  author: idFilter('Only comments by the user with this id.'),
  ...listParameters(sortColumns),
});
