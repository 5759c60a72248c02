/** PATCH /products: many products in one transaction. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, type Product, read, updateMany, whole } from '../../support/data/catalog.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const upTo = (length: number) => Array.from({ length }, (_, index) => index + 1_000_000);

const refused: [name: string, body: unknown, problems: [string, string][]][] = [
  [
    'nothing',
    {},
    [
      ['ids', 'required'],
      ['update', 'required'],
    ],
  ],
  ['no ids', { ids: [], update: {} }, [['ids', 'minItems']]],
  ['501 ids', { ids: upTo(501), update: {} }, [['ids', 'maxItems']]],
  ['an id twice', { ids: [1, 2, 1], update: {} }, [['ids', 'uniqueItems']]],
  ['ids that are text', { ids: '1,2', update: {} }, [['ids', 'type']]],
  ['an id that is text', { ids: ['1'], update: {} }, [['ids.0', 'type']]],
  ['a fraction', { ids: [1.5], update: {} }, [['ids.0', 'type']]],
  ['an id beyond 2^53', { ids: [2 ** 60], update: {} }, [['ids.0', 'maximum']]],
  ['an update that is an array', { ids: [1], update: [] }, [['update', 'type']]],
  [
    'an update that no PATCH would take',
    { ids: [1], update: { name: null, price: -1 } },
    [
      ['update.name', 'type'],
      ['update.price', 'minimum'],
    ],
  ],
];

describeOnDatabases('bulk update on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const bulk = (name: string, ids: readonly number[], update: object, status = 200) =>
    updateMany(service, name, { ids, update, status });
  const idsOf = (products: readonly Product[]) => products.map(({ id }) => id);
  const three = () => Promise.all(['A', 'B', 'C'].map(name => addProduct(service, { name, tags: [name] })));

  test.each(refused)('refuses %s', async (name, body, problems) => {
    await addProduct(service);
    await play(service, {
      name,
      method: 'PATCH',
      path: '/v1/products',
      as: 'editor',
      body,
      status: 400,
      problems,
    });
  });

  test('limits are named in the singular and the plural', async () => {
    const messageFor = async (ids: readonly number[]) => (await bulk('limit', ids, {}, 400)).body.message;
    expect(await messageFor([])).toBe('ids: must have 1 item or more');
    expect(await messageFor(upTo(501))).toBe('ids: must have 500 items or fewer');
  });

  test('skips ids that no product can have', async () => {
    const product = await addProduct(service);
    const response = await bulk('impossible ids', [product.id, 0, -7, 2_147_483_648], { price: 3 });
    expect(response.body).toEqual({ updated: 1 });
    expect((await bulk('none at all', [0], { price: 4 })).body).toEqual({ updated: 0 });
    expect((await read(service, product)).body.price).toBe(3);
  });

  test('changes the named fields of the named products and nothing else', async () => {
    const products = await three();
    const other = await addProduct(service);
    service.clock.advance(10);
    const response = await bulk('archive', idsOf(products), { status: 'archived', colour: 'red' });
    expect(response.body).toEqual({ updated: 3 });
    for (const product of products) {
      const now = (await read(service, product)).body;
      expect(now).toEqual(whole({ ...product, status: 'archived', updatedAt: nowOf(service) }));
    }
    expect((await read(service, other)).body).toEqual(other);
  });

  test('skips ids that do not exist and does not count them', async () => {
    const products = await three();
    const response = await bulk('with strangers', [2_147_483_647, ...idsOf(products), 2_000_000_000], {
      price: 2,
    });
    expect(response.body).toEqual({ updated: 3 });
    expect((await bulk('strangers only', [2_147_483_647], { price: 3 })).body).toEqual({ updated: 0 });
  });

  test('takes 500 ids', async () => {
    const product = await addProduct(service);
    expect((await bulk('500', [product.id, ...upTo(499)], { price: 2 })).body).toEqual({ updated: 1 });
  });

  test('changes all or none: a sku cannot belong to two products', async () => {
    const products = await three();
    const refusal = await bulk('one sku for all', idsOf(products), { price: 99, sku: `BULK-${kind}` }, 409);
    expect(refusal.body.error).toBe('DUPLICATE');
    for (const product of products) expect((await read(service, product)).body).toEqual(product);
    const one = products.slice(0, 1);
    expect((await bulk('one sku for one', idsOf(one), { sku: `BULK-${kind}` })).body).toEqual({ updated: 1 });
  });

  test('two overlapping updates both finish, and every product has the values of one of them', async () => {
    const products = await three();
    const ids = idsOf(products);
    const body = (price: number, order: readonly number[]) =>
      fetch(`${service.url}/v1/products`, {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${service.tokens.editor}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ids: order, update: { price, description: String(price) } }),
      });
    const responses = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(price => body(price, price % 2 === 0 ? ids : ids.toReversed())),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const found = await Promise.all(products.map(product => read(service, product)));
    expect(new Set(found.map(({ body: { price, description } }) => `${price} ${description}`)).size).toBe(1);
  });
});
