/** Compounds are found by their parts, in other forms than their own, and find the same thing in several words. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { useNamedShop } from './named-shop.ts';

const shop = [
  'Lederhandschuhe Herren',
  'Lederhandschuhe Damen',
  'Leder Tasche',
  'Handschuhe warm',
  'Teekanne',
  'Wanduhren',
  'Wandfarbe',
  'Lederjacke schwarz',
  'Jacke aus Leder',
  'Schurwollpullover',
  'Pullover rot',
  'Hose aus Schurwolle',
  'Schlagbohrmaschine',
  'Programmable Thermostat',
];
const gloves = ['Lederhandschuhe Herren', 'Lederhandschuhe Damen'];

describeOnDatabases('compounds on %s', kind => {
  const search = useNamedShop(kind, shop);

  test.each([
    ['handschuhe', ['Handschuhe warm', ...gloves]],
    ['handschuh', ['Handschuhe warm', ...gloves]],
    ['handschuhen', ['Handschuhe warm', ...gloves]],
    // Forms that stand alone in no product.
    ['kannen', ['Teekanne']],
    ['uhr', ['Wanduhren']],
    // The compound itself, then the same thing in several words.
    ['lederjacke', ['Lederjacke schwarz', 'Jacke aus Leder']],
    ['lederjacken', ['Lederjacke schwarz', 'Jacke aus Leder']],
    // A typo in the last part of the compound, also in another form.
    ['bohrmaschiene', ['Schlagbohrmaschine']],
    ['bormaschine', ['Schlagbohrmaschine']],
    ['bohrmaschinnen', ['Schlagbohrmaschine']],
    // The first part has lost its last letter.
    ['pullover', ['Pullover rot', 'Schurwollpullover']],
  ])('%j finds %j', async (query, names) => {
    const { data } = await search(query);
    expect(data.map(({ title }: { title: string }) => title)).toEqual(names);
  });

  test.each(['leder handschuh', 'handschuh leder'])('%j finds compounds of both words first', async query => {
    const { data, meta } = await search(query);
    expect(data.slice(0, 2).map(({ title }: { title: string }) => title)).toEqual(gloves);
    expect(meta.relaxed).toBeUndefined();
  });

  test.each([
    ['bohrmaschiene', 'Schlagbohrmaschine', []],
    // A word with another first letter may be another word.
    ['zohrmaschine', 'Schlagbohrmaschine', ['zohrmaschine']],
  ])('%j finds %j, which lacks %j', async (query, title, missing) => {
    const { data } = await search(query);
    expect(data).toMatchObject([{ title, missing }]);
  });

  test('a short ending does not count as a typo', async () => {
    expect((await search('marble')).data).toEqual([]);
  });

  test('two words match a compound in which the first loses its last letter', async () => {
    const { data, meta } = await search('schurwolle pullover');
    expect([data[0].title, data[0].missing, meta.relaxed]).toEqual(['Schurwollpullover', [], undefined]);
  });
});
