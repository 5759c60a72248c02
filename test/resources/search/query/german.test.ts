/** German words as shoppers type them: umlauts as two letters, plurals, and parts of compounds. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { useNamedShop } from './named-shop.ts';

const shop = [
  'Bürostuhl mit Rollen',
  'Küchenmesser',
  'Stichsäge',
  'Sägeblatt für Metall',
  'Visage Creme',
  'Ölkanne',
  'Dinkel Nudeln',
  'Nudel-Set',
  'Speisekartoffeln mehlig',
  'Akku-Bohrschrauber',
  'Schrank und Schrauben',
  'Kinderfahrrad',
  'Rad mit Korb',
  'Blu-ray Film',
  'Shorts',
  'Herrenhemd bügelfrei',
  'Teller mit Rand',
  'LED Lampe',
];

describeOnDatabases('German words on %s', kind => {
  const search = useNamedShop(kind, shop);
  const getTitles = (data: readonly { title: string }[]) => data.map(({ title }) => title);

  test.each([
    ['buero', ['Bürostuhl mit Rollen']],
    ['kueche', ['Küchenmesser']],
    ['saege', ['Stichsäge', 'Sägeblatt für Metall']],
    ['nudel dinkel', ['Dinkel Nudeln']],
    ['kartoffel mehlig', ['Speisekartoffeln mehlig']],
    ['räder korb', ['Rad mit Korb']],
    ['hemd herren bügelfrei', ['Herrenhemd bügelfrei']],
    ['hemden herren bügelfrei', ['Herrenhemd bügelfrei']],
  ])('%j finds %j with all words', async (query, names) => {
    const { data } = await search(query);
    const whole = data.filter(({ missing }: { missing: readonly string[] }) => missing.length === 0);
    expect(getTitles(whole).sort()).toEqual(names);
  });

  // Two letters begin many words, a plural in -er may be a person, and a compound shares only a part. Three letters
  // before -er are another word.
  test.each([
    ['oel', ['Ölkanne']],
    ['fahrräder', ['Kinderfahrrad']],
    ['akkuschrauber', ['Akku-Bohrschrauber']],
    ['leder', ['LED Lampe']],
  ])('%j guesses %j', async (query, names) => {
    const { data, meta } = await search(query);
    expect(getTitles(data)).toEqual(names);
    expect(meta.relaxed).toHaveLength(1);
  });

  test('an English word that ends with two vowels has no umlaut', async () => {
    expect(getTitles((await search('shoe')).data)).toEqual([]);
  });
});
