/** Posts over HTTP. */
import type { Endpoint } from '../../http/endpoint.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { createTextEndpoints } from '../authored/texts.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { toPost } from './store.ts';

const example = { title: 'Open on Sunday', body: 'From noon to five, with coffee.' };

export function createPostEndpoints(stores: Stores): Endpoint[] {
  const { posts, comments } = stores;
  return createTextEndpoints(stores, {
    collection: 'posts',
    representationOf: toPost,
    relatedTo: row => ({ comments: `posts/${row.id}/comments` }),
    name: 'post',
    tag: 'Posts',
    schema: schema.post,
    hal: schema.hal,
    page: schema.page,
    sortColumns: schema.sortColumns,
    create: schema.writePost,
    replace: { schema: schema.writePost, example },
    patch: { schema: schema.patchPost, example: { title: 'Open on Sunday and Monday' } },
    rows: {
      ...posts,
      async remove(session, before, cause) {
        await comments.removeAll(session, { column: 'post_id', value: before.id }, cause);
        await posts.remove(session, before, cause);
      },
    },
    query: schema.listPosts,
    conditionsOf: ({ author }) => createEqualConditions({ author_id: author }),
  });
}
