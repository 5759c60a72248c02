/** Words of a query that only name an attribute or option: products need not have them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { startTestService, type TestService } from '../../../support/service/service.ts';

const toSizes = (...values: string[]) => [{ name: 'Size', values }];
const shop = [
  { name: 'Levin Jeans', options: toSizes('30', '32'), attributes: { colour: 'Blue' } },
  { name: 'Kestrel Jeans', options: toSizes('34'), attributes: { colour: 'Red' } },
  { name: 'Hat', description: 'One size fits all heads up to 32 years', attributes: { colour: 'Red' } },
  { name: 'Size Charts' },
  { name: 'Wall Charts' },
  { name: 'Haferflocken', attributes: { menge: 500, herkunft: 'Österreich' } },
  { name: 'Weizenmehl', attributes: { menge: 1000 } },
  { name: 'Runner', attributes: { shoe_size: 42 } },
  { name: 'Diver Watch', attributes: { strap: 'Leather' } },
  { name: 'Leather Strap', attributes: { colour: 'Brown' } },
  { name: 'Leather Wallet' },
  { name: 'Raincoat', attributes: { colour: 'Forest Green', weight_kg: 25 } },
  { name: 'Hair Cream for Women' },
  { name: 'Wall Mirror', attributes: { frame: 'Oak' } },
  { name: 'Picture Frame', attributes: { material: 'Oak' } },
  { name: 'Oak Table' },
  { name: 'Vitamin Drops', description: 'Take 2 of them' },
  { name: 'Платье', options: [{ name: 'Цвет', values: ['Красный', 'Синий'] }] },
  { name: 'Платье летнее', options: [{ name: 'Цвет', values: ['Белый'] }] },
  { name: 'Diwan', attributes: { farbe: 'Weiß' } },
  { name: 'Diwan', attributes: { farbe: 'Grünblau' } },
  { name: 'Regal', attributes: { holz: 'Süßkirsche' } },
  { name: 'シャツ', options: [{ name: 'サイズ', values: ['LL', '38'] }] },
];

interface Scenario {
  readonly query: string;
  /** The titles that have all words. */
  readonly whole: readonly string[];
  readonly relaxed?: readonly string[];
}

const scenarios: readonly Scenario[] = [
  { query: 'jeans size 32', whole: ['Levin Jeans'] },
  { query: 'size 32 jeans', whole: ['Levin Jeans'] },
  { query: 'jeans 32 size', whole: ['Levin Jeans'] },
  { query: 'jeans sizes 32', whole: ['Levin Jeans'] },
  { query: 'jeans: size=34, color=red', whole: ['Kestrel Jeans'] },
  { query: 'red colour jeans', whole: ['Kestrel Jeans'] },
  // Keys of several words, and labels.
  { query: 'runner shoe size 42', whole: ['Runner'] },
  { query: 'runner size 42', whole: ['Runner'] },
  { query: 'haferflocken füllmenge 500', whole: ['Haferflocken'] },
  { query: 'haferflocken fuellmenge 500g', whole: ['Haferflocken'] },
  { query: 'haferflocken menge 500 gramm', whole: ['Haferflocken'] },
  { query: 'haferflocken herkunft österreich', whole: ['Haferflocken'] },
  // Names in other scripts.
  { query: 'платье цвет красный', whole: ['Платье'] },
  { query: 'белый цвет платье', whole: ['Платье летнее'] },
  { query: 'シャツ サイズ LL', whole: ['シャツ'] },
  { query: 'シャツ さいず 38', whole: ['シャツ'] },
  // German letters typed as two.
  { query: 'diwan farbe weiss', whole: ['Diwan'] },
  { query: 'diwan farbe gruenblau', whole: ['Diwan'] },
  { query: 'regal holz suesskirsche', whole: ['Regal'] },
  { query: 'regal holz süsskirsche', whole: ['Regal'] },
  { query: 'regal holz süßkirsche', whole: ['Regal'] },
  // Another unit is another measure.
  { query: 'haferflocken menge 500 ml', whole: [], relaxed: ['ml'] },
  // Not beside a value, the word says what is searched for.
  { query: 'size charts', whole: ['Size Charts'] },
  { query: 'colour charts', whole: [], relaxed: ['colour'] },
  { query: 'jeans size', whole: [], relaxed: ['size'] },
  // Nor at the end, after a value in letters.
  { query: 'leather strap', whole: ['Leather Strap'] },
  { query: 'jeans size 36', whole: [], relaxed: ['size', '36'] },
  // Nor where it is in the title of a thing with all the other words.
  { query: 'frame oak', whole: ['Picture Frame'] },
  { query: 'mirror frame oak', whole: ['Wall Mirror'] },
  // Words that values only begin with by chance, and a number that other numbers begin with.
  { query: 'colour for women', whole: [], relaxed: ['colour'] },
  { query: 'drops 2 kg', whole: [], relaxed: ['kg'] },
  { query: 'jeans size 3', whole: [], relaxed: ['size', '3'] },
];

describeOnDatabases('names of attributes in queries on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const product of shop) await addProduct(service, product);
    await define({ key: 'menge', label: 'Füllmenge', type: 'number', unit: 'g' });
  });
  afterAll(() => service.stop());

  const define = async (body: object) => {
    const { status } = await call(service, { method: 'POST', path: '/v1/attributes', as: 'admin', body });
    expect(status).toBe(201);
  };
  const search = async (query: string, more = '') => {
    const path = `/v1/search?q=${encodeURIComponent(query)}${more}`;
    const { body } = await call(service, { path, as: 'user' });
    const hits: readonly { title: string; missing: readonly string[] }[] = body.data;
    const whole = hits.filter(({ missing }) => missing.length === 0).map(({ title }) => title);
    return { whole, hits, meta: body.meta };
  };

  test.each([...scenarios])('$query', async ({ query, whole, relaxed }) => {
    const found = await search(query);
    expect(found.whole).toEqual([...whole]);
    expect(found.hits.slice(0, whole.length).map(({ title }) => title)).toEqual([...whole]);
    expect(found.meta.relaxed).toEqual(relaxed);
  });

  test('orders, filters and facets see the same hits', async () => {
    expect(
      (await search('colour red', '&sort=name&facets=attr.colour')).hits.map(({ title }) => title),
    ).toEqual(['Hat', 'Kestrel Jeans']);
    expect((await search('colour red', '&attr.size=34')).whole).toEqual(['Kestrel Jeans']);
  });

  test('a number that is being typed may be the beginning of a value', async () => {
    const path = '/v1/search/suggest?q=runner%20size%204';
    const { body } = await call(service, { path, as: 'user' });
    expect(body.products).toMatchObject([{ title: 'Runner', missing: ['4'] }]);
  });

  test('attributes and labels count as of the last change', async () => {
    const lamp = { name: 'Desk Lamp', attributes: { watt: 60 } };
    expect((await search('lamp power 60')).whole).toEqual([]);
    await addProduct(service, lamp);
    expect((await search('lamp watt 60')).whole).toEqual(['Desk Lamp']);
    expect((await search('lamp power 60')).whole).toEqual([]);
    await define({ key: 'watt', label: 'Power', type: 'number', unit: 'W' });
    expect((await search('lamp power 60')).whole).toEqual(['Desk Lamp']);
  });
});
