/** Suggestions show the typed words before forms of them and before similar words. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct, awaitNames } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const shop = [
  { name: 'Leder Blau' },
  { name: 'Kinderschuhe Leder Blau' },
  { name: 'LED Bulb with a very long name, warm white, two in a box' },
  { name: 'Dimmable ceiling light of LED bulbs' },
  ...Array.from({ length: 25 }, (_, index) => ({ name: `Leder Beutel ${index}` })),
  ...Array.from({ length: 8 }, (_, index) => ({ name: `LED lamp ${index}` })),
  { name: 'Monitor', sku: 'MON-OLED-27', description: 'With an OLED panel' },
  { name: "Men's running shoes" },
  { name: '\ufdfa duo salon box' },
];

describeOnDatabases('suggestions of words and their forms on %s', kind => {
  let service: TestService;
  const suggest = async (query: string): Promise<{ words: string[]; products: string[] }> => {
    const path = `/v1/search/suggest?q=${encodeURIComponent(query)}`;
    const { body } = await call(service, { path, as: 'user' });
    return { words: body.words, products: body.products.map(({ title }: { title: string }) => title) };
  };

  beforeAll(async () => {
    service = await startTestService(kind);
    for (const product of shop) await addProduct(service, product);
    await awaitNames(service);
  });
  afterAll(() => service.stop());

  test('names with the exact words come first, and completions use only such names', async () => {
    const { words, products } = await suggest('led b');
    expect(products.slice(0, 2).sort()).toEqual([
      'Dimmable ceiling light of LED bulbs',
      'LED Bulb with a very long name, warm white, two in a box',
    ]);
    expect(products).toHaveLength(5);
    expect(words.sort()).toEqual(['led box', 'led bulb', 'led bulbs']);
    const alone = await suggest('led');
    expect(alone.products).toHaveLength(5);
    for (const title of alone.products) expect(title).toContain('LED');
  });

  test('no suggestion is longer than a query may be', async () => {
    // The sign is written out as four words.
    const [sign, once] = ['\ufdfa', 'صلي الله عليه وسلم '];
    expect((await suggest(`${sign} salo`)).words).toEqual([`${once}salon`]);
    expect((await suggest(`${`${sign} `.repeat(98)}salo`)).words).toEqual([]);
    const begun = 'duo '.repeat(49);
    expect((await suggest(`${begun}box`)).words).toEqual([`${begun}box`]);
    expect((await suggest(`${begun}salo`)).words).toEqual([]);
  });

  test('a word that a document has is not corrected', async () => {
    expect((await suggest('oled')).products).toEqual(['Monitor']);
    expect((await suggest('olad')).products).not.toEqual([]);
  });

  test('an apostrophe in the query is kept', async () => {
    expect((await suggest("men's")).words).toEqual([]);
    expect((await suggest("men's")).products).toEqual(["Men's running shoes"]);
    expect((await suggest("men's ru")).words).toEqual(["men's running"]);
  });
});

describeOnDatabases('suggestions from the search index on %s', kind => {
  test('also list names with the exact words first', async () => {
    await using service = await startTestService(kind);
    for (const product of shop) await addProduct(service, product);
    // Suggestions by name are not used for words that have synonyms.
    const body = { words: ['led', 'diode'] };
    await call(service, { method: 'POST', path: '/v1/search/synonyms', as: 'admin', body });
    const response = await call(service, { path: '/v1/search/suggest?q=led%20b', as: 'user' });
    const titles = response.body.products.map(({ title }: { title: string }) => title);
    expect(titles.slice(0, 2).sort()).toEqual([
      'Dimmable ceiling light of LED bulbs',
      'LED Bulb with a very long name, warm white, two in a box',
    ]);
  });
});
