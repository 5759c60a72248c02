/** Posts over HTTP. */
import type { Endpoint } from '../../http/endpoint.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { createAuthoredResource, staffRights } from '../authored/index.ts';
import type { CommentStore } from '../comments/store.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type PostStore, toPost } from './store.ts';

const path = '/posts';
const description = 'Anyone who changes it, its author stays.';
const example = { title: 'Open on Sunday', body: 'From noon to five, with coffee.' };

export function createPostEndpoints(
  dependencies: Dependencies,
  { posts: store, comments }: { posts: PostStore; comments: Pick<CommentStore, 'removeAll'> },
): Endpoint[] {
  const authored = createAuthoredResource(dependencies, {
    collection: 'posts',
    rights: staffRights,
    representationOf: toPost,
    relatedTo: row => ({ comments: `posts/${row.id}/comments` }),
    name: 'post',
    tag: 'Posts',
    schema: schema.post,
    hal: schema.postHal,
    page: schema.postPage,
    sortColumns: schema.sortColumns,
    replace: { schema: schema.writePost, example },
    patch: { schema: schema.patchPost, example: { title: 'Open on Sunday and Monday' } },
    rows: {
      ...store,
      async remove(session, before, cause) {
        await comments.removeAll(session, { column: 'post_id', value: before.id }, cause);
        await store.remove(session, before, cause);
      },
    },
  });

  return [
    authored.list({
      path,
      operationId: 'listPosts',
      query: schema.listPosts,
      requested: ({ query }) => ({ query, conditions: createEqualConditions({ author_id: query.author }) }),
    }),
    authored.create({
      path,
      summary: 'Write a post',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      body: { schema: schema.writePost, example },
      insert: (session, author, { body, cause }) => store.insert(session, author, body, cause()),
    }),
    ...authored.single(description),
  ];
}
