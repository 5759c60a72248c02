/** Synonyms over HTTP: for administrators, and keys with `products:write`. */
import { allow } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { changeLinks } from '../../http/hal/index.ts';
import { type StoredDocument, toDocumentJson } from '../crud/documents.ts';
import { byId, createCrudEndpoints, createFindersById } from '../crud/index.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { toSynonym } from './store.ts';

const tag = 'Search';
const access = allow.admin('products:write');

export function createSynonymEndpoints({ database, paginator, synonyms: store }: Stores): Endpoint[] {
  const presenter = createPresenter<StoredDocument>({
    placeOf: ({ id }) => ['search', 'synonyms', id],
    representationOf: toSynonym,
    representationText: toDocumentJson,
    linksOf: (_context, _row, self) => changeLinks(self, true),
    changedAt: row => row.updated_at,
  });
  const body = { schema: schema.replaceSynonym, example: schema.synonymBodyExample };
  const updated = 'The synonyms were updated.';
  const crud = createCrudEndpoints(database, paginator, {
    name: 'synonym',
    object: 'synonyms',
    path: '/search/synonyms/{id}',
    params: byId,
    tag,
    read: access,
    write: access,
    schema: schema.synonym,
    hal: schema.hal,
    replace: body,
    patch: { schema: schema.patchSynonym, example: schema.synonymBodyExample },
    presenter,
    rows: { ...store, ...createFindersById('synonym', store) },
  });

  return [
    crud.list({
      operationId: 'listSynonyms',
      name: 'synonyms',
      query: schema.listSynonyms,
      page: schema.page,
      list: store.list,
      sortColumns: schema.sortColumns,
      requested: ({ query }) => ({ query, conditions: [] }),
    }),
    crud.create({
      summary: 'Create synonyms',
      description: 'Applies to all searches from now on.',
      success: 'The synonyms were created.',
      body,
      errors: ['LIMIT_REACHED'],
      async insert(session, { body, cause }) {
        if ((await store.countLocked(session)) >= schema.synonymsLimit)
          throw new HttpError('LIMIT_REACHED', {
            message: `There are ${schema.synonymsLimit} synonyms; delete some before you add another.`,
          });
        return store.insert(session, body, cause());
      },
    }),
    crud.get({ success: 'The synonyms.' }),
    crud.put({ success: updated }),
    crud.patch({ summary: 'Change synonyms', success: updated }),
    crud.remove({ success: 'The synonyms were deleted.' }),
  ];
}
