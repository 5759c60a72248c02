/** Articles over HTTP. */
import type { Endpoint } from '../../http/endpoint.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import { createTextEndpoints } from '../authored/texts.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { toArticle } from './store.ts';

const example = {
  title: 'How we choose our wood',
  body: 'Walnut is dense, dark, and kind to tools.',
  tags: ['wood', 'workshop'],
};

export function createArticleEndpoints(stores: Stores): Endpoint[] {
  return createTextEndpoints(stores, {
    collection: 'articles',
    representationOf: toArticle,
    name: 'article',
    tag: 'Articles',
    schema: schema.article,
    hal: schema.hal,
    page: schema.page,
    sortColumns: schema.sortColumns,
    create: schema.createArticle,
    replace: { schema: schema.replaceArticle, example },
    patch: { schema: schema.patchArticle, example: { title: 'How we choose and dry our wood' } },
    rows: stores.articles,
    query: schema.listArticles,
    conditionsOf({ author, tag }) {
      const join = { table: 'article_tags', key: 'article_id' } as const;
      const tagged: Condition[] =
        tag === undefined ? [] : [{ column: 'tag', operator: '=', value: tag, join }];
      return [...createEqualConditions({ author_id: author }), ...tagged];
    },
  });
}
