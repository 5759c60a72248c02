/** Variants of products over HTTP. */
import { z } from 'zod';
import { allow, staff } from '../../http/access.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { createNotFoundError, requireFound } from '../../http/errors.ts';
import { buildAddress } from '../../http/hal/addresses.ts';
import { changeLinks, type Links } from '../../http/hal/index.ts';
import { patchRepresentation } from '../../http/patch/index.ts';
import { createParser } from '../../http/request/parser.ts';
import { identifier } from '../../http/schema.ts';
import { type Condition, createEqualConditions } from '../../storage/list/request.ts';
import { may, type RequestContext } from '../context.ts';
import { createBulkEndpoint } from '../crud/bulk.ts';
import { byId, createCrudEndpoints, createFindersById } from '../crud/index.ts';
import { createPresenter } from '../crud/presenter.ts';
import type { Rows } from '../crud/resource.ts';
import { toComparableGtin } from '../products/members/gtin.ts';
import { completeStockChange } from '../products/members/stock.ts';
import { type LockedProduct, productOf } from '../products/row.ts';
import type { Stores } from '../stores.ts';
import { type StoredVariant, variantJson, variantOf } from './row.ts';
import { refuseUnfit } from './rules.ts';
import * as schema from './schema.ts';
import type { VariantChange } from './store.ts';

const tag = 'Variants';
const path = '/products/{id}/variants';
const ofOne = z.object({ id: identifier(), variantId: identifier() });

type LockedVariant = StoredVariant & { readonly product: LockedProduct };

export function createVariantEndpoints(stores: Stores): Endpoint[] {
  const { database, paginator, products, variants: store } = stores;
  const { lock: lockProduct } = createFindersById('product', products);
  const presenter = createPresenter<StoredVariant>({
    placeOf: row => ['products', variantOf(row).productId, 'variants', row.id],
    representationOf: variantOf,
    representationText: variantJson,
    linksOf: buildLinks,
    changedAt: row => row.updated_at,
  });
  const rows: Rows<z.output<typeof ofOne>, StoredVariant, LockedVariant, schema.VariantFields> = {
    /** Finds a variant of this product; variants of other products count as missing. */
    async find(session, { id, variantId }) {
      const row = requireFound('variant', variantId, await store.find(session, variantId));
      if (variantOf(row).productId !== id) throw createNotFoundError('variant', variantId);
      return row;
    },
    async lock(session, { id, variantId }) {
      const product = await lockProduct(session, { id });
      const [before] = await store.lockMany(session, id, [variantId]);
      return { ...requireFound('variant', variantId, before), product };
    },
    async update(session, before, fields, cause) {
      refuseUnfit(productOf(before.product), variantOf(before), fields);
      const [row] = await store.update(session, before.product, [{ before, fields }], cause);
      if (row === undefined) throw new Error('an update of one variant gave none');
      return row;
    },
    remove: (session, before, cause) => store.remove(session, before.product, before, cause),
  };
  const crud = createCrudEndpoints(database, paginator, {
    name: 'variant',
    path: `${path}/{variantId}`,
    params: ofOne,
    tag,
    read: allow.everyoneSameView('products:read'),
    write: allow.staff('products:write'),
    schema: schema.variant,
    hal: schema.hal,
    replace: { schema: schema.replaceVariant, example: schema.variantBodyExample },
    patch: { schema: schema.patchVariant, example: { price: 19.9 } },
    interpretPatch: (before, body) => completeStockChange(variantOf(before), body),
    presenter,
    touches: ({ id }) => [`product ${id}`],
    rows,
  });

  const parseComplete = createParser(schema.replaceVariant);
  return [
    crud.list({
      params: byId,
      operationId: 'listVariants',
      summary: 'List the variants of a product',
      description: 'Sorted by position unless `sort` is given.',
      query: schema.listVariants,
      page: schema.page,
      name: 'variants',
      list: store.list,
      sortColumns: schema.sortColumns,
      async requested({ params: { id }, query }) {
        requireFound('product', id, await products.find(database.read, id));
        return {
          query: { ...query, sort: query.sort ?? 'position' },
          conditions: buildConditions(id, query),
        };
      },
    }),
    crud.create({
      params: byId,
      description:
        'A variant has one value for each of the product’s `options`; no two variants have the same values. The ' +
        'product’s price, price range and availability are derived from its variants.',
      body: { schema: schema.createVariant, example: schema.variantBodyExample },
      errors: ['DUPLICATE'],
      touches: ({ id }) => [`product ${id}`],
      async insert(session, { params: { id }, body, cause }) {
        const product = await lockProduct(session, { id });
        const fields = schema.replaceVariant.parse(body);
        refuseUnfit(productOf(product), undefined, fields);
        const [row] = await store.insert(session, product, [fields], cause());
        if (row === undefined) throw new Error('an insert of one variant gave none');
        return row;
      },
    }),
    createBulkEndpoint({
      path,
      name: 'variant',
      id: 'Variants',
      items: 'variants of a product',
      description: 'Ids that are not variants of this product are skipped and not counted.',
      tag,
      access: allow.staff('products:write'),
      params: byId,
      patch: { schema: schema.patchVariant, example: { price: 19.9 } },
      schema: schema.variant,
      unique: ['sku', 'options'],
      errors: ['DUPLICATE'],
      async begin(session, { params: { id }, cause }, ids) {
        const locked = await lockProduct(session, { id });
        const product = productOf(locked);
        return {
          rows: await store.lockMany(session, id, ids),
          read: variantOf,
          changeOf(before: StoredVariant, old: schema.Variant, changes) {
            const patch = completeStockChange(old, { kind: 'partial', changes });
            const fields = patchRepresentation(old, patch, parseComplete);
            refuseUnfit(product, old, fields);
            return { before, fields };
          },
          write: (changes: readonly VariantChange[]) => store.writeChanges(session, changes, cause()),
          finish: () => products.updateVariantSummary(session, locked, 0, cause()),
        };
      },
    }),
    crud.get(),
    crud.put({
      description: 'Omitted fields become null, except the position, which is kept.',
      errors: ['DUPLICATE'],
    }),
    crud.patch({ errors: ['DUPLICATE'] }),
    crud.remove({ description: 'When the last variant is deleted, the product has its own price again.' }),
  ];
}

function buildLinks({ url, caller }: RequestContext, row: StoredVariant, self: string): Links {
  const { productId, imageId } = variantOf(row);
  const product = buildAddress(url, 'products', productId);
  return {
    product: { href: product },
    ...(imageId === null ? {} : { image: { href: `${product}/images/${imageId}` } }),
    ...changeLinks(self, may(caller, staff, 'products:write')),
  };
}

function buildConditions(
  productId: number,
  { sku, gtin, available }: z.output<typeof schema.listVariants>,
): Condition[] {
  const isAvailable: Condition = {
    column: 'available',
    operator: '=',
    value: available === 'true' ? 1 : 0,
    literal: true,
  };
  return [
    ...createEqualConditions({
      product_id: productId,
      sku,
      gtin: gtin === undefined ? undefined : toComparableGtin(gtin),
    }),
    ...(available === undefined ? [] : [isAvailable]),
  ];
}
