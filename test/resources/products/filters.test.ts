/** Filters of lists of products by their data: each alone, together, and after every change. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf, readListedIds } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('filters of products on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());
  const send = (method: string, path: string, body: unknown) =>
    call(service, { method, path, as: 'editor', body });
  const idsOf = (query: string) => readListedIds(service, query);

  test('lists are filtered by the exact name, and follow every change', async () => {
    const name = 'Named, exactly & so';
    const query = `name=${encodeURIComponent(name)}`;
    const a = await addProduct(service, { name, price: 3 });
    const b = await addProduct(service, { name, price: 1, brand: 'Named' });
    const other = await addProduct(service, { name: name.toUpperCase(), price: 2 });
    expect(await idsOf(query)).toEqual([a.id, b.id]);
    expect(await idsOf(`${query}&sort=price`)).toEqual([b.id, a.id]);
    expect(await idsOf(`${query}&sort=name&order=desc`)).toEqual([b.id, a.id]);
    expect(await idsOf(`${query}&brand=Named`)).toEqual([b.id]);
    expect(await idsOf(`name=${encodeURIComponent(`  ${name} `)}&minPrice=2`)).toEqual([a.id]);
    expect(await idsOf('name=Named')).toEqual([]);
    await send('PATCH', pathOf(other), { name });
    await send('PATCH', pathOf(a), { name: 'Otherwise' });
    expect(await idsOf(query)).toEqual([b.id, other.id]);
    expect(await idsOf('name=Otherwise')).toEqual([a.id]);
    const found = await call(service, { path: `/v1/search?q=exactly&${query}`, as: 'user' });
    expect(found.body.data.map((hit: { id: number }) => hit.id).sort()).toEqual([b.id, other.id].sort());
    const blank = await call(service, { path: '/v1/products?name=%20', as: 'user' });
    expect([blank.status, blank.body.details[0].field, blank.body.details[0].code]).toEqual([
      400,
      'name',
      'blank',
    ]);
  });

  test('both ways of writing an accent are different values, except in searches', async () => {
    const [nfc, nfd] = ['NFC', 'NFD'].map(form => 'Unicodé'.normalize(form));
    const addWith = (text = '') =>
      addProduct(service, {
        ...{ name: text, category: text, tags: [text], brand: text, sku: text, attributes: { accent: text } },
        options: [{ name: text, values: [text] }],
      });
    const [one, other] = [await addWith(nfc), await addWith(nfd)];
    const filters = ['name', 'category', 'tag', 'brand', 'sku', 'attr.accent', 'attr.unicode'];
    for (const filter of filters)
      for (const [text, { id }] of [[nfc, one] as const, [nfd, other] as const])
        expect([filter, await idsOf(`${filter}=${encodeURIComponent(text ?? '')}`)]).toEqual([filter, [id]]);
    const { body } = await call(service, { path: `/v1/products?facets=tag,attr.accent`, as: 'user' });
    for (const facet of ['tag', 'attr.accent'])
      for (const value of [nfc, nfd]) expect(body.meta.facets[facet]).toContainEqual({ value, count: 1 });
    for (const text of [nfc, nfd]) {
      const path = `/v1/search?type=product&q=${encodeURIComponent(text ?? '')}`;
      expect((await call(service, { path, as: 'user' })).body.meta.total).toBe(2);
    }
  });

  test('lists, facets and searches treat options as attributes, and follow every change', async () => {
    const size = (...values: string[]) => ({ name: 'Shoe Size', values });
    const shoe = await addProduct(service, { name: 'Optioned shoe', price: 3, options: [size('41', '42')] });
    const boot = await addProduct(service, {
      ...{ name: 'Optioned boot', price: 1 },
      // Some values are in the attribute only, some in the option only, and some in both.
      ...{ attributes: { shoe_size: 42, farbe: ['rot', 'blau'] } },
      options: [
        size('42', '43'),
        { name: 'Farbe', values: ['blau', 'grün'] },
        { name: '颜色', values: ['红'] },
      ],
    });
    const plain = await addProduct(service, {
      name: 'Optioned plain',
      price: 2,
      attributes: { shoe_size: 44 },
    });
    const facetsOf = async (query: string) => {
      const { body } = await call(service, { path: `/v1/products?${query}`, as: 'user' });
      return body.meta.facets;
    };
    expect(await idsOf('attr.shoe_size=42&sort=price')).toEqual([boot.id, shoe.id]);
    expect(await idsOf('attr.shoe_size=41&attr.shoe_size=43')).toEqual([shoe.id, boot.id]);
    expect(await idsOf('attr.shoe_size=gte:43')).toEqual([boot.id, plain.id]);
    expect(await idsOf('attr.farbe=gr%C3%BCn&attr.shoe_size=42')).toEqual([boot.id]);
    expect(await facetsOf('facets=attr.farbe,attr.shoe_size&attr.farbe=rot')).toEqual({
      'attr.farbe': ['blau', 'grün', 'rot'].map(value => ({ value, count: 1 })),
      'attr.shoe_size': [
        { value: 42, count: 1 },
        { value: 43, count: 1 },
      ],
    });
    const found = await call(service, { path: '/v1/search?q=optioned&attr.shoe_size=42', as: 'user' });
    expect(found.body.data.map((hit: { id: number }) => hit.id).sort()).toEqual([shoe.id, boot.id].sort());
    const strict = { Prefer: 'handling=strict' };
    const path = '/v1/products?attr.shoe_size=42&attr.x_989c_8272=%E7%BA%A2';
    const others = await call(service, { path, as: 'user', headers: strict });
    expect(others.body.data.map(({ id }: Product) => id)).toEqual([boot.id]);
    await send('PATCH', pathOf(shoe), { options: [size('40', '41')] });
    expect(await idsOf('attr.shoe_size=42')).toEqual([boot.id]);
    expect(await idsOf('attr.shoe_size=40')).toEqual([shoe.id]);
    await send('PATCH', pathOf(boot), { attributes: {} });
    expect(await idsOf('attr.shoe_size=42')).toEqual([boot.id]);
    expect(await idsOf('attr.shoe_size=lt:42')).toEqual([shoe.id]);
    await send('PATCH', pathOf(boot), { options: [] });
    expect(await idsOf('attr.shoe_size=42')).toEqual([]);
    for (const product of [shoe, boot, plain]) await send('DELETE', pathOf(product), undefined);
    expect(await idsOf('attr.shoe_size=40')).toEqual([]);
  });

  test('a list reads several ids, in every order, with other filters and facets, and follows every change', async () => {
    const [a, b, c] = [
      await addProduct(service, { name: 'Named by id 3', price: 1, brand: 'Ids' }),
      await addProduct(service, { name: 'Named by id 2', price: 3, brand: 'Ids' }),
      await addProduct(service, {
        name: 'Named by id 1',
        price: 2,
        brand: 'Other ids',
        attributes: { ids: 'x' },
      }),
    ];
    const query = `id=${c.id}&id=${a.id}&id=${b.id}&id=${a.id}&id=2147483647`;
    expect(await idsOf(query)).toEqual([a.id, b.id, c.id]);
    expect(await idsOf(`${query}&sort=price&order=desc`)).toEqual([b.id, c.id, a.id]);
    expect(await idsOf(`${query}&sort=name`)).toEqual([c.id, b.id, a.id]);
    expect(await idsOf(`${query}&brand=Ids&minPrice=2`)).toEqual([b.id]);
    expect(await idsOf(`${query}&brand=Ids&brand=Other%20ids`)).toEqual([a.id, b.id, c.id]);
    expect(await idsOf(`${query}&attr.ids=x`)).toEqual([c.id]);
    expect(await idsOf(`id=${b.id}`)).toEqual([b.id]);
    const { body } = await call(service, { path: `/v1/products?${query}&facets=brand,attr.ids`, as: 'user' });
    expect([body.meta.total, body.meta.facets]).toEqual([
      3,
      {
        brand: [
          { value: 'Ids', count: 2 },
          { value: 'Other ids', count: 1 },
        ],
        'attr.ids': [{ value: 'x', count: 1 }],
      },
    ]);
    const first = await call(service, { path: `/v1/products?${query}&limit=2&sort=price`, as: 'user' });
    const cursor = `cursor=${first.body.meta.nextCursor}&limit=2&sort=price`;
    const second = await call(service, { path: `/v1/products?${query}&${cursor}`, as: 'user' });
    expect([...first.body.data, ...second.body.data].map(({ id }: Product) => id)).toEqual([
      a.id,
      c.id,
      b.id,
    ]);
    await send('PATCH', pathOf(a), { name: 'Renamed by id' });
    const renamed = await call(service, { path: `/v1/products?${query}`, as: 'user' });
    expect(renamed.body.data[0].name).toBe('Renamed by id');
    await send('DELETE', pathOf(b), undefined);
    expect(await idsOf(query)).toEqual([a.id, c.id]);
    for (const [bad, code] of [
      ['id=0', 'minimum'],
      ['id=1.5', 'pattern'],
      ['id=', 'pattern'],
      [Array.from({ length: 101 }, (_, index) => `id=${index + 1}`).join('&'), 'maxItems'],
    ]) {
      const refused = await call(service, { path: `/v1/products?${bad}`, as: 'user' });
      expect([bad, refused.status, refused.body.details[0].field, refused.body.details[0].code]).toEqual([
        bad,
        400,
        'id',
        code,
      ]);
    }
  });

  test('a list reads several skus, including those of variants, with facets, and follows every change', async () => {
    const own = await addProduct(service, { name: 'Several skus', price: 2, sku: 'SKUS-1', brand: 'Skus' });
    const options = [{ name: 'Size', values: ['S', 'M'] }];
    const varied = await addProduct(service, { name: 'Several skus of variants', price: 1, options });
    const path = `${pathOf(varied)}/variants`;
    const small = await send('POST', path, { sku: 'SKUS-S', options: { Size: 'S' } });
    await send('POST', path, { sku: 'SKUS-M', options: { Size: 'M' } });
    const query = 'sku=SKUS-M&sku=SKUS-1&sku=SKUS-S&sku=SKUS-0';
    expect(await idsOf(query)).toEqual([own.id, varied.id]);
    expect(await idsOf(`${query}&sort=price`)).toEqual([varied.id, own.id]);
    expect(await idsOf(`${query}&brand=Skus`)).toEqual([own.id]);
    expect(await idsOf(`${query}&attr.size=S&id=${varied.id}&id=${own.id}`)).toEqual([varied.id]);
    expect(await idsOf('sku=SKUS-S&sku=SKUS-M')).toEqual([varied.id]);
    const { body } = await call(service, { path: `/v1/products?${query}&facets=attr.size`, as: 'user' });
    expect([body.meta.total, body.meta.facets['attr.size']]).toEqual([
      2,
      ['M', 'S'].map(value => ({ value, count: 1 })),
    ]);
    await send('PATCH', `${path}/${small.body.id}`, { sku: 'SKUS-0' });
    expect(await idsOf('sku=SKUS-S&sku=SKUS-1')).toEqual([own.id]);
    expect(await idsOf('sku=SKUS-0&sku=SKUS-1')).toEqual([own.id, varied.id]);
  });

  test('lists and searches match any of several brands or tags, in every order, with facets, and follow every change', async () => {
    const red = await addProduct(service, {
      name: 'Anyof red',
      category: 'Anyof > A',
      brand: 'Anyof A',
      tags: ['x1', 'y1'],
      price: 3,
    });
    const blue = await addProduct(service, {
      name: 'Anyof blue',
      category: 'Anyof',
      brand: 'Anyof B',
      tags: ['x1'],
      price: 1,
    });
    const other = await addProduct(service, {
      name: 'Anyof other',
      brand: 'Anyof C',
      tags: ['z1'],
      price: 2,
    });
    const brands = 'brand=Anyof%20B&brand=Anyof%20A';
    expect(await idsOf(brands)).toEqual([red.id, blue.id]);
    expect(await idsOf(`${brands}&brand=Anyof%20A&sort=price`)).toEqual([blue.id, red.id]);
    expect(await idsOf(`${brands}&sort=name&order=desc`)).toEqual([red.id, blue.id]);
    expect(await idsOf(`${brands}&tag=x1`)).toEqual([red.id, blue.id]);
    expect(await idsOf(`${brands}&tag=y1&tag=z1`)).toEqual([red.id]);
    expect(await idsOf('tag=x1&tag=y1&tag=z1')).toEqual([red.id, blue.id, other.id]);
    expect(await idsOf('tag=x1&tag=y1&minPrice=2')).toEqual([red.id]);
    expect(await idsOf(`${brands}&category=Anyof&tag=x1&tag=q&sort=price`)).toEqual([blue.id, red.id]);
    const read = async (path: string) => (await call(service, { path, as: 'user' })).body;
    const { meta } = await read(`/v1/products?${brands}&facets=brand,tag`);
    const count = (value: string, count: number) => ({ value, count });
    expect(meta.facets.brand).toContainEqual(count('Anyof C', 1));
    expect(meta.facets.tag).toEqual([count('x1', 2), count('y1', 1)]);
    const found = await read(`/v1/search?q=anyof&${brands}&sort=price`);
    expect(found.data.map(({ id }: { id: number }) => id)).toEqual([blue.id, red.id]);
    const cut = await read(`/v1/products?${brands}&sort=price&limit=1`);
    const reordered = 'brand=Anyof%20A&brand=Anyof%20B&sort=price&limit=1';
    const next = await read(`/v1/products?${reordered}&cursor=${cut.meta.nextCursor}`);
    expect([cut.data[0].id, next.data[0].id]).toEqual([blue.id, red.id]);
    await send('PATCH', pathOf(other), { brand: 'Anyof B', tags: ['y1'] });
    await send('PATCH', pathOf(red), { brand: null });
    expect(await idsOf(brands)).toEqual([blue.id, other.id]);
    expect(await idsOf('tag=y1&tag=z1')).toEqual([red.id, other.id]);
    const tooMany = await read(
      `/v1/products?${Array.from({ length: 51 }, (_, n) => `brand=${n}`).join('&')}`,
    );
    expect(tooMany.details[0]).toMatchObject({ field: 'brand', code: 'maxItems' });
  });

  test('lists are filtered by brand, GTIN and availability, alone and together, and follow every change', async () => {
    const brand = 'Filtered & Co';
    const query = `brand=${encodeURIComponent(brand)}`;
    const a = await addProduct(service, { brand, price: 3, gtin: '012345678905', stock: { onHand: 1 } });
    const b = await addProduct(service, { brand, price: 1, gtin: '0012345678905', stock: { onHand: 0 } });
    const c = await addProduct(service, { brand, price: 2, status: 'archived' });
    expect(await idsOf(query)).toEqual([a.id, b.id, c.id]);
    for (const sort of ['price', 'name', 'created_at'])
      expect((await idsOf(`${query}&sort=${sort}`)).length).toBe(3);
    expect(await idsOf(`${query}&sort=price&order=desc`)).toEqual([a.id, c.id, b.id]);
    expect(await idsOf(`${query}&minPrice=2&status=active`)).toEqual([a.id]);
    expect(await idsOf('gtin=00012345678905')).toEqual([a.id, b.id]);
    expect(await idsOf('gtin=012345678905&sort=price')).toEqual([b.id, a.id]);
    expect(await idsOf(`${query}&available=true`)).toEqual([a.id]);
    expect(await idsOf(`${query}&available=false&sort=price`)).toEqual([b.id, c.id]);
    await send('PATCH', pathOf(b), { stock: { onHand: 4 } });
    await send('PATCH', pathOf(c), { status: 'active' });
    expect(await idsOf(`${query}&available=true`)).toEqual([a.id, b.id, c.id]);
    expect(await idsOf(`${query}&available=false`)).toEqual([]);
    await send('PATCH', '/v1/products', { ids: [a.id, b.id], update: { brand: null, gtin: null } });
    expect(await idsOf(query)).toEqual([c.id]);
    expect(await idsOf('gtin=012345678905')).toEqual([]);
    for (const [parameter, rule] of [
      ['gtin=12', 'pattern'],
      ['gtin=abcdefgh', 'pattern'],
      ['available=yes', 'enum'],
      ['brand=%20', 'blank'],
    ]) {
      const response = await call(service, { path: `/v1/products?${parameter}`, as: 'user' });
      expect([parameter, response.status, response.body.details[0].code]).toEqual([parameter, 400, rule]);
    }
  });
});
