/** Products are found by their own codes and by those of their variants, in any spelling and beside other words. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, type Product, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

interface Hit {
  readonly id: number;
  readonly title: string;
  readonly missing: readonly string[];
}

const eans = { variant: '4006381333931', another: '96385074', product: '5901234123457' };

describeOnDatabases('codes of variants on %s', kind => {
  let service: TestService;
  let regulator: Product;
  let shirt: Product;

  const addVariant = async (product: Product, variant: object) => {
    const path = `${pathOf(product)}/variants`;
    const { status, body } = await call(service, { method: 'POST', path, as: 'admin', body: variant });
    expect(status).toBe(201);
    return body;
  };

  beforeAll(async () => {
    service = await startTestService(kind);
    const cases = { options: [{ name: 'Case', values: ['DIP', 'SMD', 'TO'] }] };
    regulator = await addProduct(service, { name: 'Voltage Regulator', brand: 'Texas', ...cases });
    await addVariant(regulator, { options: { Case: 'DIP' }, sku: 'LM 7805 CT', gtin: eans.variant });
    await addVariant(regulator, { options: { Case: 'SMD' }, sku: 'NCP-7812G' });
    await addVariant(regulator, { options: { Case: 'TO' }, sku: 'AB12-CD34/EF56.GH78', gtin: eans.another });
    await addProduct(service, { name: 'Other Regulator', sku: 'QX 4711 CT', gtin: eans.product });
    await addProduct(service, { name: 'Regulator heat sink', description: 'For LM cases of 7805 mm, CT 10' });
    const sizes = { options: [{ name: 'Size', values: ['M', 'L'] }] };
    shirt = await addProduct(service, { name: 'Linen shirt', ...sizes });
    await addVariant(shirt, { options: { Size: 'M' }, sku: 'SHIRT-MED-RED' });
    await addVariant(shirt, { options: { Size: 'L' }, sku: 'X-1' });
    for (let index = 0; index < 60; index++) await addProduct(service, { name: `Regulator holder ${index}` });
  });
  afterAll(() => service.stop());

  const search = async (query: string, more = '') => {
    const path = `/v1/search?q=${encodeURIComponent(query)}${more}`;
    const { body } = await call(service, { path, as: 'admin' });
    const hits: readonly Hit[] = body.data;
    return { hits, meta: body.meta };
  };
  const suggest = async (query: string): Promise<readonly Hit[]> => {
    const path = `/v1/search/suggest?q=${encodeURIComponent(query)}`;
    return (await call(service, { path, as: 'user' })).body.products;
  };
  const expectFirst = async (query: string, title: string) => {
    const { hits, meta } = await search(query);
    expect([query, hits[0]?.title, hits[0]?.missing, meta.relaxed]).toEqual([query, title, [], undefined]);
    expect([query, (await suggest(query))[0]?.title]).toEqual([query, title]);
  };

  test.each([
    'LM 7805 CT',
    'LM7805CT',
    'lm-7805-ct',
    'lm 7805ct',
    ' LM  7805-CT ',
    'ncp 7812g',
    'NCP 7812 G',
    'ncp-7812-g',
    'AB12 CD34 EF56 GH78',
    'ab 12 cd 34 ef 56 gh 78',
    'AB12CD34EF56GH78',
    '4006381333931',
    '4006381 333931',
    '400-6381-333931',
    '04006381333931',
    '0000 9638 5074',
  ])('%j finds a code, however it is written', query => expectFirst(query, 'Voltage Regulator'));

  test('a short code is found only alone and whole', async () => {
    for (const query of ['x-1', 'X1', 'x 1']) await expectFirst(query, 'Linen shirt');
    for (const query of ['x', 'lm', 'holder x1', 'ab'])
      expect([query, (await search(query)).hits.some(({ title }) => title === 'Linen shirt')]).toEqual([
        query,
        false,
      ]);
    expect((await search('n7')).hits).toEqual([]);
  });

  test.each([
    'regulator NCP-7812G',
    'NCP-7812G regulator',
    'texas lm 7805 ct',
    'voltage NCP 7812 G texas',
    'texas ab12/cd34 ef56 gh78',
    'regulator AB 12 CD34 EF56 GH78',
    'texas 4006381333931',
    'regulator 00000096385074',
    'regulator:NCP-7812G',
  ])('%j finds a code among other words', query => expectFirst(query, 'Voltage Regulator'));

  test.each(['LM 7805', 'lm7805', 'lm 7805 c', 'texas LM 78', 'ncp 78', 'ncp-78', 'regulator ncp 7812'])(
    '%j finds a code by its beginning',
    query => expectFirst(query, 'Voltage Regulator'),
  );

  test.each(['QX 4711 CT', 'qx4711ct', 'regulator qx 4711', 'other QX-4711-CT', '5901234 123457'])(
    '%j finds a code of the product itself',
    query => expectFirst(query, 'Other Regulator'),
  );

  test.each(['SHIRT-MED-RED', 'shirt-med-red'])(
    '%j, a code without digits, is found where it is written as one',
    async query => {
      await expectFirst(query, 'Linen shirt');
      await expectFirst(`linen ${query}`, 'Linen shirt');
    },
  );

  test('a code finds only products that have all of it, with an exact total', async () => {
    for (const query of ['LM 7805 CT', 'LM7805CT']) {
      const { hits, meta } = await search(query);
      // A product that has all the words in any place matches.
      expect(hits.map(({ title }) => title)).toEqual(['Voltage Regulator', 'Regulator heat sink']);
      expect([meta.total, meta.facets.product]).toEqual([2, 2]);
    }
    const { hits, meta } = await search('NCP 7812 G');
    expect([hits.map(({ title }) => title), meta.total]).toEqual([['Voltage Regulator'], 1]);
  });

  test('filters, orders, facets and types are those of any search', async () => {
    const ids = async (more: string) => (await search('ncp 7812 g', more)).hits.map(({ id }) => id);
    expect(await ids('&minPrice=1')).toEqual([regulator.id]);
    expect(await ids('&minPrice=1000')).toEqual([]);
    expect(await ids('&sort=price')).toEqual([regulator.id]);
    expect(await ids('&type=article')).toEqual([]);
    expect(await ids('&status=archived')).toEqual([]);
    const { meta } = await search('regulator NCP-7812G', '&facets=brand&sort=name');
    expect([meta.total, meta.facets.brand]).toEqual([1, [{ value: 'Texas', count: 1 }]]);
  });

  test('pages return each product once, including those found by a code', async () => {
    const { meta } = await search('regulator NCP-7812G');
    const walked: number[] = [];
    for (let page = 1; walked.length < meta.total; page++) {
      const { hits } = await search('regulator NCP-7812G', `&perPage=7&page=${page}`);
      if (hits.length === 0) break;
      walked.push(...hits.map(({ id }) => id));
    }
    expect(walked[0]).toBe(regulator.id);
    expect(new Set(walked).size).toBe(meta.total);
    expect(walked.length).toBe(meta.total);
  });

  test('a code of both a variant and a product finds both', async () => {
    const own = await addProduct(service, { name: 'Spare part', mpn: 'NCP7812G' });
    for (const query of ['ncp7812g', 'NCP-7812G', 'ncp 7812 g']) {
      const { hits } = await search(query);
      expect(hits.map(({ id }) => id).sort()).toEqual([regulator.id, own.id].sort());
    }
    await call(service, { method: 'DELETE', path: pathOf(own), as: 'admin' });
  });

  test('products found by a code are suggested beside names with all words', async () => {
    const named = await addProduct(service, { name: 'LM 7805 CT socket' });
    const titles = (await suggest('LM 7805 CT')).map(({ title }) => title).sort();
    expect(titles).toEqual(expect.arrayContaining(['LM 7805 CT socket', 'Voltage Regulator']));
    await call(service, { method: 'DELETE', path: pathOf(named), as: 'admin' });
  });

  test('an archived product and the former code of a variant are not found', async () => {
    const options = [{ name: 'Case', values: ['A', 'B'] }];
    const product = await addProduct(service, { name: 'Relay', options });
    const variant = await addVariant(product, { options: { Case: 'A' }, sku: 'RLY 5500 X' });
    const ids = async (more = '') => (await search('relay rly 5500 x', more)).hits.map(({ id }) => id);
    expect((await search('relay rly 5500 x')).meta.relaxed).toBeUndefined();
    const path = `${pathOf(product)}/variants/${variant.id}`;
    await call(service, { method: 'PATCH', path, as: 'admin', body: { sku: 'RLY 6600 X' } });
    expect((await search('relay rly 5500 x')).meta.relaxed).toContain('5500');
    await call(service, { method: 'PATCH', path, as: 'admin', body: { sku: 'RLY 5500 X' } });
    const ean = '9780201379624';
    const found: number[] = [];
    for (const gtin of [ean, null]) {
      await call(service, { method: 'PATCH', path, as: 'admin', body: { gtin } });
      // Twice, so that the next change finds a cached response.
      await search(ean);
      found.push((await search(ean)).hits.length);
    }
    expect(found).toEqual([1, 0]);
    await call(service, {
      method: 'PATCH',
      path: pathOf(product),
      as: 'admin',
      body: { status: 'archived' },
    });
    expect(await ids()).not.toContain(product.id);
    expect(await ids('&status=archived')).toEqual([product.id]);
    expect((await search('rly-5500-x', '&status=archived')).meta.relaxed).toBeUndefined();
  });
});
