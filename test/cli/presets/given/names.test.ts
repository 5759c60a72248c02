/** Names of options that a shop uses twice. */
import { expect, test } from 'bun:test';
import { onCatalog, variantsOf } from '../../program.ts';

test.each([
  [
    'shopify',
    [
      'Handle,Title,Vendor,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Price',
      'c,Shoe,Acme,Size,S,Size,1,C-1,5',
      'c,,,,M,,1,C-2,5',
    ],
    ['Size', 'Option 2'],
  ],
  [
    'magento',
    [
      'sku,product_type,name,price,configurable_variations,configurable_variation_labels',
      'C-1,simple,Shoe,5,,',
      'C-2,simple,Shoe,5,,',
      'C,configurable,Shoe,5,"sku=C-1,size=S,shoe_size=1|sku=C-2,size=M,shoe_size=1","size=Size,shoe_size=Size"',
    ],
    ['Size', 'shoe_size'],
  ],
] as const)('%s: the values of two options with one name are both kept', (shop, rows, [first, second]) =>
  onCatalog(async place => {
    await place.runHere(['import', place.file('f.csv', rows.join('\n')), '--preset', shop]);
    expect((await variantsOf(place)).map(({ sku, options }) => [sku, options])).toEqual([
      ['C-1', { [first]: 'S', [second]: '1' }],
      ['C-2', { [first]: 'M', [second]: '1' }],
    ]);
  }),
);
