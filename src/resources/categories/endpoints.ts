/** Categories over HTTP. */
import { z } from 'zod';
import { allow } from '../../http/access.ts';
import { type Endpoint, endpoint, type PatchBody } from '../../http/endpoint.ts';
import { notFound } from '../../http/errors.ts';
import { selfAddress, versionRoot } from '../../http/hal/addresses.ts';
import { hal, halCollection, isHal } from '../../http/hal/index.ts';
import { patched } from '../../http/patch/index.ts';
import { created, noContent, ok } from '../../http/response/reply.ts';
import { identifier } from '../../http/schema.ts';
import type { Session } from '../../storage/database.ts';
import type { Condition } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import { type StoredCategory, shownCategory } from './row.ts';
import * as schema from './schema.ts';
import type { CategoryStore } from './store.ts';

const tag = 'Categories';
const path = '/categories';
const params = z.object({ id: identifier() });
const readOnly = ['id', 'path', 'image', 'productCount', 'createdAt', 'updatedAt'];
const moving =
  'A new name or parent changes the paths of all categories below it, and the category of all their products, at once.';

export function categoryEndpoints(
  { database, paginator }: Dependencies,
  { categories: store }: { categories: CategoryStore },
): Endpoint[] {
  const one = { description: 'The category as it is now.', schema: schema.category, hal: schema.categoryHal };

  async function found(session: Session, id: number): Promise<StoredCategory> {
    const row = await store.find(session, id);
    if (row === undefined) throw notFound('category', id);
    return row;
  }
  /** What a GET of the category's address answers to this caller and Accept. */
  async function bodyOf(context: RequestContext, session: Session, row: StoredCategory): Promise<string> {
    const counts = await store.counts.below(session, [row]);
    return textOf(context, row, counts.get(row.id) ?? 0);
  }
  // Without a date: the number of products changes without the category.
  const show = async (context: RequestContext, session: Session, row: StoredCategory) =>
    ok(await bodyOf(context, session, row));

  return [
    endpoint({
      method: 'GET',
      path,
      operationId: 'listCategories',
      summary: 'List categories',
      description:
        'With `parentId` the children of one category in their order: so a tree is read level by level.',
      tag,
      access: allow.everyone('products:read'),
      query: schema.listCategories,
      responses: {
        200: {
          description: 'One page of categories.',
          schema: schema.categoryList,
          hal: schema.categoryListHal,
        },
      },
      errors: ['INVALID_CURSOR'],
      async handle(context) {
        const { query, url, mediaType } = context;
        const sorted = { ...query, sort: query.sort ?? (query.parentId === undefined ? 'id' : 'position') };
        const request = paginator.request(sorted, conditionsOf(query), schema.sortColumns, 'categories');
        const listed = await store.list(request);
        const counts = await store.counts.read(listed.rows);
        const envelope = paginator.envelope(listed, request, 'categories', url, row =>
          textOf(context, row, counts.get(row.id) ?? 0),
        );
        return ok(isHal(mediaType) ? halCollection(envelope, 'categories', selfAddress(url)) : envelope);
      },
    }),
    endpoint({
      method: 'POST',
      path,
      operationId: 'createCategory',
      summary: 'Create a category',
      description: 'At most ten levels deep. A product that names a new category makes it as well.',
      tag,
      access: allow.staff('products:write'),
      body: { kind: 'json', schema: schema.createCategory, example: schema.categoryBodyExample },
      responses: { 201: { ...one, description: 'The category was created.' } },
      errors: ['DUPLICATE'],
      async handle(context) {
        const { body, url, cause } = context;
        const fields = schema.replaceCategory.parse(body);
        const sought = await store.images.seek(fields.imageId);
        return context.write(async session => {
          await store.tree.own(session);
          const row = await store.insert(session, fields, cause(), sought);
          return created(`${url.base}${url.path}/${row.id}`, await bodyOf(context, session, row));
        });
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'getCategory',
      summary: 'Read a category',
      tag,
      access: allow.everyone('products:read'),
      params,
      responses: { 200: { ...one, description: 'The category.' } },
      errors: ['NOT_FOUND'],
      async handle(context) {
        const row = await found(database.read, context.params.id);
        const counts = await store.counts.read([row]);
        return ok(textOf(context, row, counts.get(row.id) ?? 0));
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: 'replaceCategory',
      summary: 'Replace a category',
      description: `Fields that are left out become null; slug and position stay. ${moving}`,
      tag,
      access: allow.staff('products:write'),
      params,
      body: { kind: 'json', schema: schema.replaceCategory, example: schema.categoryBodyExample },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'DUPLICATE', 'PRECONDITION_FAILED'],
      async handle(context) {
        const { params, body, precondition, cause } = context;
        const sought = await store.images.seek(body.imageId);
        return context.write(async session => {
          await store.tree.own(session);
          const before = await found(session, params.id);
          precondition(await bodyOf(context, session, before));
          return show(context, session, await store.update(session, before, body, cause(), sought));
        });
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${path}/{id}`,
      operationId: 'patchCategory',
      summary: 'Rename, move or change a category',
      description: moving,
      tag,
      access: allow.staff('products:write'),
      params,
      body: { kind: 'patch', schema: schema.patchCategory, example: { description: 'To eat at.' } },
      responses: { 200: one },
      errors: ['NOT_FOUND', 'DUPLICATE', 'PRECONDITION_FAILED'],
      async handle(context) {
        const { params, body, precondition, cause } = context;
        const sought = await store.images.seek(imageIdIn(body));
        return context.write(async session => {
          await store.tree.own(session);
          const before = await found(session, params.id);
          precondition(await bodyOf(context, session, before));
          const counts = await store.counts.below(session, [before]);
          const shown = shownCategory(before, counts.get(before.id) ?? 0);
          const fields = patched(shown, body, schema.replaceCategory, readOnly);
          return show(context, session, await store.update(session, before, fields, cause(), sought));
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: 'deleteCategory',
      summary: 'Delete a category',
      description: 'Only while it has neither products nor categories below it.',
      tag,
      access: allow.staff('products:write'),
      params,
      // HAL is offered though nothing is answered: If-Match may name the tag of what a GET has shown as HAL.
      responses: { 204: { description: 'The category is gone.', hal: schema.categoryHal } },
      errors: ['NOT_FOUND', 'CATEGORY_NOT_EMPTY', 'PRECONDITION_FAILED'],
      handle(context) {
        const { params, precondition, cause } = context;
        return context.write(async session => {
          await store.tree.own(session);
          const before = await found(session, params.id);
          precondition(await bodyOf(context, session, before));
          await store.remove(session, before, cause());
          return noContent();
        });
      },
    }),
  ];
}

/** The image that a PATCH names, as far as that can be told without the category. */
function imageIdIn(body: PatchBody<{ readonly imageId?: number | null | undefined }>): unknown {
  if (body.kind === 'partial') return body.changes.imageId;
  if (body.kind === 'merge') return memberOf(body.patch, 'imageId');
  const operations: readonly unknown[] = Array.isArray(body.patch) ? body.patch : [];
  return memberOf(
    operations.find(operation => memberOf(operation, 'path') === '/imageId'),
    'value',
  );
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;

function textOf({ url, caller, mediaType }: RequestContext, row: StoredCategory, products: number): string {
  const shown = shownCategory(row, products);
  if (!isHal(mediaType)) return JSON.stringify(shown);
  const root = versionRoot(url);
  const href = `${root}${path}/${row.id}`;
  const mayWrite = may(caller, ['admin', 'editor'], 'products:write');
  const links = {
    self: { href },
    ...(row.parent_id === null ? {} : { parent: { href: `${root}${path}/${row.parent_id}` } }),
    children: { href: `${root}${path}?parentId=${row.id}` },
    ...(row.image_product_id === null || row.image_id === null
      ? {}
      : { image: { href: `${root}/products/${row.image_product_id}/images/${row.image_id}` } }),
    products: { href: `${root}/products?category=${encodeURIComponent(row.path)}` },
    ...(mayWrite ? ({ edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } } as const) : {}),
  };
  return JSON.stringify(hal(shown, links));
}

function conditionsOf(query: z.output<typeof schema.listCategories>): Condition[] {
  const conditions: Condition[] = [];
  const { parentId, slug, path: named } = query;
  if (parentId === null)
    conditions.push({ column: 'parent_id', operator: 'is null', value: '', literal: true });
  else if (parentId !== undefined) conditions.push({ column: 'parent_id', operator: '=', value: parentId });
  if (slug !== undefined) conditions.push({ column: 'slug', operator: '=', value: slug });
  if (named !== undefined) conditions.push({ column: 'path', operator: '=', value: named });
  return conditions;
}
