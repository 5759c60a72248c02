/** The schema of comments. */
import { z } from 'zod';
import { buildHalSchema, buildLinksSchema, buildPageSchemas } from '../../http/hal/index.ts';
import { commonSorts, listParameters } from '../../http/paginate.ts';
import { identifier, idFilter, text, timestamp } from '../../http/schema.ts';
import { author } from '../authored/schema.ts';

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

export const commentHal = buildHalSchema(
  comment,
  'CommentHal',
  buildLinksSchema(['self', 'post'], ['author', 'edit', 'delete']),
);

export const writeComment = z.object({ body }).meta({ id: 'WriteComment' });
export const patchComment = writeComment.partial().meta({ id: 'PatchComment' });

export const commentPage = buildPageSchemas(comment, commentHal, 'comments', 'CommentList');
export const sortColumns = commonSorts;
export const listComments = z.object(listParameters(sortColumns));

export const listAllComments = z.object({
  postId: idFilter('Only comments on the post with this id.'),
  author: idFilter('Only comments by the user with this id.'),
  ...listParameters(sortColumns),
});
