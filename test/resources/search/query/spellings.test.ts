/** One word or measure in different spellings: British and American English, another unit, a pack. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { useNamedShop } from './named-shop.ts';

const shop = [
  'Colouring Pencils',
  'Moisture Lotion',
  'Hand Moisturiser',
  'Jewelry Box',
  'Gray Tyres',
  'Torwarthandschuhe',
  'Tour Map',
  'Shampoo 1000ml',
  'Shampoo 250 ml',
  'Sprudel 0,5 l',
  'Sprudel 0.75l',
  'Mehl 1 kg',
  'Razor Blades 8s',
  'Razor Blades 4s',
  'Klingen 8er Pack',
  'Klingen 4er Pack',
  'Écran 27 pouces',
  'Farine 500 g',
  'Lighthouse Painting',
];

describeOnDatabases('words and measures in other spellings on %s', kind => {
  const search = useNamedShop(kind, shop);

  test.each([
    ['coloring pencils', 'Colouring Pencils'],
    ['color pencil', 'Colouring Pencils'],
    ['moisturizer', 'Hand Moisturiser'],
    ['moisturizing', 'Hand Moisturiser'],
    ['jewellery boxes', 'Jewelry Box'],
    ['grey tires', 'Gray Tyres'],
    ['shampoo 1l', 'Shampoo 1000ml'],
    ['shampoo 1 litre', 'Shampoo 1000ml'],
    ['shampoo 0,25 l', 'Shampoo 250 ml'],
    ['sprudel 500 ml', 'Sprudel 0,5 l'],
    ['sprudel 750ml', 'Sprudel 0.75l'],
    ['mehl 1000 g', 'Mehl 1 kg'],
    ['razor blades 8', 'Razor Blades 8s'],
    ['8 razor blades', 'Razor Blades 8s'],
    ['klingen 8 stück', 'Klingen 8er Pack'],
    ['klingen 8 stk', 'Klingen 8er Pack'],
    ['écran 27"', 'Écran 27 pouces'],
    ['farine 500 grammes', 'Farine 500 g'],
    ['what is a jewellery box', 'Jewelry Box'],
  ])('%j finds %j first, with all words', async (query, name) => {
    const { data, meta } = await search(query);
    expect(data[0]).toMatchObject({ title: name, missing: [] });
    expect(meta.relaxed).toBeUndefined();
  });

  test('where the catalog is not German, words in another order are not a compound', async () => {
    expect((await search('light house painting')).data[0].missing).toEqual([]);
    expect((await search('house light painting')).data[0].missing).toEqual(['light']);
  });

  test('words that only end alike are not the same', async () => {
    const { data } = await search('tor');
    expect(data.map(({ title }: { title: string }) => title)).toEqual(['Torwarthandschuhe']);
  });
});
