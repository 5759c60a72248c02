/** The life of one product: responses at its address, replacement, unique values, deletion. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  addProduct,
  nowOf,
  type Product,
  pathOf,
  plainProduct,
  read,
  whole,
} from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play, type Scenario } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const lamp = { name: 'Lamp', price: 12.5 };

const ids: [id: string, status: number][] = [
  ['0', 404],
  ['-1', 404],
  ['2147483647', 404],
  ['2147483648', 404],
  ['99999999999999999999999999', 404],
  ['abc', 400],
  ['1.5', 400],
  ['1e3', 400],
  ['0x1', 400],
  ['%31%20', 400],
  ['%00', 400],
  ['1%00', 400],
  ["1'--", 400],
  ['null', 400],
];

describeOnDatabases('a product on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test.each(ids)('the id %s is answered %d by every operation', async (id, status) => {
    const path = `/v1/products/${id}`;
    const scenarios: Scenario[] = [
      { name: 'GET', path, as: 'user', status },
      { name: 'HEAD', method: 'HEAD', path, as: 'user', status },
      { name: 'PUT', method: 'PUT', path, as: 'editor', body: lamp, status },
      { name: 'PATCH', method: 'PATCH', path, as: 'editor', body: { price: 1 }, status },
      { name: 'DELETE', method: 'DELETE', path, as: 'editor', status },
      { name: 'GET reviews', path: `${path}/reviews`, as: 'user', status },
      {
        name: 'POST review',
        method: 'POST',
        path: `${path}/reviews`,
        as: 'user',
        body: { rating: 5 },
        status,
      },
    ];
    for (const scenario of scenarios) await play(service, scenario);
  });

  test('PUT sets fields that are left out to null, and keeps id and createdAt', async () => {
    const before = await addProduct(service, {
      description: 'd',
      sku: 'PUT-1',
      category: 'c',
      tags: ['t'],
      status: 'archived',
    });
    service.clock.advance(1500);
    const body = { name: 'Chair', price: 3 };
    const put = await play(service, {
      name: 'PUT',
      method: 'PUT',
      path: pathOf(before),
      as: 'editor',
      body,
      status: 200,
    });
    const updatedAt = nowOf(service);
    const { id, createdAt } = before;
    const expected = whole({ ...plainProduct, status: 'active', ...body });
    expect(put.body).toEqual({ ...expected, id, createdAt, updatedAt, currency: null });
    expect((await read(service, before)).text).toBe(put.text);
    expect((await read(service, before)).headers.get('ETag')).toBe(put.headers.get('ETag'));
  });

  test('a sku is unique among products, for every kind of write', async () => {
    const first = await addProduct(service, { sku: 'TAKEN' });
    const second = await addProduct(service, { sku: 'FREE' });
    const body = { ...lamp, sku: 'TAKEN' };
    const path = pathOf(second);
    const conflict = { as: 'editor', status: 409, error: 'DUPLICATE' } as const;
    for (const [method, target] of [
      ['POST', '/v1/products'],
      ['PUT', path],
      ['PATCH', path],
    ] as const) {
      const refused = await play(service, { name: method, method, path: target, body, ...conflict });
      expect(refused.body.details).toEqual([
        { field: 'sku', pointer: '#/sku', code: 'unique', message: 'must be unique' },
      ]);
    }
    // A product keeps its own sku without a conflict, and a deleted product's sku is free.
    const own = await call(service, { method: 'PUT', path: pathOf(first), as: 'editor', body });
    expect(own.status).toBe(200);
    await call(service, { method: 'DELETE', path: pathOf(first), as: 'editor' });
    const again = await call(service, { method: 'PUT', path, as: 'editor', body });
    expect(again.body.sku).toBe('TAKEN');
  });

  test('DELETE answers 204 without body, then 404; an id is not used again', async () => {
    const product: Product = await addProduct(service);
    const gone = await call(service, { method: 'DELETE', path: pathOf(product), as: 'editor' });
    expect([gone.status, gone.text]).toEqual([204, '']);
    const path = pathOf(product);
    for (const method of ['DELETE', 'GET'] as const)
      await play(service, { name: method, method, path, as: 'editor', status: 404, error: 'NOT_FOUND' });
    expect((await addProduct(service)).id).toBeGreaterThan(product.id);
  });

  test('totals of each status follow a product that is created, archived and deleted', async () => {
    const further = 'Counted';
    // A process that has just started has no total in memory.
    const totals = async () => {
      await using fresh = await service.replica();
      return await Promise.all(
        ['status=active', 'status=archived'].flatMap(filter =>
          [filter, `${filter}&category=${further}`].map(async query => {
            const { body } = await call(fresh, { path: `/v1/products?${query}&perPage=1`, as: 'admin' });
            return body.meta.total as number;
          }),
        ),
      );
    };
    const [active = 0, , archived = 0] = await totals();
    const product = await addProduct(service, { category: 'Main', categories: [further] });
    expect(await totals()).toEqual([active + 1, 1, archived, 0]);
    const path = pathOf(product);
    await call(service, { method: 'PATCH', path, as: 'editor', body: { status: 'archived' } });
    expect(await totals()).toEqual([active, 0, archived + 1, 1]);
    await call(service, { method: 'DELETE', path, as: 'editor' });
    expect(await totals()).toEqual([active, 0, archived, 0]);
  });

  test('DEFAULT_CURRENCY is the currency of products that name none', async () => {
    const other = await service.replica({ DEFAULT_CURRENCY: 'CHF' });
    expect((await addProduct(other)).currency).toBe('CHF');
  });
});
