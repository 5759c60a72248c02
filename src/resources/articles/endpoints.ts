/** Articles over HTTP. */
import { allow } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { type Condition, equal } from '../../storage/list/request.ts';
import { authoredPresenter, authorship, staffRights } from '../authored/index.ts';
import { byId, crudEndpoints, foundById } from '../crud/index.ts';
import { listEndpoint } from '../crud/list.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type ArticleStore, articleOf, type StoredArticle } from './store.ts';

const tag = 'Articles';
const path = '/articles';
const description = 'Anyone who changes it, its author stays.';
const example = {
  title: 'How we choose our wood',
  body: 'Walnut is dense, dark, and kind to tools.',
  tags: ['wood', 'workshop'],
};

export function articleEndpoints({ database, paginator }: Dependencies, store: ArticleStore): Endpoint[] {
  const authorOf = authorship(database);
  const read = allow.everyone('content:read');
  const presenter = authoredPresenter<StoredArticle>({
    collection: 'articles',
    rights: staffRights,
    representationOf: articleOf,
    accountOf: row => row.user_id,
    ownerOf: () => undefined,
    relatedTo: () => ({}),
    linksInJson: true,
  });
  const crud = crudEndpoints(database, {
    name: 'article',
    path: `${path}/{id}`,
    params: byId,
    tag,
    read,
    write: allow.staff('content:write'),
    schema: schema.article,
    hal: schema.articleHal,
    replace: { schema: schema.replaceArticle, example },
    patch: { schema: schema.patchArticle, example: { title: 'How we choose and dry our wood' } },
    readOnly: ['id', 'author', 'createdAt', 'updatedAt', '_links'],
    presenter,
    permit: presenter.permit,
    rows: { ...store, ...foundById('article', store) },
  });

  return [
    listEndpoint(paginator, {
      path,
      operationId: 'listArticles',
      tag,
      access: read,
      query: schema.listArticles,
      page: schema.articlePage,
      name: 'articles',
      list: store.list,
      sortColumns: schema.sortColumns,
      requested({ query }) {
        const { author, tag } = query;
        const through = { table: 'article_tags', key: 'article_id' } as const;
        const tagged: Condition[] =
          tag === undefined ? [] : [{ column: 'tag', operator: '=', value: tag, through }];
        return { query, conditions: [...equal({ author_id: author }), ...tagged] };
      },
      textsOf: presenter.textsOf,
    }),
    crud.create({
      path,
      summary: 'Write an article',
      description: 'Its author is the user who is signed in, so that no API key can write one.',
      access: allow.staff(),
      body: { schema: schema.createArticle, example },
      async insert(session, { caller, body, cause }) {
        const author = await authorOf(session, caller);
        return store.insert(session, author, schema.replaceArticle.parse(body), cause());
      },
    }),
    crud.get(),
    crud.put({ description }),
    crud.patch({ description }),
    crud.remove({ description }),
  ];
}
