/**
 * Attribute definitions over HTTP. Anyone who may read products may read them; administrators and keys with
 * `products:write` may write them.
 */
import { admins, allow } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { changeLinks } from '../../http/hal/index.ts';
import { createEqualConditions } from '../../storage/list/request.ts';
import { may } from '../context.ts';
import { type StoredDocument, toDocumentJson } from '../crud/documents.ts';
import { byId, createCrudEndpoints, createFindersById } from '../crud/index.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';
import { toDefinition } from './store.ts';

const tag = 'Attributes';
const existing = 'Existing products keep their values: each is checked when it is next written.';

export function createAttributeEndpoints({ database, paginator, definitions: store }: Stores): Endpoint[] {
  const presenter = createPresenter<StoredDocument>({
    placeOf: ({ id }) => ['attributes', id],
    representationOf: toDefinition,
    representationText: toDocumentJson,
    linksOf: ({ caller }, _, self) => changeLinks(self, may(caller, admins, 'products:write')),
    changedAt: row => row.updated_at,
  });
  const read = allow.everyoneSameView('products:read');
  const crud = createCrudEndpoints(database, paginator, {
    name: 'definition',
    object: 'the definition of an attribute',
    id: 'Attribute',
    path: '/attributes/{id}',
    params: byId,
    tag,
    read,
    write: allow.admin('products:write'),
    schema: schema.definition,
    hal: schema.hal,
    replace: { schema: schema.replaceDefinition, example: schema.definitionBodyExample },
    patch: { schema: schema.patchDefinition, example: { label: 'Wattage', facet: false } },
    presenter,
    rows: { ...store, ...createFindersById('attribute', store) },
  });

  return [
    crud.list({
      operationId: 'listAttributes',
      summary: 'List attribute definitions',
      name: 'attributes',
      items: 'definitions',
      query: schema.listDefinitions,
      page: schema.page,
      list: store.list,
      sortColumns: schema.sortColumns,
      requested: ({ query }) => ({
        query,
        conditions: createEqualConditions({ key: query.key, type: query.type }),
      }),
    }),
    crud.create({
      summary: 'Define an attribute',
      description: existing,
      success: 'The attribute was defined.',
      body: { schema: schema.replaceDefinition, example: schema.definitionBodyExample },
      errors: ['DUPLICATE', 'LIMIT_REACHED'],
      async insert(session, { body, cause }) {
        if ((await store.countLocked(session)) >= schema.definitionsLimit)
          throw new HttpError('LIMIT_REACHED', {
            message: `${schema.definitionsLimit} attributes are defined; delete some before you add another.`,
          });
        return store.insert(session, body, cause());
      },
    }),
    crud.get(),
    crud.put({ description: existing, errors: ['DUPLICATE'] }),
    crud.patch({
      summary: 'Change the definition of an attribute',
      description: existing,
      errors: ['DUPLICATE'],
    }),
    crud.remove({ description: 'Products keep their values, which may then be of any type.' }),
  ];
}
