/** Categories over HTTP. */
import type { z } from 'zod';
import { allow, staff } from '../../http/access.ts';
import type { Endpoint, PatchBody } from '../../http/endpoint.ts';
import { requireFound } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { changeLinks, type Links } from '../../http/hal/index.ts';
import { findMember } from '../../json-object.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import { byId, createCrudEndpoints } from '../crud/index.ts';
import { createListEndpoint } from '../crud/list.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Rows } from '../crud/resource.ts';
import type { Stores } from '../stores.ts';
import { type CategoryContent, noContent } from './counts.ts';
import type { SoughtImage } from './images.ts';
import { type StoredCategory, toCategoryRepresentation } from './row.ts';
import * as schema from './schema.ts';
import type { CategoryStore } from './store.ts';

const tag = 'Categories';
const path = '/categories';
const moving =
  'A new name or parent also changes the paths of all categories below it and the category of all their products.';

type Counted = StoredCategory & CategoryContent;

export function createCategoryEndpoints({ database, paginator, categories: store }: Stores): Endpoint[] {
  const read = allow.everyoneSameView('products:read');
  const presenter = createPresenter<Counted>({
    placeOf: ({ id }) => ['categories', id],
    representationOf: row => toCategoryRepresentation(row, row.products),
    linksOf: buildLinks,
  });
  const crud = createCrudEndpoints(database, paginator, {
    name: 'category',
    path: `${path}/{id}`,
    params: byId,
    tag,
    read,
    write: allow.staff('products:write'),
    schema: schema.category,
    hal: schema.hal,
    replace: { schema: schema.replaceCategory, example: schema.categoryReplacementExample },
    patch: { schema: schema.patchCategory, example: { description: 'To eat at.' } },
    presenter,
    rows: createCountedRows(store),
    prefetch: (body, params) => store.images.seek(findImageId(body), params?.id),
  });

  return [
    createListEndpoint(paginator, {
      path,
      operationId: 'listCategories',
      description:
        'With `parentId`, lists the children of one category by position: clients can read the tree level by level.',
      tag,
      access: read,
      query: schema.listCategories,
      page: schema.page,
      name: 'categories',
      list: store.list,
      sortColumns: schema.sortColumns,
      requested({ query }) {
        const sort = query.sort ?? (query.parentId === undefined ? 'id' : 'position');
        return { query: { ...query, sort }, conditions: buildConditions(query) };
      },
      async textsOf(context, rows) {
        const counts = await store.counts.read(rows);
        return row => presenter.body(context, { ...row, ...(counts.get(row.id) ?? noContent) });
      },
    }),
    crud.create({
      description:
        'The tree is at most ten levels deep. Writing a product with a new category also creates that category.',
      body: { schema: schema.createCategory, example: schema.categoryBodyExample },
      errors: ['DUPLICATE'],
      async insert(session, { body, cause }, sought) {
        await store.tree.own(session);
        const fields = schema.replaceCategory.parse(body);
        return { ...(await store.insert(session, fields, cause(), sought)), ...noContent };
      },
    }),
    crud.get(),
    crud.put({
      description: `Omitted fields become null, except slug and position, which are kept. ${moving}`,
      errors: ['DUPLICATE'],
    }),
    crud.patch({ summary: 'Rename, move or change a category', description: moving, errors: ['DUPLICATE'] }),
    crud.remove({
      description: 'The category must have no products and no categories below it.',
      errors: ['CATEGORY_NOT_EMPTY'],
    }),
  ];
}

/** The rows of categories, read with their content. The transaction that changes one owns the tree. */
function createCountedRows(
  store: CategoryStore,
): Rows<{ id: number }, Counted, Counted, schema.CategoryFields, SoughtImage | undefined> {
  return {
    async find(session, { id }) {
      const row = requireFound('category', id, await store.find(session, id));
      const counts = await store.counts.read([row]);
      return { ...row, ...(counts.get(id) ?? noContent) };
    },
    async lock(session, { id }) {
      await store.tree.own(session);
      const row = requireFound('category', id, await store.find(session, id));
      return { ...row, ...(await store.counts.below(session, id)) };
    },
    // A moved category keeps its descendants, so its content stays the same.
    update: async (session, before, fields, cause, sought) => {
      const { products, hasChildren } = before;
      return { ...(await store.update(session, before, fields, cause, sought)), products, hasChildren };
    },
    remove: (session, before, cause) => store.remove(session, before, cause),
  };
}

/** The image that a body names, as far as the body alone shows it. */
function findImageId(body: PatchBody<object>): unknown {
  if (body.kind === 'partial') return findMember(body.changes, 'imageId');
  if (body.kind === 'merge') return findMember(body.patch, 'imageId');
  const operations: readonly unknown[] = Array.isArray(body.patch) ? body.patch : [];
  return findMember(
    operations.findLast(operation => findMember(operation, 'path') === '/imageId'),
    'value',
  );
}

function buildLinks({ url, caller }: RequestContext, row: Counted, self: string): Links {
  const collection = buildAddress(url, 'categories');
  const actions = changeLinks(self, may(caller, staff, 'products:write'));
  const { delete: _delete, ...others } = actions;
  const isEmpty = row.products === 0 && !row.hasChildren;
  return {
    ...(row.parent_id === null ? {} : { parent: { href: `${collection}/${row.parent_id}` } }),
    children: { href: `${collection}?parentId=${row.id}` },
    ...(row.image_product_id === null || row.image_id === null
      ? {}
      : { image: { href: buildAddress(url, 'products', row.image_product_id, 'images', row.image_id) } }),
    products: { href: `${buildAddress(url, 'products')}?category=${encodeURIComponent(row.path)}` },
    ...(isEmpty ? actions : others),
  };
}

function buildConditions({ parentId, slug, path }: z.output<typeof schema.listCategories>): Condition[] {
  const root = { column: 'parent_id', operator: 'is null', value: '', literal: true } as const;
  return [
    ...(parentId === null ? [root] : createEqualConditions({ parent_id: parentId })),
    ...createEqualConditions({ slug, path }),
  ];
}
