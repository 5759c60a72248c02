/** Variants of products: what they may hold, what their product shows of them, and unique combinations and skus. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, type Product, pathOf } from '../../support/data/catalog.ts';
import { userIdOf } from '../../support/data/people.ts';
import { chosen, variantCalls } from '../../support/data/variants.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const refused: [name: string, sent: object, problem: [string, string]][] = [
  ['no options', {}, ['options', 'required']],
  ['an option that is missing', { options: { Size: 'M' } }, ['options.Colour', 'required']],
  [
    'an option of its own',
    { options: { Size: 'M', Colour: 'Red', Fit: 'Slim' } },
    ['options.Fit', 'unknown'],
  ],
  ['a name in small letters', { options: { size: 'M', Colour: 'Red' } }, ['options.size', 'unknown']],
  ['a value that is not listed', chosen('XXL'), ['options.Size', 'enum']],
  ['a value that is a number', { options: { Size: 1, Colour: 'Red' } }, ['options.Size', 'type']],
  ['options in a list', { options: ['M'] }, ['options', 'type']],
  ['a negative price', { ...chosen('M'), price: -1 }, ['price', 'minimum']],
  ['a GTIN with a wrong check digit', { ...chosen('M'), gtin: '4006381333932' }, ['gtin', 'checkDigit']],
  ['an image of another product', { ...chosen('M'), imageId: 5 }, ['imageId', 'unknown']],
  [
    'a weight of nothing',
    { ...chosen('M'), weight: { value: 0, unit: 'g' } },
    ['weight.value', 'exclusiveMinimum'],
  ],
  ['less than no stock', { ...chosen('M'), stock: { onHand: -1 } }, ['stock.onHand', 'minimum']],
  ['a place before the first', { ...chosen('M'), position: -1 }, ['position', 'minimum']],
];

describeOnDatabases('variants on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const { send, pathsOf, shirt, add, listed } = variantCalls(() => service);

  test('a variant is created, read, listed, replaced, patched in three types and deleted', async () => {
    const product = await shirt({ images: [{ url: 'https://shop.example/a.jpg' }] });
    const imageId = product.images[0]?.id;
    const sent = {
      ...chosen('M'),
      sku: `M-${kind}`,
      gtin: '4006381333931',
      weight: { value: 1, unit: 'kg' },
      imageId,
    };
    const made = await play(service, {
      ...{ name: 'POST', method: 'POST', path: pathsOf(product), as: 'editor', body: sent, status: 201 },
      responseHeaders: {},
    });
    const path = `${pathsOf(product)}/${made.body.id}`;
    const at = nowOf(service);
    expect(made.body).toEqual({
      ...{ ...sent, id: made.body.id, productId: product.id, price: null, compareAtPrice: null, stock: null },
      ...{ position: 1, available: true, createdAt: at, updatedAt: at },
    });
    expect(made.headers.get('Location')).toBe(`${service.url}${path}`);
    const found = await call(service, { path, as: 'user' });
    expect([found.text, found.headers.get('ETag')]).toEqual([made.text, made.headers.get('ETag')]);
    expect(await listed(product)).toEqual([made.body]);
    const hal = await call(service, { path, as: 'user', headers: { Accept: 'application/hal+json' } });
    const image = { href: `${service.url}${pathOf(product)}/images/${imageId}` };
    expect(hal.body._links.image).toEqual(image);
    expect((await call(service, { path: new URL(image.href).pathname, as: 'user' })).body.id).toBe(imageId);
    service.clock.advance(1000);
    const put = await send(
      'PUT',
      path,
      { ...chosen('L'), price: 5 },
      { 'If-Match': found.headers.get('ETag') ?? '' },
    );
    expect(put.body).toMatchObject({
      ...chosen('L'),
      price: 5,
      sku: null,
      position: 1,
      updatedAt: nowOf(service),
    });
    const stale = await send('PATCH', path, { price: 6 }, { 'If-Match': found.headers.get('ETag') ?? '' });
    expect(stale.status).toBe(412);
    for (const [type, body, price] of [
      ['application/json', { price: 6 }, 6],
      ['application/merge-patch+json', { price: 7, options: { Size: 'S' } }, 7],
      ['application/json-patch+json', [{ op: 'replace', path: '/price', value: 8 }], 8],
    ] as const) {
      const patched = await send('PATCH', path, body, { 'Content-Type': type });
      expect([type, patched.status, patched.body.price]).toEqual([type, 200, price]);
    }
    expect((await call(service, { path, as: 'user' })).body.options).toEqual(chosen('S').options);
    const readOnly = [{ op: 'replace', path: '/productId', value: 2_147_483_647 }];
    expect(
      (await send('PATCH', path, readOnly, { 'Content-Type': 'application/json-patch+json' })).status,
    ).toBe(422);
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await call(service, { path, as: 'user' })).status).toBe(404);
    expect(await listed(product)).toEqual([]);
  });

  test.each(refused)('refuses %s', async (name, body, problem) => {
    const product = await shirt();
    const request = { method: 'POST', path: pathsOf(product), as: 'editor', status: 400 } as const;
    await play(service, { name, ...request, body, problems: [problem] });
  });

  test('a product without options refuses variants; those of an unknown or another product are 404', async () => {
    const [plain, product, other] = [await addProduct(service), await shirt(), await shirt()];
    const path = pathsOf(plain);
    const base = { as: 'editor', method: 'POST' } as const;
    await play(service, {
      ...base,
      name: 'no options',
      path,
      body: { options: {} },
      status: 400,
      problems: [['options', 'noOptions']],
    });
    const nowhere = '/v1/products/2147483647/variants';
    await play(service, { ...base, name: 'no product', path: nowhere, body: chosen('M'), status: 404 });
    expect((await call(service, { path: nowhere, as: 'user' })).status).toBe(404);
    const variant = await add(product, chosen('M'));
    for (const method of ['GET', 'DELETE'])
      expect((await send(method, `${pathsOf(other)}/${variant.id}`)).status).toBe(404);
    expect((await send('PATCH', `${pathsOf(other)}/${variant.id}`, { price: 1 })).status).toBe(404);
    expect(
      (await call(service, { ...base, as: 'user', path: pathsOf(product), body: chosen('S') })).status,
    ).toBe(403);
  });

  test('two variants of a product cannot have the same options, in whatever order they are named', async () => {
    const product = await shirt();
    const first = await add(product, chosen('M'));
    const second = await add(product, chosen('L'));
    for (const [method, path] of [
      ['POST', pathsOf(product)],
      ['PUT', `${pathsOf(product)}/${second.id}`],
      ['PATCH', `${pathsOf(product)}/${second.id}`],
    ] as const) {
      const response = await send(method, path, { options: { Colour: 'Red', Size: 'M' } });
      expect([method, response.status, response.body.error, response.body.details?.[0].field]).toEqual([
        ...[method, 409, 'DUPLICATE', 'options'],
      ]);
      expect(response.body.message).toBe(
        `options: must be unique: variant ${first.id} of the product has Colour "Red", Size "M"`,
      );
    }
    const both = { ids: [first.id, second.id], update: chosen('S') };
    expect((await send('PATCH', pathsOf(product), both)).status).toBe(409);
    expect((await listed(product)).map(({ options: { Size } }) => Size)).toEqual(['M', 'L']);
    expect((await send('PUT', `${pathsOf(product)}/${first.id}`, chosen('M'))).status).toBe(200);
    await add(await shirt(), chosen('M'));
  });

  test('a sku belongs to one product or variant, even with concurrent requests', async () => {
    const product = await shirt({ sku: `P-${kind}` });
    const variant = await add(product, { ...chosen('M'), sku: `V-${kind}` });
    const path = `${pathsOf(product)}/${variant.id}`;
    for (const [method, target, body] of [
      ['POST', pathsOf(product), { ...chosen('L'), sku: `P-${kind}` }],
      ['POST', pathsOf(product), { ...chosen('L'), sku: `V-${kind}` }],
      ['PATCH', path, { sku: `P-${kind}` }],
      ['POST', '/v1/products', { name: 'x', price: 1, sku: `V-${kind}` }],
      ['PATCH', pathOf(product), { sku: `V-${kind}` }],
    ] as const) {
      const response = await send(method, target, body);
      expect([method, target, response.status, response.body.details?.[0].field]).toEqual([
        method,
        target,
        409,
        'sku',
      ]);
    }
    for (let round = 0; round < 5; round++) {
      const sku = `R-${kind}-${round}`;
      const shirts = await Promise.all([shirt(), shirt(), shirt()]);
      const responses = await Promise.all([
        ...shirts.map(one => send('POST', pathsOf(one), { ...chosen('M'), sku })),
        ...[1, 2, 3].map(() => send('POST', '/v1/products', { name: 'x', price: 1, sku })),
      ]);
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    }
    const bySku = async (sku: string, more = '') => {
      const { body } = await call(service, { path: `/v1/products?sku=${sku}${more}`, as: 'user' });
      expect(body.meta.total).toBe(body.data.length);
      return body.data.map(({ id }: Product) => id);
    };
    expect(await bySku(`V-${kind}`)).toEqual([product.id]);
    expect(await bySku(`V-${kind}`, '&status=active&minPrice=1')).toEqual([product.id]);
    expect(await bySku(`V-${kind}`, '&status=archived')).toEqual([]);
    expect(await bySku(`W-${kind}`)).toEqual([]);
    expect((await send('PATCH', path, { sku: `W-${kind}` })).status).toBe(200);
    expect([await bySku(`V-${kind}`), await bySku(`W-${kind}`)]).toEqual([[], [product.id]]);
    expect((await send('PATCH', path, { sku: null })).status).toBe(200);
    expect(await bySku(`W-${kind}`)).toEqual([]);
    expect((await send('PATCH', pathOf(product), { sku: `V-${kind}` })).status).toBe(200);
  });

  test('values of options may be as long as in shops: 255 characters', async () => {
    const value = '長'.repeat(255);
    const names = [1, 2, 3, 4, 5].map(number => `Option ${number}`);
    const product = await shirt({ options: names.map(name => ({ name, values: [value] })) });
    const options = Object.fromEntries(names.map(name => [name, value]));
    const variant = await add(product, { options });
    expect(variant.options).toEqual(options);
    const path = `/v1/products?attr.option_1=${encodeURIComponent(value)}`;
    const { body } = await call(service, { path, as: 'user' });
    expect(body.data.map(({ id }: Product) => id)).toEqual([product.id]);
    const items = [{ productId: product.id, variantId: variant.id, quantity: 1 }];
    const buyer = await userIdOf(service, 'user');
    const order = await call(service, {
      ...{ method: 'POST', path: `/v1/users/${buyer}/orders`, as: 'user', body: { items } },
    });
    expect([order.status, order.body.items?.[0]?.options]).toEqual([201, options]);
    const longer = { options: [{ name: 'Size', values: [`${value}長`] }] };
    const refused = await send('PATCH', pathOf(product), longer);
    expect([refused.status, refused.body.details[0].field]).toEqual([400, 'options.0.values.0']);
  });
});
