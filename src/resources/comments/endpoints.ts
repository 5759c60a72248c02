/** Comments on posts over HTTP. */
import { allow } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { found, notFound } from '../../http/errors.ts';
import { equal } from '../../storage/list/request.ts';
import { authoredPresenter, authorship, commentRights } from '../authored/index.ts';
import { byId, crudEndpoints, foundById } from '../crud/index.ts';
import { listEndpoint } from '../crud/list.ts';
import type { Dependencies } from '../dependencies.ts';
import type { PostStore } from '../posts/store.ts';
import * as schema from './schema.ts';
import { type CommentStore, commentOf, type StoredComment } from './store.ts';

const tag = 'Comments';
const path = '/posts/{id}/comments';
const description = 'Its author and administrators may; editors may delete any comment.';
const example = { body: 'See you there.' };

export function commentEndpoints(
  { database, paginator }: Dependencies,
  { comments, posts }: { comments: CommentStore; posts: PostStore },
): Endpoint[] {
  const authorOf = authorship(database);
  const read = allow.everyone('content:read');
  const presenter = authoredPresenter<StoredComment>({
    collection: 'comments',
    rights: commentRights,
    representationOf: commentOf,
    accountOf: row => row.user_id,
    ownerOf: row => row.user_id,
    relatedTo: row => ({ post: `posts/${row.post_id}` }),
    linksInJson: false,
  });
  const crud = crudEndpoints(database, {
    name: 'comment',
    path: '/comments/{id}',
    params: byId,
    tag,
    read,
    write: allow.everyone('content:write'),
    schema: schema.comment,
    hal: schema.commentHal,
    replace: { schema: schema.writeComment, example },
    patch: { schema: schema.patchComment, example: { body: 'See you there at noon.' } },
    readOnly: ['id', 'postId', 'author', 'createdAt', 'updatedAt'],
    presenter,
    permit: presenter.permit,
    rows: { ...comments, ...foundById('comment', comments) },
  });

  return [
    listEndpoint(paginator, {
      path,
      params: byId,
      operationId: 'listComments',
      summary: 'List the comments on a post',
      tag,
      access: read,
      errors: ['NOT_FOUND'],
      query: schema.listComments,
      page: schema.commentPage,
      name: 'comments',
      list: comments.list,
      sortColumns: schema.sortColumns,
      async requested({ params: { id }, query }) {
        found('post', id, await posts.find(database.read, id));
        return { query, conditions: equal({ post_id: id }) };
      },
      textsOf: presenter.textsOf,
    }),
    crud.create({
      path,
      params: byId,
      summary: 'Comment on a post',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      access: allow.everyone(),
      body: { schema: schema.writeComment, example },
      errors: ['NOT_FOUND'],
      async insert(session, { params: { id }, caller, body, cause }) {
        const author = await authorOf(session, caller);
        if (!(await posts.keep(session, id))) throw notFound('post', id);
        return comments.insert(session, id, author, body, cause());
      },
    }),
    crud.get(),
    crud.put({ description }),
    crud.patch({ description }),
    crud.remove({ description }),
  ];
}
