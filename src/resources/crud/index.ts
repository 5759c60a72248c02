/** The endpoints that resources share: each resource picks those that it has, and adds what is specific to it. */
import { z } from 'zod';
import {
  createEndpoint,
  type Endpoint,
  type HandlerContext,
  type Output,
  type PatchBody,
} from '../../http/endpoint.ts';
import { requireFound } from '../../http/errors.ts';
import { isHal } from '../../http/hal/index.ts';
import type { Paginator } from '../../http/paginate.ts';
import { checkResult, type Patched, patchNestedRepresentation } from '../../http/patch/index.ts';
import { createParser } from '../../http/request/parser.ts';
import { type Reply, replyNoContent } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { type CollectionSpec, createListEndpoint } from './list.ts';
import type { Creation, Particular, Resource } from './resource.ts';

export const byId = z.object({ id: identifier() });

export interface Finders<Row, Locked> {
  find(session: Session, id: number): Promise<Row | undefined>;
  lock(session: Transaction, id: number): Promise<Locked | undefined>;
}

/** Finders for rows that are identified by id alone and visible to every permitted caller. */
export function createFindersById<Row, Locked>(name: string, store: Finders<Row, Locked>) {
  type Named = z.output<typeof byId>;
  return {
    find: async (session: Session, { id }: Named) => requireFound(name, id, await store.find(session, id)),
    lock: async (session: Transaction, { id }: Named) =>
      requireFound(name, id, await store.lock(session, id)),
  };
}

export function createCrudEndpoints<
  Params extends z.ZodObject,
  Row,
  Locked extends Row,
  Fields,
  Prefetched = undefined,
>(
  database: Pick<Database, 'read'>,
  paginator: Paginator,
  resource: Resource<Params, Row, Locked, Fields, Prefetched>,
) {
  const { name, tag, path, params, presenter, rows, replace, patch, hal, cached } = resource;
  const { object = addArticle(name), id = name.slice(0, 1).toUpperCase() + name.slice(1) } = resource;
  const plain = resource.plainErrors ? { plainErrors: true } : {};
  const common = { tag, path, params, ...plain };
  const alsoHal = hal === undefined ? {} : { hal };
  const shownSchema = resource.representation ?? resource.schema;
  const buildOne = (description: string) => ({
    200: { description, schema: resource.schema, representation: shownSchema, ...alsoHal },
  });
  const updated = `The ${name} was updated.`;
  const place = { tag, path: path.slice(0, path.lastIndexOf('/')) };
  const readOnly = Object.keys(shownSchema.shape).filter(member => !(member in patch.schema.shape));
  const rules = { parse: createParser(replace.schema), readOnly, shown: shownSchema };
  /** The options that all operations that change a row share. */
  const buildChangeOptions = (
    summary: string,
    { success: _success, errors = [], ...particular }: Particular,
  ) => ({
    ...common,
    summary,
    ...particular,
    access: resource.write,
    errors: [...errors, 'PRECONDITION_FAILED'] as const,
  });
  type Context<Body> = HandlerContext<Output<Params>, undefined, Body>;

  async function showOne(context: Context<unknown>): Promise<Reply> {
    return presenter.shown(context, await rows.find(database.read, context.params, context.caller));
  }

  /** Locks the row of a request, and checks the right to change it and the request's preconditions. */
  async function lockRow(right: 'edit' | 'remove', context: Context<unknown>, session: Transaction) {
    const before = await rows.lock(session, context.params, context.caller);
    resource.requireRight?.(right, context.caller, before);
    context.precondition(() => presenter.body(context, before), presenter.changedAt(before));
    return before;
  }

  async function change(
    context: Context<unknown>,
    body: PatchBody<object>,
    changeOf: (before: Locked) => Patched<Fields>,
  ): Promise<Reply> {
    const prefetched = await resource.prefetch?.(body, context.params);
    return context.write(async session => {
      const before = await lockRow('edit', context, session);
      const { fields, confirm } = changeOf(before);
      const row = await rows.update(session, before, fields, context.cause(), prefetched);
      confirm?.(presenter.plain(context, row));
      return presenter.shown(context, row);
    }, resource.touches?.(context.params));
  }

  function applyPatch(context: Context<PatchBody<object>>, before: Locked): Patched<Fields> {
    const body = resource.interpretPatch?.(before, context.body) ?? context.body;
    return patchNestedRepresentation(presenter.plain(context, before), body, rules);
  }

  return {
    /** The list of all rows that readers may see, at the path of the collection, each shown as it is alone. */
    list: <On extends z.ZodObject | undefined, Query extends z.ZodObject, Listed extends Row>(
      spec: CollectionSpec<On, Query, Listed>,
    ): Endpoint =>
      createListEndpoint(paginator, { ...place, ...spec, access: resource.read, textsOf: presenter.textsOf }),
    create: <On extends z.ZodObject | undefined, Body extends z.ZodType>({
      insert,
      touches,
      body,
      access = resource.write,
      summary = `Create ${object}`,
      success = `The ${name} was created.`,
      ...particular
    }: Creation<On, Body, Row, Prefetched>): Endpoint =>
      createEndpoint({
        ...place,
        ...particular,
        ...plain,
        method: 'POST',
        operationId: `create${id}`,
        summary,
        access,
        body: { kind: 'json', ...body },
        responses: { 201: buildOne(success)[200] },
        async handle(context) {
          const { body, params, write } = context;
          const prefetched = await resource.prefetch?.(toCompletePatch(body));
          return write(
            async session => presenter.created(context, await insert(session, context, prefetched)),
            touches?.(params),
          );
        },
      }),
    get: ({ success = `The ${name}.`, ...particular }: Particular = {}): Endpoint =>
      createEndpoint({
        ...common,
        method: 'GET',
        operationId: `get${id}`,
        summary: `Read ${object}`,
        ...particular,
        access: resource.read,
        responses: buildOne(success),
        handle: context =>
          cached === undefined || isHal(context.mediaType) ? showOne(context) : cached(context.params),
      }),
    put: (particular: Particular = {}): Endpoint =>
      createEndpoint({
        ...buildChangeOptions(`Replace ${object}`, particular),
        method: 'PUT',
        operationId: `replace${id}`,
        body: { kind: 'json', ...replace },
        responses: buildOne(particular.success ?? updated),
        handle: context => change(context, toCompletePatch(context.body), () => ({ fields: context.body })),
      }),
    patch: (particular: Particular = {}): Endpoint =>
      createEndpoint({
        ...buildChangeOptions(`Change fields of ${object}`, particular),
        method: 'PATCH',
        operationId: `patch${id}`,
        body: { kind: 'patch', ...patch },
        responses: buildOne(particular.success ?? updated),
        handle: context =>
          checkResult(context.body, () =>
            change(context, context.body, before => applyPatch(context, before)),
          ),
      }),
    remove: (particular: Particular = {}): Endpoint =>
      createEndpoint({
        ...buildChangeOptions(`Delete ${object}`, particular),
        method: 'DELETE',
        operationId: `delete${id}`,
        // HAL is offered although the response is empty: If-Match may name the tag of a HAL representation.
        responses: { 204: { description: particular.success ?? `The ${name} was deleted.`, ...alsoHal } },
        handle: context =>
          context.write(async session => {
            const before = await lockRow('remove', context, session);
            await rows.remove(session, before, context.cause());
            return replyNoContent();
          }),
      }),
  };
}

const toCompletePatch = (body: unknown): PatchBody<object> => ({ kind: 'merge', patch: body });

/** The name with its indefinite article, for summaries. */
export function addArticle(name: string): string {
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}
