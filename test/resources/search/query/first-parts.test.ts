/** First parts of German compounds, what umlauts are written as in two words, and brands that end with a word. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { startTestService, type TestService } from '../../../support/service/service.ts';

describeOnDatabases('parts of compounds on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    const filler = 'Für den Haushalt, mit Sorgfalt und aus der Region.';
    await addProduct(service, { name: 'Erdbeerkonfitüre Extra', tags: ['marmelade'], description: filler });
    await addProduct(service, { name: 'Hausschuhe Filz', brand: 'Giesswein', description: filler });
    await addProduct(service, { name: 'Primitivo trocken', tags: ['rotwein'], description: filler });
    await addProduct(service, { name: 'Riesling Weingut', tags: ['wein'], description: filler });
    for (const name of ['Ölfilter W 712', 'Luftfilter C 30']) await addProduct(service, { name });
  });
  afterAll(() => service.stop());
  const search = async (query: string) =>
    (await call(service, { path: `/v1/search?q=${encodeURIComponent(query)}`, as: 'user' })).body.data;

  test.each([
    ['erdbeeren', 'Erdbeerkonfitüre Extra'],
    ['erdbeer marmelade', 'Erdbeerkonfitüre Extra'],
    ['oel filter', 'Ölfilter W 712'],
    ['oelfilter', 'Ölfilter W 712'],
    ['giesswein', 'Hausschuhe Filz'],
  ])('%j finds %j with all words', async (query, name) => {
    expect((await search(query))[0]).toMatchObject({ title: name, missing: [] });
  });

  test.each(['wein', 'weine'])('%j does not mean a brand that ends with it', async query => {
    const titles = (await search(query))
      .filter(({ missing }: { missing: string[] }) => missing.length === 0)
      .map(({ title }: { title: string }) => title);
    expect(titles).toEqual(['Riesling Weingut', 'Primitivo trocken']);
  });
});
