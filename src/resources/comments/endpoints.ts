/** Comments on posts over HTTP. */
import type { Endpoint } from '../../http/endpoint.ts';
import { createNotFoundError, requireFound } from '../../http/errors.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { commentRights, createAuthoredResource, signedInAuthor } from '../authored/index.ts';
import { byId } from '../crud/index.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { toComment } from './store.ts';

const path = '/posts/{id}/comments';
const description = 'Allowed for the author and administrators; editors may delete any comment.';
const example = { body: 'See you there.' };

export function createCommentEndpoints(stores: Stores): Endpoint[] {
  const { database, comments, posts } = stores;
  const authored = createAuthoredResource(stores, {
    collection: 'comments',
    rights: commentRights,
    representationOf: toComment,
    relatedTo: row => ({ post: `posts/${row.post_id}` }),
    name: 'comment',
    tag: 'Comments',
    schema: schema.comment,
    hal: schema.hal,
    page: schema.page,
    sortColumns: schema.sortColumns,
    replace: { schema: schema.writeComment, example },
    patch: { schema: schema.patchComment, example: { body: 'See you there at noon.' } },
    rows: comments,
  });

  return [
    authored.list({
      path,
      params: byId,
      operationId: 'listComments',
      summary: 'List the comments on a post',
      query: schema.listComments,
      async requested({ params: { id }, query }) {
        requireFound('post', id, await posts.find(database.read, id));
        return { query, conditions: createEqualConditions({ post_id: id }) };
      },
    }),
    authored.create({
      path,
      params: byId,
      summary: 'Comment on a post',
      description: signedInAuthor,
      body: { schema: schema.writeComment, example },
      async insert(session, author, { params: { id }, body, cause }) {
        if (!(await posts.keep(session, id))) throw createNotFoundError('post', id);
        return comments.insert(session, author, { post_id: id, ...body }, cause());
      },
    }),
    authored.list({
      operationId: 'listAllComments',
      summary: 'List the comments on all posts',
      query: schema.listAllComments,
      requested({ query }) {
        const { postId, author } = query;
        return { query, conditions: createEqualConditions({ post_id: postId, user_id: author }) };
      },
    }),
    ...authored.single(description),
  ];
}
