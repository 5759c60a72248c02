/** API keys over HTTP, for administrators. */
import { z } from 'zod';
import { allow, outdated } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { noContent, ok, secret } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Dependencies } from '../dependencies.ts';
import type { UserStore } from '../users/store.ts';
import * as schema from './schema.ts';
import { apiKeyOf, type KeyStore } from './store.ts';

const tag = 'API keys';
const path = '/keys';
const params = z.object({ id: identifier() });
const example = {
  name: 'Price import',
  scopes: ['products:write'],
  expiresAt: '2027-01-01T00:00:00Z',
  rateLimit: 20_000,
};

export interface KeyParts {
  readonly keys: KeyStore;
  readonly users: Pick<UserStore, 'keep'>;
}

export function keyEndpoints(
  { database, clock, paginator }: Dependencies,
  { keys: store, users }: KeyParts,
): Endpoint[] {
  const missing = (id: number) => notFound('API key', id);
  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listKeys',
      summary: 'List API keys',
      tag,
      access: allow.admin(),
      query: schema.listKeys,
      responses: {
        200: { description: 'One page of API keys, without their secrets.', schema: schema.apiKeyList },
      },
      errors: ['INVALID_CURSOR'],
      async handle({ query, url }) {
        const request = paginator.request(query, [], schema.sortColumns, 'keys');
        const listed = await store.list(request);
        return ok(paginator.envelope(listed, request, 'keys', url, row => JSON.stringify(apiKeyOf(row))));
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createKey',
      summary: 'Create an API key',
      tag,
      access: allow.admin(),
      body: { kind: 'json', schema: schema.createKey, example },
      responses: { 201: { description: 'The key, shown this once.', schema: schema.apiKeyWithSecret } },
      handle({ body, caller, url, write, cause }) {
        if (body.expiresAt != null && Date.parse(body.expiresAt) <= clock.now()) {
          throw invalid('expiresAt', 'future', 'must be in the future');
        }
        return write(async session => {
          // A key outlives the right to make it: anyone who makes it stays an administrator until it is made.
          const maker = caller.kind === 'user' ? await users.keep(session, caller.userId) : undefined;
          if (maker?.role !== 'admin') throw outdated();
          const { row, key } = await store.insert(session, body, maker.id, cause());
          return secret(201, { ...apiKeyOf(row), key }, { Location: `${url.base}${url.path}/${row.id}` });
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getKey',
      summary: 'Read an API key, without its secret',
      tag,
      access: allow.admin(),
      params,
      responses: { 200: { description: 'The API key.', schema: schema.apiKey } },
      errors: ['NOT_FOUND'],
      async handle({ params: { id } }) {
        const row = await store.find(database.read, id);
        if (row === undefined) throw missing(id);
        return ok(apiKeyOf(row));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'revokeKey',
      summary: 'Revoke an API key',
      tag,
      access: allow.admin(),
      params,
      responses: { 204: { description: 'The key is not accepted any more.' } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle({ params: { id }, precondition, write, cause }) {
        return write(async session => {
          const row = await store.lock(session, id);
          if (row === undefined) throw missing(id);
          precondition(JSON.stringify(apiKeyOf(row)));
          await store.remove(session, row, cause());
          return noContent();
        });
      },
    }),
  ];
}
