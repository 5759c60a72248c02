/** Definitions of attributes over HTTP: anyone who reads products reads them, administrators write them. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint } from '../../http/endpoint.ts';
import { HttpError, notFound } from '../../http/errors.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { datedUnlessHal, hal, halCollection, isHal } from '../../http/hal/index.ts';
import { patched } from '../../http/patch/index.ts';
import { created, noContent, ok } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Condition } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import * as schema from './schema.ts';
import { type DefinitionStore, definitionJson, definitionOf, type StoredDefinition } from './store.ts';

const tag = 'Attributes';
const path = '/attributes';
const params = z.object({ id: identifier() });
const readOnly = ['id', 'createdAt', 'updatedAt'];
const writeAccess = allow.admin('products:write');
const errors = ['NOT_FOUND', 'DUPLICATE', 'PRECONDITION_FAILED'] as const;
const existing = 'Products that exist keep what they have: a value is checked again when it is next written.';

export function attributeEndpoints(
  { database, paginator }: Dependencies,
  { definitions: store }: { definitions: DefinitionStore },
): Endpoint[] {
  const found = (row: StoredDefinition | undefined, id: number): StoredDefinition => {
    if (row === undefined) throw notFound('attribute', id);
    return row;
  };
  const bodyOf = (context: RequestContext, row: StoredDefinition) =>
    isHal(context.mediaType) ? JSON.stringify(definitionHal(context, row)) : definitionJson(row);
  const show = (context: RequestContext, row: StoredDefinition) =>
    ok(bodyOf(context, row), datedUnlessHal(context.mediaType, row.updated_at));
  const one = {
    description: 'The definition as it is now.',
    schema: schema.definition,
    hal: schema.definitionHal,
  };

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listAttributes',
      summary: 'List definitions of attributes',
      tag,
      access: allow.everyone('products:read'),
      query: schema.listDefinitions,
      responses: {
        200: {
          description: 'One page of definitions.',
          schema: schema.definitionList,
          hal: schema.definitionListHal,
        },
      },
      errors: ['INVALID_CURSOR'],
      async handle(context) {
        const { query, url } = context;
        const request = paginator.request(query, conditionsOf(query), schema.sortColumns, 'attributes');
        const listed = await store.list(request);
        const envelope = paginator.envelope(listed, request, 'attributes', url, row => bodyOf(context, row));
        return ok(
          isHal(context.mediaType) ? halCollection(envelope, 'attributes', selfAddress(url)) : envelope,
        );
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createAttribute',
      summary: 'Define an attribute',
      description: existing,
      tag,
      access: writeAccess,
      body: { kind: 'json', schema: schema.replaceDefinition, example: schema.definitionBodyExample },
      responses: { 201: { ...one, description: 'The attribute is defined.' } },
      errors: ['DUPLICATE', 'LIMIT_REACHED'],
      handle(context) {
        const { body, url, cause } = context;
        return context.write(async session => {
          if ((await store.count(session)) >= schema.definitionsLimit) {
            throw new HttpError('LIMIT_REACHED', {
              message: `${schema.definitionsLimit} attributes are defined; delete some before you add another.`,
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
      operationId: 'getAttribute',
      summary: 'Read the definition of an attribute',
      tag,
      access: allow.everyone('products:read'),
      params,
      responses: { 200: { ...one, description: 'The definition.' } },
      errors: ['NOT_FOUND'],
      async handle(context) {
        const { id } = context.params;
        return show(context, found(await store.find(database.read, id), id));
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: 'replaceAttribute',
      summary: 'Replace the definition of an attribute',
      description: existing,
      tag,
      access: writeAccess,
      params,
      body: { kind: 'json', schema: schema.replaceDefinition, example: schema.definitionBodyExample },
      responses: { 200: one },
      errors,
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
      operationId: 'patchAttribute',
      summary: 'Change the definition of an attribute',
      description: existing,
      tag,
      access: writeAccess,
      params,
      body: { kind: 'patch', schema: schema.patchDefinition, example: { label: 'Wattage', facet: false } },
      responses: { 200: one },
      errors,
      handle(context) {
        const { params, body, precondition, cause } = context;
        return context.write(async session => {
          const before = found(await store.lock(session, params.id), params.id);
          precondition(bodyOf(context, before), before.updated_at);
          const fields = patched(definitionOf(before), body, schema.replaceDefinition, readOnly);
          return show(context, await store.update(session, before, fields, cause()));
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'deleteAttribute',
      summary: 'Delete the definition of an attribute',
      description: 'Products keep their values, which may then be of any type.',
      tag,
      access: writeAccess,
      params,
      // HAL is offered though nothing is answered: If-Match may name the tag of what a GET has shown as HAL.
      responses: { 204: { description: 'The definition is gone.', hal: schema.definitionHal } },
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

function definitionHal({ url, caller }: RequestContext, row: StoredDefinition): object {
  const href = `${versionRoot(url)}${path}/${row.id}`;
  const mayWrite = may(caller, ['admin'], 'products:write');
  return hal(definitionOf(row), {
    self: { href },
    ...(mayWrite ? { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } } : {}),
  });
}

function conditionsOf({ key, type }: z.output<typeof schema.listDefinitions>): Condition[] {
  const conditions: Condition[] = [];
  if (key !== undefined) conditions.push({ column: 'key', operator: '=', value: key });
  if (type !== undefined) conditions.push({ column: 'type', operator: '=', value: type });
  return conditions;
}
