/** Articles over HTTP. */
import type { Endpoint } from '../../http/endpoint.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import { createAuthoredResource, staffRights } from '../authored/index.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type ArticleStore, toArticle } from './store.ts';

const path = '/articles';
const description = 'Anyone who changes it, its author stays.';
const example = {
  title: 'How we choose our wood',
  body: 'Walnut is dense, dark, and kind to tools.',
  tags: ['wood', 'workshop'],
};

export function createArticleEndpoints(dependencies: Dependencies, store: ArticleStore): Endpoint[] {
  const authored = createAuthoredResource(dependencies, {
    collection: 'articles',
    rights: staffRights,
    representationOf: toArticle,
    name: 'article',
    tag: 'Articles',
    schema: schema.article,
    hal: schema.articleHal,
    page: schema.articlePage,
    sortColumns: schema.sortColumns,
    replace: { schema: schema.replaceArticle, example },
    patch: { schema: schema.patchArticle, example: { title: 'How we choose and dry our wood' } },
    rows: store,
  });

  return [
    authored.list({
      path,
      operationId: 'listArticles',
      query: schema.listArticles,
      requested({ query }) {
        const { author, tag } = query;
        const through = { table: 'article_tags', key: 'article_id' } as const;
        const tagged: Condition[] =
          tag === undefined ? [] : [{ column: 'tag', operator: '=', value: tag, through }];
        return { query, conditions: [...createEqualConditions({ author_id: author }), ...tagged] };
      },
    }),
    authored.create({
      path,
      summary: 'Write an article',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      body: { schema: schema.createArticle, example },
      insert(session, author, { body, cause }) {
        return store.insert(session, author, schema.replaceArticle.parse(body), cause());
      },
    }),
    ...authored.single(description),
  ];
}
