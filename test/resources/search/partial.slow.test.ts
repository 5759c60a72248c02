/** Searches whose hits lack words: which of them filters, facets and sorting include. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const brands = ['Arbor', 'Northpeak', 'Ferrex', 'Glimmer'] as const;
const shop = [
  { name: 'Womens running shoes', price: 90, brand: 'Arbor' },
  { name: 'Running shoes for the womens team', price: 80, brand: 'Northpeak' },
  ...Array.from({ length: 72 }, (_, index) => ({
    name: `${index % 3 === 0 ? 'Running shoes' : index % 3 === 1 ? 'Hiking shoes' : 'Running socks'} ${index}`,
    price: 10 + index / 2,
    brand: brands[index % brands.length] ?? 'Arbor',
    attributes: { colour: index % 5 === 0 ? 'red' : 'blue' },
  })),
  { name: 'Kettle', price: 30, brand: 'Nordhaus', description: 'Stands by the running tap' },
];

interface FacetValue {
  readonly value: string;
  readonly count: number;
}

describeOnDatabases('searches with hits for some of the words on %s', kind => {
  let service: TestService;
  const ask = async (query: string) => {
    const { status, body } = await call(service, { path: `/v1/search?${query}`, as: 'user' });
    expect(status).toBe(200);
    return body;
  };

  beforeAll(async () => {
    service = await startTestService(kind);
    for (const product of shop) await addProduct(service, product);
  });
  afterAll(() => service.stop());

  const faceted: readonly (readonly [query: string, facet: string])[] = [
    ['q=womens+running+shoes', 'brand'],
    ['q=womens+running+shoes&brand=Northpeak', 'brand'],
    ['q=womens+running+shoes&brand=Nordhaus', 'brand'],
    ['q=womens+running+shoes&attr.colour=red', 'brand'],
    ['q=womens+running+shoes&attr.colour=red&brand=Ferrex', 'attr.colour'],
    ['q=unknownword+running+shoes&brand=Arbor', 'brand'],
    ['q=womens+running+shoes&sort=price', 'brand'],
    ['q=womens+running+shoes&sort=price&brand=Glimmer', 'brand'],
    ['q=running&brand=Arbor', 'brand'],
  ];
  test.each(['shoes kettle', 'shoes kettl', 'unknownword shoes kettle'])(
    '%j finds what has its last, rare word before what has only the common one',
    async query => {
      const { data, meta } = await ask(`q=${encodeURIComponent(query)}&perPage=1`);
      expect([data[0].title, meta.relaxed]).toEqual(['Kettle', query.split(' ').slice(0, -1)]);
    },
  );

  test.each([...faceted])(
    '%s counts as many of each %s as the search with it finds',
    async (query, facet) => {
      const { meta } = await ask(`${query}&facets=${facet}`);
      const values: readonly FacetValue[] = meta.facets[facet];
      const others = query.split('&').filter(part => !part.startsWith(`${facet}=`));
      const totals: FacetValue[] = [];
      for (const { value } of values) {
        const narrowed = await ask([...others, `${facet}=${value}`].join('&'));
        totals.push({ value, count: narrowed.meta.total });
      }
      expect(values.length).toBeGreaterThan(0);
      expect(totals).toEqual([...values]);
      const own = query.split('&').find(part => part.startsWith(`${facet}=`));
      if (own === undefined) return;
      expect(values).toContainEqual({ value: own.slice(facet.length + 1), count: meta.total });
    },
  );

  test('filters remove hits and add none, unless no hit matches them', async () => {
    const { meta, data } = await ask('q=womens+running+shoes&facets=brand&perPage=100');
    expect(data.length).toBe(meta.total);
    const sum = meta.facets.brand.reduce((total: number, { count }: FacetValue) => total + count, 0);
    expect(sum).toBe(meta.total);
    const kettle = await ask('q=womens+running+shoes&brand=Nordhaus');
    expect(kettle.data.map(({ title }: { title: string }) => title)).toEqual(['Kettle']);
    expect(kettle.meta.relaxed).toEqual(['womens', 'shoes']);
  });

  test('a sorted search has hits with all words, and hits with some only where none has all', async () => {
    const whole = await ask('q=womens+running+shoes&sort=price');
    expect(whole.data.map(({ price }: { price: number }) => price)).toEqual([80, 90]);
    expect(whole.meta.total).toBe(2);
    expect(whole.meta.relaxed).toBeUndefined();
    const unknown = await ask('q=unknownword+running+shoes&sort=price&perPage=100');
    expect(unknown.meta.relaxed).toEqual(['unknownword']);
    const prices = unknown.data.map(({ price }: { price: number }) => price);
    expect(prices.length).toBeGreaterThan(20);
    expect(prices).toEqual(prices.toSorted((one: number, other: number) => one - other));
    // A filler word may be missing.
    const filler = await ask('q=shoes+for+running&sort=price');
    expect(filler.meta.total).toBeGreaterThan(20);
  });
});

describeOnDatabases('hits that only resemble a word on %s', kind => {
  test('come after hits that have another word, however many there are', async () => {
    await using service = await startTestService(kind);
    const shoes = ['Puma Suede Classic', 'Suede Boots', 'Suede Loafers', 'Suede Slippers'];
    for (const name of shoes) await addProduct(service, { name });
    for (let index = 0; index < 60; index += 1)
      await addProduct(service, { name: `Luminária ${index}`, description: 'Para uma mesa elegante' });
    const { body } = await call(service, { path: '/v1/search?type=product&q=puma+suede', as: 'user' });
    const titles: string[] = body.data.map(({ title }: { title: string }) => title);
    expect(titles[0]).toBe('Puma Suede Classic');
    expect(titles.slice(0, shoes.length).toSorted()).toEqual(shoes);
    expect(body.data[shoes.length].missing).toEqual(['puma', 'suede']);
  });

  test('come after hits that have another word, even if that is more common', async () => {
    await using service = await startTestService(kind);
    for (let index = 0; index < 30; index += 1) await addProduct(service, { name: `Ribbon ${index}` });
    for (let index = 0; index < 40; index += 1) await addProduct(service, { name: `Shoes ${index}` });
    const { body } = await call(service, { path: '/v1/search?q=ribon+shoes', as: 'user' });
    expect(body.data[0].missing).toEqual(['ribon']);
  });
});
