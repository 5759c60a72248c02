/** Feeds whose names differ only in case, and whose paths and elements may be read in two ways. */
import { expect, test } from 'bun:test';
import { onCatalog, productsOf, variantsOf } from '../../program.ts';

test.each([
  ['in case', 'Scent:Rose', 'scent:Mint', { Scent: 'Rose' }, { Scent: 'Mint' }],
  ['in underscores', 'Oil_type:Rose', 'Oil type:Mint', { 'Oil type': 'Rose' }, { 'Oil type': 'Mint' }],
  ['in nothing from a column', 'flavor:Rose', 'flavor:Mint', { Flavor: 'Rose' }, { Flavor: 'Mint' }],
])('names in additional_variant_attribute that differ %s are one option', (_, first, second, one, other) =>
  onCatalog(async place => {
    const file = [
      'id,title,image_link,availability,price,item_group_id,flavor,additional_variant_attribute',
      `1,Candle,,in stock,10 USD,C,plain,${first}`,
      `2,Candle,,in stock,10 USD,C,plain,${second}`,
    ].join('\n');
    await place.runHere(['import', place.file('m.csv', file), '--preset', 'meta']);
    expect((await variantsOf(place)).map(({ options }) => options)).toEqual([one, other]);
    const [made] = await productsOf(place);
    expect(made?.attributes).toEqual({ flavor: 'plain' });
  }),
);

const boot = (types: readonly string[]) =>
  `<rss xmlns:g="http://base.google.com/ns/1.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><item>
    <media:title>A picture</media:title><title>Boot</title><media:content url="x"/>
    <g:id>1</g:id><g:price>5 EUR</g:price><g:availability>in stock</g:availability>
    ${types.map(type => `<g:product_type>${type}</g:product_type>`).join('')}</item></channel></rss>`;

test.each([
  ['Clothes&gt;Shoes, Boots&gt;Winter', []],
  ['Clothes/Shoes, Boots/Winter', ['--category-separator', '/']],
])('several types of a feed as XML are paths, even with commas: %s', (type, options) =>
  onCatalog(async place => {
    const file = place.file('g.xml', boot([type, 'Sale']));
    await place.runHere(['import', file, '--preset', 'google', ...options]);
    expect(await productsOf(place)).toMatchObject([
      { name: 'Boot', category: 'Clothes > Shoes, Boots > Winter', categories: ['Sale'] },
    ]);
  }),
);
