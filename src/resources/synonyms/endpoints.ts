/** Synonyms over HTTP: they are the administrators'. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError, notFound } from '../../http/errors.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { datedUnlessHal, hal, halCollection, isHal } from '../../http/hal/index.ts';
import { patched } from '../../http/patch/index.ts';
import { created, noContent, ok } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { RequestContext } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type StoredSynonym, type SynonymStore, synonymJson, synonymOf } from './store.ts';

const tag = 'Search';
const path = '/search/synonyms';
const params = z.object({ id: identifier() });
const readOnly = ['id', 'createdAt', 'updatedAt'];
const access = allow.admin('products:write');

export function synonymEndpoints(
  { database, paginator }: Dependencies,
  { synonyms: store }: { synonyms: SynonymStore },
): Endpoint[] {
  const found = (row: StoredSynonym | undefined, id: number): StoredSynonym => {
    if (row === undefined) throw notFound('synonym', id);
    return row;
  };
  const bodyOf = (context: RequestContext, row: StoredSynonym) =>
    isHal(context.mediaType) ? JSON.stringify(synonymHal(context, row)) : synonymJson(row);
  const show = (context: RequestContext, row: StoredSynonym) =>
    ok(bodyOf(context, row), datedUnlessHal(context.mediaType, row.updated_at));
  const one = {
    description: 'The synonyms as they are now.',
    schema: schema.synonym,
    hal: schema.synonymHal,
  };

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listSynonyms',
      summary: 'List synonyms',
      tag,
      access,
      query: schema.listSynonyms,
      responses: {
        200: { description: 'One page of synonyms.', schema: schema.synonymList, hal: schema.synonymListHal },
      },
      errors: ['INVALID_CURSOR'],
      async handle(context) {
        const { query, url } = context;
        const request = paginator.request(query, [], schema.sortColumns, 'synonyms');
        const listed = await store.list(request);
        const envelope = paginator.envelope(listed, request, 'synonyms', url, row => bodyOf(context, row));
        return ok(
          isHal(context.mediaType) ? halCollection(envelope, 'synonyms', selfAddress(url)) : envelope,
        );
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createSynonym',
      summary: 'Say which words mean the same',
      description: 'Holds for every search from now on.',
      tag,
      access,
      body: { kind: 'json', schema: schema.replaceSynonym, example: schema.synonymBodyExample },
      responses: { 201: { ...one, description: 'The words are synonyms.' } },
      errors: ['LIMIT_REACHED'],
      handle(context) {
        const { body, url, cause } = context;
        return context.write(async session => {
          if ((await store.count(session)) >= schema.synonymsLimit) {
            throw new HttpError('LIMIT_REACHED', {
              message: `There are ${schema.synonymsLimit} synonyms; delete some before you add another.`,
            });
          }
          const row = await store.insert(session, body, cause());
          const location = `${url.base}${url.path}/${row.id}`;
          return created(location, bodyOf(context, row), datedUnlessHal(context.mediaType, row.updated_at));
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getSynonym',
      summary: 'Read synonyms',
      tag,
      access,
      params,
      responses: { 200: { ...one, description: 'The synonyms.' } },
      errors: ['NOT_FOUND'],
      async handle(context) {
        const { id } = context.params;
        return show(context, found(await store.find(database.read, id), id));
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: 'replaceSynonym',
      summary: 'Replace synonyms',
      tag,
      access,
      params,
      body: { kind: 'json', schema: schema.replaceSynonym, example: schema.synonymBodyExample },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, body, precondition, cause } = context;
        return context.write(async session => {
          const before = found(await store.lock(session, params.id), params.id);
          precondition(bodyOf(context, before), before.updated_at);
          return show(context, await store.update(session, before, body, cause()));
        });
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${path}/{id}`,
      operationId: 'patchSynonym',
      summary: 'Change synonyms',
      tag,
      access,
      params,
      body: { kind: 'patch', schema: schema.patchSynonym, example: schema.synonymBodyExample },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, body, precondition, cause } = context;
        return context.write(async session => {
          const before = found(await store.lock(session, params.id), params.id);
          precondition(bodyOf(context, before), before.updated_at);
          const fields = patched(synonymOf(before), body, schema.replaceSynonym, readOnly);
          return show(context, await store.update(session, before, fields, cause()));
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'deleteSynonym',
      summary: 'Delete synonyms',
      tag,
      access,
      params,
      // HAL is offered though nothing is answered: If-Match may name the tag of what a GET has shown as HAL.
      responses: { 204: { description: 'The words are no synonyms any more.', hal: schema.synonymHal } },
      errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, precondition, cause } = context;
        return context.write(async session => {
          const before = found(await store.lock(session, params.id), params.id);
          precondition(bodyOf(context, before), before.updated_at);
          await store.remove(session, before, cause());
          return noContent();
        });
      },
    }),
  ];
}

function synonymHal({ url }: RequestContext, row: StoredSynonym): object {
  const href = `${versionRoot(url)}${path}/${row.id}`;
  return hal(synonymOf(row), {
    self: { href },
    edit: { href, method: 'PATCH' },
    delete: { href, method: 'DELETE' },
  });
}
