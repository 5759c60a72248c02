/** Posts over HTTP. */
import { allow } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { equal } from '../../storage/list/request.ts';
import { authoredPresenter, authorship, staffRights } from '../authored/index.ts';
import type { CommentStore } from '../comments/store.ts';
import { byId, crudEndpoints, foundById } from '../crud/index.ts';
import { listEndpoint } from '../crud/list.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type PostStore, postOf, type StoredPost } from './store.ts';

const tag = 'Posts';
const path = '/posts';
const description = 'Anyone who changes it, its author stays.';
const example = { title: 'Open on Sunday', body: 'From noon to five, with coffee.' };

export function postEndpoints(
  { database, paginator }: Dependencies,
  { posts: store, comments }: { posts: PostStore; comments: Pick<CommentStore, 'removeAll'> },
): Endpoint[] {
  const authorOf = authorship(database);
  const read = allow.everyone('content:read');
  const presenter = authoredPresenter<StoredPost>({
    collection: 'posts',
    rights: staffRights,
    representationOf: postOf,
    accountOf: row => row.user_id,
    ownerOf: () => undefined,
    relatedTo: row => ({ comments: `posts/${row.id}/comments` }),
    linksInJson: true,
  });
  const crud = crudEndpoints(database, {
    name: 'post',
    path: `${path}/{id}`,
    params: byId,
    tag,
    read,
    write: allow.staff('content:write'),
    schema: schema.post,
    hal: schema.postHal,
    replace: { schema: schema.writePost, example },
    patch: { schema: schema.patchPost, example: { title: 'Open on Sunday and Monday' } },
    readOnly: ['id', 'author', 'createdAt', 'updatedAt', '_links'],
    presenter,
    permit: presenter.permit,
    rows: {
      ...store,
      ...foundById('post', store),
      async remove(session, before, cause) {
        await comments.removeAll(session, 'post_id', before.id, cause);
        await store.remove(session, before, cause);
      },
    },
  });

  return [
    listEndpoint(paginator, {
      path,
      operationId: 'listPosts',
      tag,
      access: read,
      query: schema.listPosts,
      page: schema.postPage,
      name: 'posts',
      list: store.list,
      sortColumns: schema.sortColumns,
      requested: ({ query }) => ({ query, conditions: equal({ author_id: query.author }) }),
      textsOf: presenter.textsOf,
    }),
    crud.create({
      path,
      summary: 'Write a post',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      access: allow.staff(),
      body: { schema: schema.writePost, example },
      insert: async (session, { caller, body, cause }) =>
        store.insert(session, await authorOf(session, caller), body, cause()),
    }),
    crud.get(),
    crud.put({ description }),
    crud.patch({ description }),
    crud.remove({ description }),
  ];
}
