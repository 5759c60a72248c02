/** Articles over HTTP. */
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import type { Condition } from '../../storage/list/request.ts';
import { authoredEndpoints } from '../authored/handlers.ts';
import { authorship, pages, presenter, staffRights } from '../authored/index.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type ArticleStore, articleOf, type StoredArticle } from './store.ts';

const tag = 'Articles';
const path = '/articles';
const example = {
  title: 'How we choose our wood',
  body: 'Walnut is dense, dark, and kind to tools.',
  tags: ['wood', 'workshop'],
};

export function articleEndpoints({ database, paginator }: Dependencies, store: ArticleStore): Endpoint[] {
  const authorOf = authorship(database);
  const present = presenter<StoredArticle>({
    collection: 'articles',
    rights: staffRights,
    representationOf: articleOf,
    accountOf: row => row.user_id,
    ownerOf: () => undefined,
    relatedTo: () => ({}),
    linksInJson: true,
  });
  const page = pages({
    paginator,
    list: store.list,
    sortColumns: schema.sortColumns,
    collection: 'articles',
    presenter: present,
  });

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listArticles',
      summary: 'List articles',
      tag,
      access: allow.everyone('content:read'),
      query: schema.listArticles,
      responses: {
        200: { description: 'One page of articles.', schema: schema.articleList, hal: schema.articleListHal },
      },
      errors: ['INVALID_CURSOR'],
      handle(context) {
        const { author, tag } = context.query;
        const conditions: Condition[] = [];
        if (author !== undefined) conditions.push({ column: 'author_id', operator: '=', value: author });
        if (tag !== undefined) {
          const through = { table: 'article_tags', key: 'article_id' } as const;
          conditions.push({ column: 'tag', operator: '=', value: tag, through });
        }
        return page(context, context.query, conditions);
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createArticle',
      summary: 'Write an article',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      tag,
      access: allow.staff(),
      body: { kind: 'json', schema: schema.createArticle, example },
      responses: {
        201: { description: 'The article was created.', schema: schema.article, hal: schema.articleHal },
      },
      handle(context) {
        return context.write(async session => {
          const author = await authorOf(session, context.caller);
          const fields = schema.replaceArticle.parse(context.body);
          return present.created(context, await store.insert(session, author, fields, context.cause()));
        });
      },
    }),
    ...authoredEndpoints(database, {
      name: 'article',
      path,
      tag,
      read: allow.everyone('content:read'),
      write: allow.staff('content:write'),
      rule: 'Anyone who changes it, its author stays.',
      representation: schema.article,
      hal: schema.articleHal,
      replace: schema.replaceArticle,
      patch: schema.patchArticle,
      replaceExample: example,
      patchExample: { title: 'How we choose and dry our wood' },
      readOnly: ['id', 'author', 'createdAt', 'updatedAt', '_links'],
      presenter: present,
      store,
    }),
  ];
}
