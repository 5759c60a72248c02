/** Products over HTTP. */
import { allow, staff } from '../../http/access.ts';
import { createCachedResources } from '../../http/cache/index.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { requireFound } from '../../http/errors.ts';
import { changeLinks, type Links } from '../../http/hal/index.ts';
import { patchRepresentation } from '../../http/patch/index.ts';
import { createParser } from '../../http/request/parser.ts';
import type { Session } from '../../storage/database.ts';
import { createAttributeFits } from '../attributes/rules.ts';
import { may, type RequestContext } from '../context.ts';
import { createBulkEndpoint } from '../crud/bulk.ts';
import { byId, createCrudEndpoints, createFindersById } from '../crud/index.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Rows } from '../crud/resource.ts';
import type { Stores } from '../stores.ts';
import { createProductLists } from './list.ts';
import { completeStockChange } from './members/stock.ts';
import { type LockedProduct, productJson, productOf, type StoredProduct } from './row.ts';
import {
  createBulkRenameError,
  createOptionUsedError,
  createTextLimit,
  maxWritten,
  readOptionsChange,
  refuseImpossible,
  refuseManyBytes,
} from './rules.ts';
import * as schema from './schema.ts';
import type { ProductChange } from './writes/rows.ts';

const tag = 'Products';
const path = '/products';
const renaming =
  'A new name at the position of an existing option renames that option, also in the variants.';

export function createProductEndpoints(stores: Stores): Endpoint[] {
  const { database, config, paginator, products: store, reviews, definitions, variants } = stores;
  const read = allow.everyoneSameView('products:read');
  const write = allow.staff('products:write');
  const singles = createCachedResources(database, store.rows, (stored, id) => {
    const row = requireFound('product', id, stored);
    return { body: productJson(row), lastModified: row.updated_at };
  });
  const presenter = createPresenter<StoredProduct>({
    placeOf: ({ id }) => ['products', id],
    representationOf: productOf,
    representationText: productJson,
    linksOf: buildLinks,
    changedAt: row => row.updated_at,
  });
  const list = createProductLists(stores, presenter.body);
  const fits = createAttributeFits(definitions);
  const rows: Rows<{ id: number }, StoredProduct, LockedProduct, schema.ProductFields> = {
    ...createFindersById('product', store),
    async update(session, before, fields, cause) {
      const old = productOf(before);
      const renamed = await refuse(session, { variants }, old, fields);
      await fits(session)(fields, old);
      const [row] = await store.update(session, [{ before, fields }], cause);
      if (row === undefined) throw new Error('an update of one product gave none');
      if (renamed.size > 0) await variants.renameOptions(session, before.id, renamed, cause);
      return row;
    },
    async remove(session, before, cause) {
      await reviews.removeAllOn(session, before.id, cause);
      await variants.removeAllOn(session, before.id, cause);
      await store.remove(session, before, cause);
    },
  };
  const crud = createCrudEndpoints(database, paginator, {
    name: 'product',
    path: `${path}/{id}`,
    params: byId,
    tag,
    read,
    write,
    schema: schema.product,
    hal: schema.hal,
    replace: { schema: schema.replaceProduct, example: schema.productReplacementExample },
    patch: { schema: schema.patchProduct, example: { price: 69.9 } },
    interpretPatch: (before, body) => completeStockChange(productOf(before), body),
    presenter,
    cached: ({ id }) => singles.respond(id),
    touches: ({ id }) => [`product ${id}`],
    rows,
  });

  const parseComplete = createParser(schema.replaceProduct);

  return [
    createEndpoint({
      method: 'GET',
      path,
      operationId: 'listProducts',
      summary: 'List products',
      tag,
      access: read,
      query: schema.listProducts,
      responses: { 200: { description: 'One page of products.', ...schema.page } },
      errors: ['INVALID_CURSOR'],
      handle: context => list(context, context.query),
    }),
    createEndpoint({
      method: 'POST',
      path,
      operationId: 'createProduct',
      summary: 'Create a product',
      tag,
      access: write,
      body: { kind: 'json', schema: schema.createProduct, example: schema.productBodyExample },
      responses: {
        201: { description: 'The product was created.', schema: schema.product, hal: schema.hal },
      },
      errors: ['DUPLICATE'],
      handle(context) {
        const { body, write, cause } = context;
        const fields = schema.completeFields(body, config.DEFAULT_CURRENCY);
        refuseImpossible(undefined, fields);
        return write(async session => {
          const row = await store.insert(session, fields, cause(), () => fits(session)(fields));
          return presenter.created(context, row);
        }, []);
      },
    }),
    createBulkEndpoint({
      path,
      name: 'product',
      id: 'Products',
      items: 'products',
      description: `Ids that do not exist are skipped and not counted. The products may have ${maxWritten.toLocaleString('en')} characters of text in total, both before and after: change products with very long texts in several requests.`,
      tag,
      access: write,
      patch: { schema: schema.patchProduct, example: { status: 'archived' } },
      schema: schema.product,
      unique: ['sku', 'externalId'],
      errors: ['DUPLICATE', 'OPTION_IN_USE'],
      async begin(session, { body, cause }, ids) {
        const field = body.updates === undefined ? 'ids' : 'updates';
        const fit = fits(session);
        const limitText = createTextLimit(field);
        return {
          rows: await store.lockMany(session, ids, bytes => refuseManyBytes(field, bytes)),
          read(before: LockedProduct, update) {
            const old = productOf(before);
            limitText(before, old, update);
            return old;
          },
          async changeOf(before: LockedProduct, old: schema.Product, changes) {
            const patch = completeStockChange(old, { kind: 'partial', changes });
            const fields = patchRepresentation(old, patch, parseComplete);
            const [name] = (await refuse(session, { variants }, old, fields)).keys();
            if (name !== undefined) throw createBulkRenameError(name);
            await fit(fields, old);
            return { before: { ...before, value: old }, fields };
          },
          write: (changes: readonly ProductChange[]) => store.update(session, changes, cause()),
        };
      },
    }),
    crud.get(),
    crud.put({
      description: `Omitted fields become null, omitted lists and attributes empty, and an omitted status active. ${renaming}`,
      errors: ['DUPLICATE', 'OPTION_IN_USE'],
    }),
    crud.patch({ description: renaming, errors: ['DUPLICATE', 'OPTION_IN_USE'] }),
    crud.remove(),
  ];
}

/**
 * @returns the renamed options: see `OptionsChange`
 * @throws HttpError for a change that is not possible, or conflicts with variants
 */
async function refuse(
  session: Session,
  { variants }: Pick<Stores, 'variants'>,
  before: schema.Product,
  fields: schema.ProductFields,
): Promise<ReadonlyMap<string, string>> {
  refuseImpossible(before, fields);
  const { renamed, removed } = readOptionsChange(before, fields);
  const used = removed.length === 0 ? undefined : await variants.usedOption(session, before.id, removed);
  if (used !== undefined) throw createOptionUsedError(used.name, used.value);
  return renamed;
}

function buildLinks({ caller }: RequestContext, _row: StoredProduct, self: string): Links {
  return {
    reviews: { href: `${self}/reviews` },
    variants: { href: `${self}/variants` },
    images: { href: `${self}/images` },
    ...changeLinks(self, may(caller, staff, 'products:write')),
  };
}
