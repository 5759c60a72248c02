/** What a product shows of its variants, and what happens to them when it changes. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf, read } from '../../support/data/catalog.ts';
import { userIdOf } from '../../support/data/people.ts';
import { chosen, options, type Variant, variantCalls } from '../../support/data/variants.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('variants on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const { send, pathsOf, shirt, add, shown, listed } = variantCalls(() => service);

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
    // Writing the shown price changes nothing. Another price applies to variants that have none.
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

  test('a product with variants shows its own price, which variants without a price cost', async () => {
    const product = await shirt({ price: 50 });
    const own = async () => (await read(service, product)).body.basePrice;
    expect([product, await own()]).toEqual([expect.not.objectContaining({ basePrice: 50 }), undefined]);
    const cheap = await add(product, { ...chosen('S'), price: 20 });
    const plain = await add(product, chosen('M'));
    await add(product, { ...chosen('L'), price: 100 });
    expect([await own(), await shown(product)]).toEqual([50, [20, [20, 100], 3, true]]);
    const items = [{ productId: product.id, variantId: plain.id, quantity: 1 }];
    const order = await send('POST', `/v1/users/${await userIdOf(service, 'editor')}/orders`, { items });
    expect([order.status, order.body.total]).toEqual([201, 50]);
    // It is read-only: a product sent back as it is shown keeps it, and another price replaces it.
    await send('PUT', pathOf(product), (await read(service, product)).body);
    await send('PATCH', pathOf(product), { basePrice: 1 });
    expect(await own()).toBe(50);
    const change = [{ op: 'replace', path: '/basePrice', value: 1 }];
    const type = { 'Content-Type': 'application/json-patch+json' };
    const refused = await send('PATCH', pathOf(product), change, type);
    expect([refused.status, refused.body.details?.[0].pointer]).toEqual([422, '#/basePrice']);
    await send('PATCH', pathOf(product), { price: 60 });
    expect([await own(), await shown(product)]).toEqual([60, [20, [20, 100], 3, true]]);
    const { body } = await call(service, {
      path: `/v1/events?resource=product&resourceId=${product.id}&order=desc&limit=1`,
      as: 'admin',
    });
    expect([body.data[0].before.basePrice, body.data[0].after.basePrice]).toEqual([50, 60]);
    const { data } = (await call(service, { path: `/v1/products?id=${product.id}`, as: 'user' })).body;
    expect(data).toEqual([(await read(service, product)).body]);
    for (const { id } of await listed(product)) await send('DELETE', `${pathsOf(product)}/${id}`);
    expect([await own(), await shown(product)]).toEqual([undefined, [60, [60, 60], 0, true]]);
    expect(cheap.price).toBe(20);
  });

  test('searches find the product by a variant’s current sku and GTIN, at once', async () => {
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

  test('stock is counted for each variant, and not for their product', async () => {
    const product = await shirt();
    await add(product, { ...chosen('M'), stock: { onHand: 1 } });
    const response = await send('PATCH', pathOf(product), { stock: { onHand: 5 } });
    expect([response.status, response.body.details[0].field]).toEqual([400, 'stock']);
    expect((await send('PATCH', pathOf(product), { stock: null })).status).toBe(200);
  });

  test('a change of a variant that the product does not show leaves the product unchanged', async () => {
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

  test('an image removed from the product is removed from its variants', async () => {
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

  test('options in use by variants cannot be removed, others can, and new ones can be added', async () => {
    const product = await shirt();
    const variant = await add(product, chosen('M'));
    const [size, colour] = options;
    for (const changed of [
      [size],
      [],
      [{ name: 'Width', values: ['S', 'L'] }, colour],
      [colour, { ...size, name: 'Width' }],
      [size, colour, { name: 'Fit', values: ['Slim'] }],
      [{ name: 'Size', values: ['S', 'L'] }, colour],
    ]) {
      const response = await send('PATCH', pathOf(product), { options: changed });
      expect([changed, response.status, response.body.error]).toEqual([changed, 409, 'OPTION_IN_USE']);
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
    const some = await call(service, { path: `${pathsOf(product)}?available=true&perPage=3`, as: 'user' });
    expect(some.body.meta).toMatchObject({ total: 12, lastPage: 4 });
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

  test('a bulk update changes all of the named variants or none, and only those of the product', async () => {
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

  test('a bulk update changes the product once, although each sku is written alone', async () => {
    const product = await shirt();
    const sizes = ['S', 'M', 'L'];
    const updates: { readonly id: number; readonly update: object }[] = [];
    for (const [at, size] of sizes.entries()) {
      const { id } = await add(product, { ...chosen(size), price: 9 });
      updates.push({ id, update: { sku: `${size}-${crypto.randomUUID()}`, price: 5 - at } });
    }
    const of = async (resource: string) =>
      (await call(service, { path: `/v1/events?resource=${resource}&perPage=100&order=desc`, as: 'admin' }))
        .body.data;
    const [{ id: last }] = await of('product');
    expect((await send('PATCH', pathsOf(product), { updates })).body).toEqual({ updated: sizes.length });
    expect(await shown(product)).toEqual([3, [3, 5], sizes.length, true]);
    const written = (await of('product')).filter(({ id }: { id: number }) => id > last);
    expect(written).toMatchObject([{ resourceId: product.id, before: { price: 9 }, after: { price: 3 } }]);
  });

  test('are deleted with their product, each with an event', async () => {
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
