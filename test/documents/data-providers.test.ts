/**
 * The data providers of the guide, called as refine and react-admin call them (their DataProvider interfaces), against
 * a running service. The tests run the code that the page shows.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addKey } from '../support/data/people.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

type Params = Readonly<Record<string, unknown>>;
interface Found {
  readonly data: { readonly id: number; readonly [member: string]: unknown };
}
interface List {
  readonly data: readonly Found['data'][];
  readonly total: number;
}
type Send = (method: string, path: string, body?: unknown) => Promise<unknown>;

interface Providers {
  connect(url: string, key: string): Send;
  refineProvider(
    url: string,
    send: Send,
  ): {
    getApiUrl(): string;
    getList(params: Params): Promise<List>;
    getOne(params: Params): Promise<Found>;
    getMany(params: Params): Promise<{ data: readonly Found['data'][] }>;
    create(params: Params): Promise<Found>;
    update(params: Params): Promise<Found>;
    deleteOne(params: Params): Promise<Found>;
  };
  reactAdminProvider(send: Send): {
    getList(resource: string, params: Params): Promise<List>;
    getManyReference(resource: string, params: Params): Promise<List>;
    getMany(resource: string, params: Params): Promise<{ data: readonly Found['data'][] }>;
    updateMany(resource: string, params: Params): Promise<{ data: readonly number[] }>;
    deleteMany(resource: string, params: Params): Promise<{ data: readonly number[] }>;
    getOne(resource: string, params: Params): Promise<Found>;
    create(resource: string, params: Params): Promise<Found>;
    update(resource: string, params: Params): Promise<Found>;
    delete(resource: string, params: Params): Promise<Found>;
  };
}

const guide = await Bun.file(join(import.meta.dir, '..', '..', 'docs', 'guide.md')).text();
const shown = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block = '']) => block);
const folder = mkdtempSync(join(tmpdir(), 'catalog-providers-'));
const product = { name: 'Lamp of a provider', price: 10, currency: 'EUR', category: 'providers' };
/** Products, some of which a filter by attributes shows. */
const coloured = ['red', 'blue', 'green'].map((colour, at) => ({
  ...product,
  name: `${colour} lamp`,
  category: 'coloured',
  attributes: { colour, watt: 10 + at },
}));

