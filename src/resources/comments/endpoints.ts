/** Comments on posts over HTTP. */
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { authoredEndpoints, params } from '../authored/handlers.ts';
import { authorship, commentRights, pages, presenter } from '../authored/index.ts';
import type { Dependencies } from '../dependencies.ts';
import type { PostStore } from '../posts/store.ts';
import * as schema from './schema.ts';
import { type CommentStore, commentOf, type StoredComment } from './store.ts';

const tag = 'Comments';
const path = '/posts/{id}/comments';
const example = { body: 'See you there.' };

export function commentEndpoints(
  { database, paginator }: Dependencies,
  { comments, posts }: { comments: CommentStore; posts: PostStore },
): Endpoint[] {
  const authorOf = authorship(database);
  const present = presenter<StoredComment>({
    collection: 'comments',
    rights: commentRights,
    representationOf: commentOf,
    accountOf: row => row.user_id,
    ownerOf: row => row.user_id,
    relatedTo: row => ({ post: `posts/${row.post_id}` }),
    linksInJson: false,
  });
  const page = pages({
    paginator,
    list: comments.list,
    sortColumns: schema.sortColumns,
    collection: 'comments',
    presenter: present,
  });

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listComments',
      summary: 'List the comments on a post',
      tag,
      access: allow.everyone('content:read'),
      params,
      query: schema.listComments,
      responses: {
        200: { description: 'One page of comments.', schema: schema.commentList, hal: schema.commentListHal },
      },
      errors: ['NOT_FOUND', 'INVALID_CURSOR'],
      async handle(context) {
        const { id } = context.params;
        if ((await posts.find(database.read, id)) === undefined) throw notFound('post', id);
        return page(context, context.query, [{ column: 'post_id', operator: '=', value: id }]);
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createComment',
      summary: 'Comment on a post',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      tag,
      access: allow.everyone(),
      params,
      body: { kind: 'json', schema: schema.writeComment, example },
      responses: {
        201: { description: 'The comment was created.', schema: schema.comment, hal: schema.commentHal },
      },
      errors: ['NOT_FOUND'],
      handle(context) {
        const { id } = context.params;
        return context.write(async session => {
          const author = await authorOf(session, context.caller);
          if (!(await posts.keep(session, id))) throw notFound('post', id);
          return present.created(
            context,
            await comments.insert(session, id, author, context.body, context.cause()),
          );
        });
      },
    }),
    ...authoredEndpoints(database, {
      name: 'comment',
      path: '/comments',
      tag,
      read: allow.everyone('content:read'),
      write: allow.everyone('content:write'),
      rule: 'Its author and administrators may; editors may delete any comment.',
      representation: schema.comment,
      hal: schema.commentHal,
      replace: schema.writeComment,
      patch: schema.patchComment,
      replaceExample: example,
      patchExample: { body: 'See you there at noon.' },
      readOnly: ['id', 'postId', 'author', 'createdAt', 'updatedAt'],
      presenter: present,
      store: comments,
    }),
  ];
}
