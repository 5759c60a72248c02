/** A search for a kind of thing: things of that kind, by the last name of their category, come before accessories. */
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
  ])('%j finds %p first', async (query, names) => {
    const titles = (await searchShop(query)).data.map(({ title }: { title: string }) => title);
    expect(titles.slice(0, names.length)).toEqual(names);
  });
});
