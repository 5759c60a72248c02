/** A version 2 of the contract, for tests only: products have a `title` where version 1 has a `name`. */
import type { z } from 'zod';
import type { Config } from '../../../src/config.ts';
import type { Endpoint } from '../../../src/http/endpoint.ts';
import { buildCollectionSchema } from '../../../src/http/paginate.ts';
import { buildBulkBody } from '../../../src/resources/crud/bulk-body.ts';
import * as v1 from '../../../src/resources/products/schema.ts';
import { buildPublishedVersions, type Versions } from '../../../src/versions.ts';
import { type Translation, translateEndpoint } from './translation.ts';

type Members = Readonly<Record<string, unknown>>;

const retitled = <S extends z.ZodObject>(schema: S, name: z.ZodType) =>
  schema.omit({ name: true }).extend({ title: name });
const { name: _name, ...exampleRest } = v1.productExample;
const { name: _, ...bodyRest } = v1.productBodyExample;
const bodyExample = { title: v1.productBodyExample.name, ...bodyRest };

const { name } = v1.createProduct.shape;
const product = retitled(v1.product, name).meta({
  id: 'TitledProduct',
  example: { title: v1.productExample.name, ...exampleRest },
});
const create = retitled(v1.createProduct, name).meta({ id: 'CreateTitledProduct' });
const productList = buildCollectionSchema(product, 'TitledProductList');
const patch = create.partial().meta({ id: 'PatchTitledProduct' });
const bulk = buildBulkBody(patch, 'BulkPatchTitledProducts');

function toOld({ title, ...rest }: Members): Members {
  return title === undefined ? rest : { name: title, ...rest };
}

function toNew({ id, name, ...rest }: Members): Members {
  return { id, title: name, ...rest };
}

const one = { bodyToOld: toOld, responseToNew: toNew, renamed: { name: 'title' } } as const;
const shown = { 200: { description: 'The product.', schema: product } };

const translations: Readonly<Record<string, Translation>> = {
  getProduct: { ...one, responses: shown },
  replaceProduct: { ...one, responses: shown, body: { kind: 'json', schema: create, example: bodyExample } },
  patchProduct: {
    ...one,
    responses: shown,
    body: { kind: 'patch', schema: patch, example: { title: 'Oak desk lamp' } },
  },
  deleteProduct: one,
  createProduct: {
    ...one,
    responses: { 201: { description: 'The product was created.', schema: product } },
    body: { kind: 'json', schema: create, example: bodyExample },
  },
  bulkPatchProducts: {
    bodyToOld: ({ update, updates, ...rest }) => ({
      ...rest,
      ...(update === undefined ? {} : { update: toOld(update as Members) }),
      ...(updates === undefined
        ? {}
        : { updates: (updates as Members[]).map(one => ({ ...one, update: toOld(one.update as Members) })) }),
    }),
    body: { kind: 'json', schema: bulk, example: { ids: [1, 2], update: { title: 'Lamp' } } },
    renamed: one.renamed,
  },
  listProducts: {
    responseToNew: page => ({ ...page, data: (page.data as Members[]).map(toNew) }),
    responses: { 200: { description: 'One page of products.', schema: productList } },
  },
};

/** Version 2 has every endpoint of version 1; those of products are translated. */
const second = (endpoints: readonly Endpoint[]) =>
  endpoints.map(endpoint => {
    const translation = translations[endpoint.operationId];
    return translation === undefined ? endpoint : translateEndpoint(endpoint, translation);
  });

export const twoVersions: Versions = (config: Config, endpoints) => [
  ...buildPublishedVersions(config, endpoints),
  { name: 'v2', contract: '2.0.0', endpoints: second(endpoints) },
];
