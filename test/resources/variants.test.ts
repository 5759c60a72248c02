/** Variants of products: what they may be, what their product shows of them, and who may be called what. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, nowOf, type Product, pathOf, read } from '../support/catalog.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { call } from '../support/http.ts';
import { play } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

interface Variant {
  readonly id: number;
  readonly sku: string | null;
  readonly price: number | null;
  readonly position: number;
  readonly options: Readonly<Record<string, string>>;
}

const options = [
  { name: 'Size', values: ['S', 'M', 'L'] },
  { name: 'Colour', values: ['Red', 'Blue'] },
];
const chosen = (Size: string, Colour = 'Red') => ({ options: { Size, Colour } });

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

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(service, {
      method,
      path,
      as: 'editor',
      body,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  const pathsOf = (product: Pick<Product, 'id'>) => `${pathOf(product)}/variants`;
  const shirt = (fields: object = {}) =>
    addProduct(service, { name: 'Shirt', price: 20, options, ...fields });
  async function add(product: Pick<Product, 'id'>, fields: object): Promise<Variant> {
    const made = await send('POST', pathsOf(product), fields);
    expect([made.status, made.text]).toEqual([201, made.text]);
    return made.body;
  }
  const shown = async (product: Pick<Product, 'id'>) => {
    const { price, priceRange, variantCount, available } = (await read(service, product)).body;
    return [price, [priceRange.min, priceRange.max], variantCount, available];
  };
  const listed = async (product: Pick<Product, 'id'>, query = ''): Promise<Variant[]> => {
    const { status, body } = await call(service, { path: `${pathsOf(product)}?${query}`, as: 'user' });
    expect([query, status]).toEqual([query, 200]);
    return body.data;
  };

  test('the life of one: created, read, listed, replaced, patched in three types, deleted', async () => {
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
      answerHeaders: {},
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

  test('there are none of a product without options, of none, and of another', async () => {
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

  test('no two of a product have one combination, in whatever order its options are named', async () => {
    const product = await shirt();
    const first = await add(product, chosen('M'));
    const second = await add(product, chosen('L'));
    for (const [method, path] of [
      ['POST', pathsOf(product)],
      ['PUT', `${pathsOf(product)}/${second.id}`],
      ['PATCH', `${pathsOf(product)}/${second.id}`],
    ] as const) {
      const answer = await send(method, path, { options: { Colour: 'Red', Size: 'M' } });
      expect([method, answer.status, answer.body.error, answer.body.details?.[0].field]).toEqual([
        ...[method, 409, 'DUPLICATE', 'options'],
      ]);
      expect(answer.body.message).toBe(
        `options: must be unique: variant ${first.id} of the product has Colour "Red", Size "M"`,
      );
    }
    const both = { ids: [first.id, second.id], update: chosen('S') };
    expect((await send('PATCH', pathsOf(product), both)).status).toBe(409);
    expect((await listed(product)).map(({ options: { Size } }) => Size)).toEqual(['M', 'L']);
    expect((await send('PUT', `${pathsOf(product)}/${first.id}`, chosen('M'))).status).toBe(200);
    await add(await shirt(), chosen('M'));
  });

  test('a sku belongs to one product or variant, also when many ask for it at once', async () => {
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
      const answer = await send(method, target, body);
      expect([method, target, answer.status, answer.body.details?.[0].field]).toEqual([
        method,
        target,
        409,
        'sku',
      ]);
    }
    for (let round = 0; round < 5; round++) {
      const sku = `R-${kind}-${round}`;
      const shirts = await Promise.all([shirt(), shirt(), shirt()]);
      const answers = await Promise.all([
        ...shirts.map(one => send('POST', pathsOf(one), { ...chosen('M'), sku })),
        ...[1, 2, 3].map(() => send('POST', '/v1/products', { name: 'x', price: 1, sku })),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
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

  test('the product’s price, range, number and availability follow, and filters and sorts with them', async () => {
    const category = `follow ${kind}`;
    const product = await shirt({ category });
    await addProduct(service, { category, price: 15 });
    const cheapest = async () => {
      const { body } = await call(service, {
        path: `/v1/products?sort=price&category=${category}`,
        as: 'user',
      });
      return body.data.map(({ price }: Product) => price);
    };
    expect(await shown(product)).toEqual([20, [20, 20], 0, true]);
    const m = await add(product, { ...chosen('M'), price: 12, stock: { onHand: 0 } });
    expect([await shown(product), await cheapest()]).toEqual([
      [12, [12, 12], 1, false],
      [12, 15],
    ]);
    const l = await add(product, chosen('L'));
    expect(await shown(product)).toEqual([12, [12, 20], 2, true]);
    await add(product, { ...chosen('S'), price: 30, stock: { onHand: 1 } });
    expect(await shown(product)).toEqual([12, [12, 30], 3, true]);
    // The price that is shown changes nothing; another one is what variants without a price cost.
    const asShown = (await read(service, product)).body;
    await send('PUT', pathOf(product), asShown);
    expect(await shown(product)).toEqual([12, [12, 30], 3, true]);
    await send('PATCH', pathOf(product), { price: 40 });
    expect(await shown(product)).toEqual([12, [12, 40], 3, true]);
    await send('PATCH', `${pathsOf(product)}/${m.id}`, { price: null });
    expect([await shown(product), await cheapest()]).toEqual([
      [30, [30, 40], 3, true],
      [15, 30],
    ]);
    await send('PATCH', pathOf(product), { status: 'archived' });
    expect(await shown(product)).toEqual([30, [30, 40], 3, false]);
    await send('PATCH', pathOf(product), { status: 'active' });
    expect(await shown(product)).toEqual([30, [30, 40], 3, true]);
    for (const { id } of await listed(product)) await send('DELETE', `${pathsOf(product)}/${id}`);
    expect(await shown(product)).toEqual([40, [40, 40], 0, true]);
    expect(l.position).toBe(2);
  });

  test('searches find the product by the sku and the GTIN of a variant, at once, and no longer than it has them', async () => {
    const product = await shirt({ name: `Searched ${kind}` });
    const code = `24MB01-${kind.slice(0, 2)}`;
    const search = async (q: string, more = '') => {
      const path = `/v1/search?q=${encodeURIComponent(q)}${more}`;
      const { body } = await call(service, { path, as: 'user' });
      expect(body.meta.total).toBe(body.data.length);
      return body.data.map(({ id }: { id: number }) => id);
    };
    expect(await search(code)).toEqual([]);
    const variant = await add(product, { ...chosen('M'), sku: code, gtin: '96385074' });
    for (const q of [
      code,
      code.toLowerCase(),
      code.replace('-', ''),
      ` ${code} `,
      '96385074',
      '00000096385074',
    ])
      expect([q, await search(q)]).toEqual([q, [product.id]]);
    expect(await search(code, '&type=product&minPrice=1')).toEqual([product.id]);
    expect(await search(code, '&type=product&minPrice=10000')).toEqual([]);
    expect(await search(code, '&type=article')).toEqual([]);
    await send('PATCH', `${pathsOf(product)}/${variant.id}`, { sku: null });
    expect([await search(code), await search('96385074')]).toEqual([[], [product.id]]);
    await send('DELETE', `${pathsOf(product)}/${variant.id}`);
    expect(await search('96385074')).toEqual([]);
  });

  test('stock is counted of each variant, and not of their product', async () => {
    const product = await shirt();
    await add(product, { ...chosen('M'), stock: { onHand: 1 } });
    const answer = await send('PATCH', pathOf(product), { stock: { onHand: 5 } });
    expect([answer.status, answer.body.details[0].field]).toEqual([400, 'stock']);
    expect((await send('PATCH', pathOf(product), { stock: null })).status).toBe(200);
  });

  test('what variants do not change of the product leaves it as it was', async () => {
    const product = await shirt();
    const variant = await add(product, chosen('M'));
    const before = await read(service, product);
    service.clock.advance(5000);
    await send('PATCH', `${pathsOf(product)}/${variant.id}`, {
      sku: `S-${kind}`,
      weight: { value: 1, unit: 'g' },
    });
    expect((await read(service, product)).text).toBe(before.text);
  });

  test('an image that the product loses is none of its variants any more', async () => {
    const images = ['a', 'b'].map(name => ({ url: `https://shop.example/${name}.jpg` }));
    const product = await shirt({ images });
    const [a, b] = product.images;
    const [first, second] = [
      await add(product, { ...chosen('M'), imageId: a?.id }),
      await add(product, { ...chosen('L'), imageId: b?.id }),
    ];
    await send('PATCH', pathOf(product), { images: [b] });
    const imageOf = async ({ id }: Variant) =>
      (await call(service, { path: `${pathsOf(product)}/${id}`, as: 'user' })).body.imageId;
    expect([await imageOf(first), await imageOf(second)]).toEqual([null, b?.id]);
  });

  test('options that variants have cannot be taken away, others can, and more can be added', async () => {
    const product = await shirt();
    const variant = await add(product, chosen('M'));
    const [size, colour] = options;
    for (const changed of [
      [size],
      [],
      [{ ...size, name: 'Width' }, colour],
      [size, colour, { name: 'Fit', values: ['Slim'] }],
      [{ name: 'Size', values: ['S', 'L'] }, colour],
    ]) {
      const answer = await send('PATCH', pathOf(product), { options: changed });
      expect([changed, answer.status, answer.body.error]).toEqual([changed, 409, 'OPTION_IN_USE']);
    }
    expect((await send('PUT', pathOf(product), { name: 'Shirt', price: 1 })).status).toBe(409);
    const wider = [colour, { name: 'Size', values: ['M', 'XL'] }];
    expect((await send('PATCH', pathOf(product), { options: wider })).status).toBe(200);
    await add(product, chosen('XL'));
    await send('DELETE', `${pathsOf(product)}/${variant.id}`);
    const without = [colour, { name: 'Size', values: ['XL'] }];
    expect((await send('PATCH', pathOf(product), { options: without })).status).toBe(200);
  });

  test('are listed in their order, by page and by cursor, filtered, and as HAL', async () => {
    const values = Array.from({ length: 25 }, (_, n) => `${n}`);
    const product = await shirt({ options: [{ name: 'No', values }] });
    for (const No of values)
      await add(product, { options: { No }, sku: `${kind}-${No}`, stock: { onHand: Number(No) % 2 } });
    const numbers = (rows: readonly Variant[]) => rows.map(({ options: { No } }) => Number(No));
    expect(numbers(await listed(product))).toEqual(values.slice(0, 20).map(Number));
    expect(numbers(await listed(product, 'page=2'))).toEqual([20, 21, 22, 23, 24]);
    const last = (await listed(product, 'page=2')).at(-1);
    await send('PATCH', `${pathsOf(product)}/${last?.id}`, { position: 0 });
    expect(numbers(await listed(product, 'perPage=2'))).toEqual([24, 0]);
    expect(numbers(await listed(product, 'perPage=2&sort=id'))).toEqual([0, 1]);
    expect(numbers(await listed(product, `sku=${kind}-7`))).toEqual([7]);
    expect(numbers(await listed(product, 'available=true&perPage=3'))).toEqual([1, 3, 5]);
    const seen: number[] = [];
    let path: string | null = `${pathsOf(product)}?limit=10&count=exact`;
    while (path !== null) {
      const { body }: { body: { data: Variant[]; meta: { total: number }; links: { next: string | null } } } =
        await call(service, { path, as: 'user' });
      expect(body.meta.total).toBe(25);
      seen.push(...numbers(body.data));
      path = body.links.next === null ? null : body.links.next.replace(service.url, '');
    }
    expect(seen).toEqual([24, ...values.slice(0, 24).map(Number)]);
    const hal = { Accept: 'application/hal+json' };
    const page = await call(service, { path: `${pathsOf(product)}?perPage=1`, as: 'editor', headers: hal });
    const [one] = page.body._embedded.variants;
    expect(one._links.self.href).toBe(`${service.url}${pathsOf(product)}/${one.id}`);
    expect(Object.keys(one._links)).toEqual(['self', 'product', 'edit', 'delete']);
    const owner = await call(service, { path: pathOf(product), as: 'user', headers: hal });
    expect(owner.body._links.variants.href).toBe(`${service.url}${pathsOf(product)}`);
  });

  test('many change at once, all or none, and only those of the product', async () => {
    const [product, other] = [await shirt(), await shirt()];
    const own = [await add(product, chosen('S')), await add(product, chosen('M'))];
    const stranger = await add(other, chosen('M'));
    const ids = [...own.map(({ id }) => id), stranger.id, 2_147_483_647];
    expect((await send('PATCH', pathsOf(product), { ids, update: { price: 3 } })).body).toEqual({
      updated: 2,
    });
    expect([await shown(product), await shown(other)]).toEqual([
      [3, [3, 3], 2, true],
      [20, [20, 20], 1, true],
    ]);
    expect(
      (await send('PATCH', pathsOf(product), { ids, update: { price: 9, sku: `B-${kind}` } })).status,
    ).toBe(409);
    expect((await send('PATCH', pathsOf(product), { ids, update: { price: -1 } })).status).toBe(400);
    expect(await shown(product)).toEqual([3, [3, 3], 2, true]);
  });

  test('go with their product, each with an event', async () => {
    const product = await shirt();
    const made = [await add(product, chosen('S')), await add(product, chosen('M'))];
    expect((await send('DELETE', pathOf(product))).status).toBe(204);
    expect((await call(service, { path: pathsOf(product), as: 'user' })).status).toBe(404);
    const { body } = await call(service, {
      path: '/v1/events?resource=variant&perPage=100&order=desc',
      as: 'admin',
    });
    const types = (id: number) =>
      body.data
        .filter((event: { resourceId: number }) => event.resourceId === id)
        .map(({ type }: { type: string }) => type);
    for (const { id } of made) expect(types(id)).toEqual(['variant.deleted', 'variant.created']);
  });
});
