/** Posts over HTTP. */
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { authoredEndpoints } from '../authored/handlers.ts';
import { authorship, pages, presenter, staffRights } from '../authored/index.ts';
import type { CommentStore } from '../comments/store.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type PostStore, postOf, type StoredPost } from './store.ts';

const tag = 'Posts';
const path = '/posts';
const example = { title: 'Open on Sunday', body: 'From noon to five, with coffee.' };

export function postEndpoints(
  { database, paginator }: Dependencies,
  { posts: store, comments }: { posts: PostStore; comments: Pick<CommentStore, 'removeAll'> },
): Endpoint[] {
  const authorOf = authorship(database);
  const present = presenter<StoredPost>({
    collection: 'posts',
    rights: staffRights,
    representationOf: postOf,
    accountOf: row => row.user_id,
    ownerOf: () => undefined,
    relatedTo: row => ({ comments: `posts/${row.id}/comments` }),
    linksInJson: true,
  });
  const page = pages({
    paginator,
    list: store.list,
    sortColumns: schema.sortColumns,
    collection: 'posts',
    presenter: present,
  });

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listPosts',
      summary: 'List posts',
      tag,
      access: allow.everyone('content:read'),
      query: schema.listPosts,
      responses: {
        200: { description: 'One page of posts.', schema: schema.postList, hal: schema.postListHal },
      },
      errors: ['INVALID_CURSOR'],
      handle(context) {
        const { author } = context.query;
        const by = { column: 'author_id', operator: '=', value: author ?? 0 } as const;
        return page(context, context.query, author === undefined ? [] : [by]);
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createPost',
      summary: 'Write a post',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      tag,
      access: allow.staff(),
      body: { kind: 'json', schema: schema.writePost, example },
      responses: {
        201: { description: 'The post was created.', schema: schema.post, hal: schema.postHal },
      },
      handle(context) {
        return context.write(async session => {
          const author = await authorOf(session, context.caller);
          return present.created(context, await store.insert(session, author, context.body, context.cause()));
        });
      },
    }),
    ...authoredEndpoints(database, {
      name: 'post',
      path,
      tag,
      read: allow.everyone('content:read'),
      write: allow.staff('content:write'),
      rule: 'Anyone who changes it, its author stays.',
      representation: schema.post,
      hal: schema.postHal,
      replace: schema.writePost,
      patch: schema.patchPost,
      replaceExample: example,
      patchExample: { title: 'Open on Sunday and Monday' },
      readOnly: ['id', 'author', 'createdAt', 'updatedAt', '_links'],
      presenter: present,
      store: {
        ...store,
        async remove(session, before, cause) {
          await comments.removeAll(session, 'post_id', before.id, cause);
          await store.remove(session, before, cause);
        },
      },
    }),
  ];
}
