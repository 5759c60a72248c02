/** API keys over HTTP, for administrators. */
import { allow, createOutdatedTokenError } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { createFieldError, requireFound } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { replyNoContent, replyOk, replySecret } from '../../http/response/reply.ts';
import { byId } from '../crud/index.ts';
import { createListEndpoint } from '../crud/list.ts';
import type { Stores } from '../stores.ts';
import { requireSelf } from '../users/rules.ts';
import * as schema from './schema.ts';
import { type StoredKey, toApiKey } from './store.ts';

/** The settings that all operations share. */
const common = { tag: 'API keys', access: allow.admin() } as const;
const path = '/keys';
const example = {
  name: 'Price import',
  scopes: ['products:write'],
  expiresAt: '2027-01-01T00:00:00Z',
  rateLimit: 20_000,
};

export function createKeyEndpoints({ database, clock, paginator, keys: store, users }: Stores): Endpoint[] {
  const toJson = (row: StoredKey) => JSON.stringify(toApiKey(row));
  return [
    createListEndpoint(paginator, {
      ...common,
      path,
      operationId: 'listKeys',
      summary: 'List API keys',
      query: schema.listKeys,
      page: { schema: schema.apiKeyList },
      name: 'keys',
      items: 'API keys, without their secrets',
      list: store.list,
      sortColumns: schema.sortColumns,
      requested: ({ query }) => ({ query, conditions: [] }),
      textsOf: () => toJson,
    }),
    createEndpoint({
      ...common,
      method: 'POST',
      path,
      operationId: 'createKey',
      summary: 'Create an API key',
      body: { kind: 'json', schema: schema.createKey, example },
      responses: {
        201: {
          description: 'The key was created; it is shown only in this response.',
          schema: schema.apiKeyWithSecret,
        },
      },
      handle({ body, caller, url, write, cause }) {
        return write(async session => {
          // Not before: a repeated request gets the stored response even if the key has expired since.
          if (body.expiresAt != null && Date.parse(body.expiresAt) <= clock.now())
            throw createFieldError('expiresAt', 'future', 'must be in the future');
          // A key outlives the right to create it: its creator must remain a signed-in administrator until the commit.
          const maker = await requireSelf(caller, id => users.keep(session, id));
          if (maker.role !== 'admin') throw createOutdatedTokenError();
          const { row, key } = await store.insert(session, body, maker.id, cause());
          return replySecret(201, { ...toApiKey(row), key }, { Location: buildAddress(url, 'keys', row.id) });
        });
      },
    }),
    createEndpoint({
      ...common,
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getKey',
      summary: 'Read an API key, without its secret',
      params: byId,
      responses: { 200: { description: 'The API key.', schema: schema.apiKey } },
      async handle({ params: { id } }) {
        return replyOk(toJson(requireFound('API key', id, await store.find(database.read, id))));
      },
    }),
    createEndpoint({
      ...common,
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'revokeKey',
      summary: 'Revoke an API key',
      params: byId,
      responses: { 204: { description: 'The key was revoked.' } },
      errors: ['PRECONDITION_FAILED'],
      handle({ params: { id }, precondition, write, cause }) {
        return write(async session => {
          const row = requireFound('API key', id, await store.lock(session, id));
          precondition(() => toJson(row));
          await store.remove(session, row, cause());
          return replyNoContent();
        });
      },
    }),
  ];
}
