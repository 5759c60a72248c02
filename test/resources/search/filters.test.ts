/** Filters, sorts and facets of searches: the same as those of lists of products. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, awaitNames } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const shop = [
  {
    name: 'Oak lamp',
    price: 30,
    brand: 'Glimmer',
    category: 'Lighting > Lamps',
    attributes: { colour: 'red' },
    sku: 'OAK-1',
    gtin: '4006381333931',
    externalId: 'erp-7',
  },
  {
    name: 'Pine lamp',
    price: 20,
    brand: 'Glimmer',
    category: 'Lighting > Lamps',
    attributes: { colour: 'blue' },
  },
  { name: 'Steel lamp', price: 10, brand: 'Ferrex', category: 'Lighting', attributes: { colour: 'red' } },
  { name: 'Lamp oil', price: 5, brand: 'Ferrex', category: 'Garden', tags: ['sale'] },
  { name: 'Old lamp', price: 1, status: 'archived', brand: 'Glimmer' },
  { name: 'Oak table', price: 90, brand: 'Nordhaus', category: 'Tables' },
] as const;

const namesOf = ({ data }: { data: { title: string }[] }) => data.map(({ title }) => title);

describeOnDatabases('searches with filters on %s', kind => {
  let service: TestService;
  const ask = (query: string, as: 'user' | 'editor' | 'admin' = 'user') =>
    call(service, { path: `/v1/search?${query}`, as });

  beforeAll(async () => {
    service = await startTestService(kind);
    for (const product of shop) await addProduct(service, product);
    const article = { title: 'Lamp care', body: 'Dust it.', tags: [] };
    await call(service, { method: 'POST', path: '/v1/articles', as: 'editor', body: article });
  });
  afterAll(() => service.stop());

  const found: readonly (readonly [query: string, names: readonly string[]])[] = [
    ['q=lamp&type=product', ['Lamp oil', 'Oak lamp', 'Pine lamp', 'Steel lamp']],
    ['q=lamp&brand=Glimmer', ['Oak lamp', 'Pine lamp']],
    ['q=lamp&maxPrice=10', ['Lamp oil', 'Steel lamp']],
    ['q=lamp&minPrice=10&maxPrice=20', ['Pine lamp', 'Steel lamp']],
    ['q=lamp&tag=sale', ['Lamp oil']],
    ['q=lamp&attr.colour=red', ['Oak lamp', 'Steel lamp']],
    ['q=lamp&attr.colour=red&brand=Ferrex', ['Steel lamp']],
    ['q=lamp&available=false', []],
    ['q=lamp&brand=Nobody', []],
    ['q=lamp&sku=OAK-1', ['Oak lamp']],
    ['q=table&sku=OAK-1', []],
    ['q=lamp&sku=NONE', []],
    ['q=lamp&gtin=04006381333931', ['Oak lamp']],
    ['q=lamp&externalId=erp-7', ['Oak lamp']],
    ['q=lamp&externalId=erp-7&brand=Ferrex', []],
    // Hits with all words come before hits with some, even among those that match the filters.
    ['q=oak%20lamp&brand=Ferrex', ['Lamp oil', 'Steel lamp']],
  ];
  test.each([...found])('%s finds %j', async (query, names) => {
    const { status, body } = await ask(query);
    expect(status).toBe(200);
    expect(namesOf(body).sort()).toEqual([...names]);
    expect(body.meta.total).toBe(names.length);
    expect(body.meta.facets.product).toBe(names.length);
  });

  test('the sku of a variant finds its product, until the sku changes', async () => {
    const options = [{ name: 'Size', values: ['M'] }];
    const product = await addProduct(service, { name: 'Linen shade', price: 8, options });
    const path = `/v1/products/${product.id}/variants`;
    const body = { sku: 'SHADE-M', options: { Size: 'M' } };
    const variant = await call(service, { method: 'POST', path, as: 'admin', body });
    const names = async (sku: string) => namesOf((await ask(`q=shade&sku=${sku}`)).body);
    expect(await names('SHADE-M')).toEqual(['Linen shade']);
    const change = { method: 'PATCH', path: `${path}/${variant.body.id}`, as: 'admin' } as const;
    expect((await call(service, { ...change, body: { sku: 'SHADE-2' } })).status).toBe(200);
    expect(await names('SHADE-M')).toEqual([]);
    expect(await names('SHADE-2')).toEqual(['Linen shade']);
  });

  const sorted: readonly (readonly [query: string, names: readonly string[]])[] = [
    ['q=lamp&sort=price', ['Lamp oil', 'Steel lamp', 'Pine lamp', 'Oak lamp']],
    ['q=lamp&sort=price&order=desc', ['Oak lamp', 'Pine lamp', 'Steel lamp', 'Lamp oil']],
    ['q=lamp&sort=name&brand=Glimmer', ['Oak lamp', 'Pine lamp']],
  ];
  test.each([...sorted])('%s is %j, by pages and cursors', async (query, names) => {
    expect(namesOf((await ask(query)).body)).toEqual([...names]);
    const paged: string[] = [];
    for (let page = 1; page <= names.length; page++)
      paged.push(...namesOf((await ask(`${query}&perPage=1&page=${page}`)).body));
    expect(paged).toEqual([...names]);
    const forwards: string[] = [];
    let response = await ask(`${query}&limit=1`);
    for (;;) {
      forwards.push(...namesOf(response.body));
      if (response.body.meta.nextCursor === null) break;
      response = await ask(`${query}&limit=1&cursor=${response.body.meta.nextCursor}`);
    }
    expect(forwards).toEqual([...names]);
    const back = await ask(`${query}&limit=1&cursor=${response.body.meta.prevCursor}`);
    expect(namesOf(back.body)).toEqual(names.slice(-2, -1));
  });

  test('facets count the products found, each without its own filter', async () => {
    const { body } = await ask('q=lamp&facets=brand,attr.colour,price&brand=Glimmer');
    expect(namesOf(body).sort()).toEqual(['Oak lamp', 'Pine lamp']);
    expect(body.meta.facets).toMatchObject({
      product: 2,
      brand: [
        { value: 'Ferrex', count: 2 },
        { value: 'Glimmer', count: 2 },
      ],
      'attr.colour': [
        { value: 'blue', count: 1 },
        { value: 'red', count: 1 },
      ],
      price: { min: 20, max: 30 },
    });
  });

  test('only staff find archived products, and only with status=archived', async () => {
    for (const as of ['editor', 'admin'] as const) {
      expect(namesOf((await ask('q=lamp&status=archived', as)).body)).toEqual(['Old lamp']);
      expect(namesOf((await ask('q=lamp', as)).body)).not.toContain('Old lamp');
    }
    await play(service, {
      name: 'a user',
      path: '/v1/search?q=lamp&status=archived',
      as: 'user',
      status: 403,
      error: 'FORBIDDEN',
    });
    const oil = (await ask('q=oil')).body.data[0];
    const patch = (status: string) =>
      call(service, { method: 'PATCH', path: `/v1/products/${oil.id}`, as: 'editor', body: { status } });
    await patch('archived');
    expect(namesOf((await ask('q=oil')).body)).toEqual([]);
    expect(namesOf((await ask('q=oil&status=archived', 'editor')).body)).toEqual(['Lamp oil']);
    await patch('active');
    expect(namesOf((await ask('q=oil')).body)).toEqual(['Lamp oil']);
    expect(namesOf((await ask('q=oil&status=archived', 'editor')).body)).toEqual([]);
  });

  test('words, categories and products are suggested for the beginning of a word', async () => {
    const suggest = async (query: string) =>
      (await call(service, { path: `/v1/search/suggest?q=${query}`, as: 'user' })).body;
    await awaitNames(service);
    const lamps = await suggest('la');
    // Words of category names appear as categories, not as words.
    expect(lamps.words).toEqual(['lamp']);
    expect(lamps.categories.map(({ path }: { path: string }) => path)).toEqual(['Lighting > Lamps']);
    expect(namesOf({ data: lamps.products }).sort()).toEqual([
      'Lamp oil',
      'Oak lamp',
      'Pine lamp',
      'Steel lamp',
    ]);
    expect((await suggest('oak%20la')).words[0]).toBe('oak lamp');
    await addProduct(service, { name: 'Müller Straßenlampe grün' });
    for (const [typed, words] of [
      ['müll', 'müller'],
      ['MUL', 'müller'],
      ['muller stra', 'müller straßenlampe'],
      ['Straßenlampe g', 'straßenlampe grün'],
    ] as const)
      expect([typed, (await suggest(encodeURIComponent(typed))).words]).toEqual([typed, [words]]);
    expect(await suggest('xyz')).toEqual({ words: [], categories: [], products: [] });
    const own = await call(service, { path: new URL(lamps.categories[0].url).pathname, as: 'user' });
    expect(own.body.name).toBe('Lamps');
    const path = '/v1/search/suggest?q=%20';
    await play(service, { name: 'a blank q', path, as: 'user', status: 400, problems: [['q', 'blank']] });
  });

  const refused: readonly (readonly [name: string, query: string, field: string, rule: string])[] = [
    ['a filter of products for articles', 'q=lamp&type=article&brand=Glimmer', 'brand', 'product'],
    ['a sort that there is none of', 'q=lamp&sort=size', 'sort', 'enum'],
    ['a price that is none', 'q=lamp&minPrice=cheap', 'minPrice', 'pattern'],
    ['a facet that there is none of', 'q=lamp&facets=shape', 'facets', 'enum'],
  ];
  test.each([...refused])('refuses %s', async (name, query, field, rule) => {
    await play(service, {
      name,
      path: `/v1/search?${query}`,
      as: 'user',
      status: 400,
      problems: [[field, rule]],
    });
  });

  test('a cached search counts the current products outside its filters', async () => {
    const make = (name: string, category: string) =>
      addProduct(service, { name, category, description: 'Of basalt.' });
    await make('Basalt tile', 'Stone');
    await make('Basalt bowl', 'Stone');
    const removed = await make('Basalt vase and slate', 'Decoration');
    const read = (others: string) => ask(`q=basalt+slate&category=Stone&facets=category${others}`);
    for (let count = 0; count < 3; count++) expect((await read('')).body.data.length).toBe(2);
    for (const change of [
      () => make('Basalt pot', 'Decoration'),
      () => call(service, { method: 'DELETE', path: `/v1/products/${removed.id}`, as: 'editor' }),
    ]) {
      await change();
      const [again, first] = [(await read('')).body, (await read('&perPage=20')).body];
      expect([again.data, again.meta]).toEqual([first.data, first.meta]);
    }
  });
});
