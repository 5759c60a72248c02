/** Shops in other languages than English and German: elisions, compounds, prices and units as shoppers write them. */
import { expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

async function search(service: TestService, query: string) {
  const path = `/v1/search?type=product&q=${encodeURIComponent(query)}`;
  const { body } = await call(service, { path, as: 'user' });
  const titles = body.data.map(({ title }: { title: string }) => title);
  return { titles, relaxed: body.meta.relaxed, corrected: body.meta.corrected };
}

const complete = { relaxed: undefined, corrected: undefined };

describeOnDatabases('searches in other languages on %s', kind => {
  test.each(['fr,it', 'en,de'])('find words after an elided article (%s)', async languages => {
    await using service = await startTestService(kind, { SEARCH_LANGUAGES: languages });
    const names = [
      'Huile de tournesol',
      'Vin rosé de printemps',
      'Olio di semi',
      'Acqua minerale',
      'Loreal Gel',
    ];
    for (const name of names) await addProduct(service, { name });
    for (const [query, title] of [
      ["l'huile", 'Huile de tournesol'],
      ['l’huile tournesol', 'Huile de tournesol'],
      ["d'printemps", 'Vin rosé de printemps'],
      ["l'olio", 'Olio di semi'],
      ["dell'acqua", 'Acqua minerale'],
      ["l'oréal", 'Loreal Gel'],
    ] as const)
      expect([query, await search(service, query)]).toEqual([query, { titles: [title], ...complete }]);
  });

  test.each([
    [
      'sv',
      ['Vinterjacka', 'Stekpanna', 'Trädgårdsstol', 'Bordslampa', 'Stövlar', 'Lådor'],
      [
        ['jackor', 'Vinterjacka'],
        ['pannor', 'Stekpanna'],
        ['stolar', 'Trädgårdsstol'],
        ['lampor', 'Bordslampa'],
        ['stövel', 'Stövlar'],
      ],
    ],
    [
      'da',
      ['Vinterjakke', 'Stegepande', 'Bordlampe', 'Puder', 'Møbler'],
      [
        ['jakker', 'Vinterjakke'],
        ['pander', 'Stegepande'],
        ['lamper', 'Bordlampe'],
        ['møbel', 'Møbler'],
      ],
    ],
    [
      'nl',
      ['Kinderfiets', 'Opbergdoos', 'Tuinstoel', 'Koekenpan'],
      [
        ['kinderfietsen', 'Kinderfiets'],
        ['fietsen', 'Kinderfiets'],
        ['dozen', 'Opbergdoos'],
        ['stoel tuin', 'Tuinstoel'],
      ],
    ],
  ] as const)('find compounds by forms of their last word (%s)', async (language, names, queries) => {
    await using service = await startTestService(kind, { SEARCH_LANGUAGES: language });
    for (const name of names) await addProduct(service, { name });
    for (const [query, title] of queries)
      expect([query, await search(service, query)]).toEqual([query, { titles: [title], ...complete }]);
  });

  test('recognize languages that compound words by texts, whatever the setting', async () => {
    await using service = await startTestService(kind);
    await addProduct(service, { name: 'Tuinstoel', description: 'Ideaal voor het terras.' });
    await addProduct(service, { name: 'Tuinslang' });
    expect(await search(service, 'stoel tuin')).toEqual({ titles: ['Tuinstoel'], ...complete });
  });

  test('do not require prices and other names of units', async () => {
    await using service = await startTestService(kind);
    for (const name of ['Botas', 'Olio 0,5 l', 'Televisor 55 pulgadas', 'Jacka', 'Oude jas'])
      await addProduct(service, { name });
    for (const [query, title] of [
      ['botas por menos de 50 euros', 'Botas'],
      ['botas hasta 50', 'Botas'],
      ['botas moins de 50 euros', 'Botas'],
      ['botas sotto i 50 euro', 'Botas'],
      ['under 500 kr jacka', 'Jacka'],
      ['jacka upp till 500 kronor', 'Jacka'],
      ['jas tot 50 euro', 'Oude jas'],
      ['jas unter 50 fr', 'Oude jas'],
      ['olio 0,5 litri', 'Olio 0,5 l'],
      ['televisor 55"', 'Televisor 55 pulgadas'],
    ] as const) {
      const { titles, relaxed } = await search(service, query);
      expect([query, titles[0], (relaxed ?? []).filter((word: string) => word !== 'por')]).toEqual([
        query,
        title,
        [],
      ]);
    }
  });
});