let service: TestService;
let providers: Providers;
let send: Send;
beforeAll(async () => {
  service = await startTestService('sqlite');
  const file = join(folder, 'providers.mjs');
  await Bun.write(file, shown.join('\n'));
  // Boundary: the page's code has no types.
  providers = (await import(file)) as Providers;
  const scopes = ['products:read', 'products:write', 'reviews:read'];
  const { 'X-API-Key': key } = await addKey(service, ...scopes);
  send = providers.connect(service.url, key);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

test('the data provider for refine has at most ten lines and supports every operation that refine requires', async () => {
  const text = shown.find(block => block.includes('refineProvider')) ?? '';
  expect(text.trim().split('\n').length).toBeLessThanOrEqual(10);
  const refine = providers.refineProvider(service.url, send);
  const resource = 'products';
  expect(refine.getApiUrl()).toBe(`${service.url}/v1`);
  const made: number[] = [];
  for (const price of [10, 30, 20]) {
    const { data } = await refine.create({ resource, variables: { ...product, price } });
    made.push(data.id);
  }
  const listed = await refine.getList({
    resource,
    pagination: { currentPage: 1, pageSize: 2, mode: 'server' },
    sorters: [{ field: 'price', order: 'desc' }],
    filters: [{ field: 'category', operator: 'eq', value: product.category }],
  });
  expect([listed.total, listed.data.map(({ price }) => price)]).toEqual([3, [30, 20]]);
  expect((await refine.getList({ resource })).total).toBeGreaterThanOrEqual(3);
  const [id] = made;
  expect(await refine.update({ resource, id, variables: { price: 11 } })).toMatchObject({
    data: { id, price: 11 },
  });
  expect(await refine.getOne({ resource, id })).toMatchObject({
    data: { id, price: 11, name: product.name },
  });
  for (const id of made) expect(await refine.deleteOne({ resource, id })).toMatchObject({ data: { id } });
  // refine shows `message` and reads `statusCode`.
  const gone = await refine.getOne({ resource, id }).catch((error: unknown) => error);
  expect(gone).toMatchObject({ statusCode: 404, message: expect.any(String) });
});

test('the data provider for react-admin supports all nine of its operations', async () => {
  const admin = providers.reactAdminProvider(send);
  const ids: number[] = [];
  for (const price of [10, 30, 20]) {
    const { data } = await admin.create('products', { data: { ...product, price } });
    ids.push(data.id);
  }
  const [id = 0, ...others] = ids;
  const page = { pagination: { page: 1, perPage: 2 }, sort: { field: 'price', order: 'DESC' } };
  const listed = await admin.getList('products', { ...page, filter: { category: product.category } });
  expect([listed.total, listed.data.map(({ price }) => price)]).toEqual([3, [30, 20]]);
  const referring = { ...page, target: 'category', id: product.category, filter: {} };
  expect((await admin.getManyReference('products', referring)).total).toBe(3);
  expect(await admin.getOne('products', { id })).toMatchObject({ data: { id, price: 10 } });
  expect((await admin.getMany('products', { ids })).data.map(({ id }) => id)).toEqual(ids);
  const previousData = { id, price: 10 };
  const updated = await admin.update('products', { id, data: { price: 12 }, previousData });
  expect(updated).toMatchObject({ data: { id, price: 12 } });
  expect(await admin.updateMany('products', { ids: others, data: { price: 5 } })).toEqual({ data: others });
  expect((await admin.getMany('products', { ids: others })).data.map(({ price }) => price)).toEqual([5, 5]);
  expect(await admin.delete('products', { id, previousData })).toMatchObject({ data: { id } });
  expect(await admin.deleteMany('products', { ids: others })).toEqual({ data: others });
  const none = await admin.getOne('products', { id }).catch((error: unknown) => error);
  expect(none).toMatchObject({ status: 404 });
});

test('both providers filter by attributes: nested for react-admin, several values, one name twice', async () => {
  const refine = providers.refineProvider(service.url, send);
  const admin = providers.reactAdminProvider(send);
  for (const variables of coloured) await refine.create({ resource: 'products', variables });
  const sort = { field: 'id', order: 'ASC' };
  const shownFor = async (attr: Params) =>
    (await admin.getList('products', { sort, filter: { category: 'coloured', attr } })).data.map(
      ({ name }) => name,
    );
  expect(await shownFor({ colour: 'red' })).toEqual(['red lamp']);
  expect(await shownFor({ colour: ['red', 'green'], watt: 'gte:11' })).toEqual(['green lamp']);
  expect(await shownFor({ colour: undefined })).toBeArrayOfSize(3);
  const filters = [
    { field: 'category', operator: 'eq', value: 'coloured' },
    { field: 'attr.watt', operator: 'gte', value: 'gte:11' },
    { field: 'attr.watt', operator: 'lt', value: 'lt:12' },
    { field: 'attr.colour', operator: 'in', value: ['red', 'blue'] },
  ];
  const { data } = await refine.getList({ resource: 'products', filters });
  expect(data.map(({ name }) => name)).toEqual(['blue lamp']);
});

test('both providers read several records without those that were deleted', async () => {
  const refine = providers.refineProvider(service.url, send);
  const admin = providers.reactAdminProvider(send);
  const created = [];
  for (const name of ['first', 'deleted', 'last'])
    created.push((await admin.create('products', { data: { name, price: 1 } })).data.id);
  const [first, gone, last] = created;
  await admin.delete('products', { id: gone });
  const ids = [first, gone, last];
  const inAdmin = await admin.getMany('products', { ids });
  const inRefine = await refine.getMany({ resource: 'products', ids });
  for (const { data } of [inAdmin, inRefine])
    expect(data.map(({ id }) => id)).toEqual([first ?? 0, last ?? 0]);
  const refused = await refine.getMany({ resource: 'users', ids: [1] }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ statusCode: 403 });
});

test('a form of react-admin, which submits the whole record, changes only what its user changed', async () => {
  const admin = providers.reactAdminProvider(send);
  const data = { name: 'Form', price: 10, stock: { onHand: 40 }, attributes: { watt: 5 } };
  const { data: previousData } = await admin.create('products', { data });
  const { id } = previousData;
  // Meanwhile another user sets a price, and pieces are sold.
  await send('PATCH', `products/${id}`, { price: 12, stock: { onHand: 33 } });
  const stock = { ...Object(previousData.stock), backorder: true };
  const submitted = { ...previousData, name: 'Renamed', attributes: { watt: 6 }, stock };
  const updated = await admin.update('products', { id, data: submitted, previousData });
  expect(updated.data).toMatchObject({ name: 'Renamed', price: 12, attributes: { watt: 6 } });
  expect(updated.data.stock).toMatchObject({ onHand: 33, backorder: true });
  const untracked = { ...updated.data, stock: null };
  const last = await admin.update('products', { id, data: untracked, previousData: updated.data });
  expect(last.data.stock).toBeNull();
  const written = await admin.update('products', { id, data: { price: 13, stock: { onHand: 2 } } });
  expect(written.data).toMatchObject({ price: 13, stock: { onHand: 2 } });
});

test('an error names the fields that are wrong, where the forms of both frameworks read them', async () => {
  const variables = { name: '', price: -1, stock: { onHand: -1 } };
  const refine = providers.refineProvider(service.url, send);
  const refused = await refine.create({ resource: 'products', variables }).catch((error: unknown) => error);
  const errors = {
    name: 'must not be blank',
    price: 'must be 0 or more',
    'stock.onHand': 'must be 0 or more',
  };
  expect(refused).toMatchObject({ statusCode: 400, errors, body: { error: 'VALIDATION_FAILED', errors } });
});
