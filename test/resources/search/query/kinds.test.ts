/**
 * A search for a kind of thing, or for a name: things of that kind, by the last name of their category, come before
 * accessories, and the thing of just that name before all others.
 */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { useNamedShop } from './named-shop.ts';

const shop = [
  { name: 'Laptop Sleeve 15', category: 'Computers > Laptop Sleeves' },
  { name: 'Laptop Charger', category: 'Computers > Chargers' },
  { name: 'Nordbook X1 Carbon', category: 'Computers > Laptops' },
  { name: 'Gaming Laptop Pro', category: 'Computers > Laptops' },
  { name: 'Tischdecke rund', category: 'Heimtextilien > Tischdecken' },
  { name: 'Eiche massiv 180', category: 'Möbel > Schreibtische und Tische' },
  { name: 'Tablett für den Tisch', category: 'Küche > Tabletts' },
  { name: 'Filter paper for coffee machines', category: 'Kitchen > Filters' },
  { name: 'Barista Pro 3000', category: 'Kitchen > Kettles & Coffee Machines' },
  {
    name: 'Nova 15 Pro',
    sku: 'NOVA15P',
    tags: ['nova', '15'],
    description: 'The Nova 15 is faster than ever.',
  },
  { name: 'Case for Nova 15', brand: 'Nova', tags: ['nova 15'], description: 'Fits each Nova 15.' },
  { name: 'Rice Cooker Lid 18', brand: 'Kuma', category: 'Kitchen > Lids' },
  { name: 'Zojin Duo 18', brand: 'Kuma', category: 'Kitchen > Rice Cookers' },
  { name: 'TV Bracket', category: 'Electronics > Brackets' },
  { name: 'Ultra HD 55', category: 'Electronics > TVs' },
  { name: 'Coat Brush' },
  { name: 'Faux Fur Coat' },
  { name: 'Spout Cleaner Powder Lemon Bag Large' },
  { name: 'Bottle Pour Oil Spout Black' },
  { name: 'Nova 15', stock: { tracked: true, onHand: 0, backorder: false } },
];

describeOnDatabases('kinds of things on %s', kind => {
  const searchShop = useNamedShop(kind, shop);

  test.each([
    ['laptop', ['Gaming Laptop Pro', 'Nordbook X1 Carbon']],
    ['laptops', ['Gaming Laptop Pro', 'Nordbook X1 Carbon']],
    ['laptop sleeve', ['Laptop Sleeve 15']],
    ['laptop charger', ['Laptop Charger']],
    ['tisch', ['Eiche massiv 180', 'Tablett für den Tisch']],
    ['coffee machine', ['Barista Pro 3000', 'Filter paper for coffee machines']],
    ['coffee filter', ['Filter paper for coffee machines']],
    // A number or the brand may follow what a thing is, and its last letters be missing.
    ['rice cooker 18', ['Zojin Duo 18', 'Rice Cooker Lid 18']],
    ['rice cooker kuma', ['Zojin Duo 18', 'Rice Cooker Lid 18']],
    ['rice cooke', ['Zojin Duo 18', 'Rice Cooker Lid 18']],
    ['tv', ['Ultra HD 55', 'TV Bracket']],
    ['tvs', ['Ultra HD 55', 'TV Bracket']],
    // Neither says here what the thing is for.
    ['coat', ['Faux Fur Coat']],
    ['spout', ['Bottle Pour Oil Spout Black']],
    ['nova 15', ['Nova 15', 'Nova 15 Pro', 'Case for Nova 15']],
  ])('%j finds %p first', async (query, names) => {
    const titles = (await searchShop(query)).data.map(({ title }: { title: string }) => title);
    expect(titles.slice(0, names.length)).toEqual(names);
  });
});
