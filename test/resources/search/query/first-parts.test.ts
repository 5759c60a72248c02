/** First parts of German compounds, umlauts written as two letters, and brands that end with a word. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { useNamedShop } from './named-shop.ts';

const description = 'Für den Haushalt, mit Sorgfalt und aus der Region.';
const shop = [
  { name: 'Erdbeerkonfitüre Extra', tags: ['marmelade'], description },
  { name: 'Hausschuhe Filz', brand: 'Giesswein', description },
  { name: 'Primitivo trocken', tags: ['rotwein'], description },
  { name: 'Riesling Weingut', tags: ['wein'], description },
  { name: 'Konfitüre Aprikose', description },
  'Ölfilter W 712',
  'Luftfilter C 30',
];

describeOnDatabases('parts of compounds on %s', kind => {
  const searchShop = useNamedShop(kind, shop);
  const search = async (query: string) => (await searchShop(query)).data;

  test.each([
    ['erdbeeren', 'Erdbeerkonfitüre Extra'],
    ['erdbeer marmelade', 'Erdbeerkonfitüre Extra'],
    ['oel filter', 'Ölfilter W 712'],
    ['oelfilter', 'Ölfilter W 712'],
    ['giesswein', 'Hausschuhe Filz'],
  ])('%j finds %j with all words', async (query, name) => {
    expect((await search(query))[0]).toMatchObject({ title: name, missing: [] });
  });

  test('a first part is shown as a guess if it is a word or begins a compound of words', async () => {
    const [hit] = await search('erdbeeraufstrich');
    expect(hit).toMatchObject({ title: 'Erdbeerkonfitüre Extra', missing: ['erdbeeraufstrich'] });
    expect(await search('erdbebensicher')).toEqual([]);
  });

  test.each(['wein', 'weine'])('%j does not find a brand that ends with it', async query => {
    const titles = (await search(query))
      .filter(({ missing }: { missing: string[] }) => missing.length === 0)
      .map(({ title }: { title: string }) => title);
    expect(titles).toEqual(['Riesling Weingut', 'Primitivo trocken']);
  });
});
