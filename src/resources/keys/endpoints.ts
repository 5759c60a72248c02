/** API keys over HTTP, for administrators. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError, invalid } from '../../http/errors.ts';
import { noContent, ok, secret } from '../../http/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Services } from '../services.ts';
import * as schema from './schema.ts';
import { apiKeyOf, type KeyStore } from './store.ts';

const tag = 'API keys';
const path = '/keys';
const params = z.object({ id: identifier() });
const example = { name: 'Price import', scopes: ['products:write'], expiresAt: '2027-01-01T00:00:00Z' };

export function keyEndpoints({ database, clock, paginator }: Services, store: KeyStore): Endpoint[] {
  const missing = (id: number) =>
    new HttpError('NOT_FOUND', { message: `There is no API key ${id || 'with this id'}.` });
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
      handle({ body, caller, url, write }) {
        const now = clock.now();
        if (body.expiresAt != null && Date.parse(body.expiresAt) <= now) {
          throw invalid('expiresAt', 'future', 'must be in the future');
        }
        return write(async session => {
          const createdBy = caller.kind === 'user' ? caller.userId : null;
          const { row, key } = await store.insert(session, body, createdBy, now);
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
      handle({ params: { id }, precondition, write }) {
        return write(async session => {
          const row = await store.find(session, id);
          if (row === undefined) throw missing(id);
          precondition(JSON.stringify(apiKeyOf(row)));
          await store.remove(session, id);
          return noContent();
        });
      },
    }),
  ];
}
