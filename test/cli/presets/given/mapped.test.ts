/** Columns and values that the command line gives together with a preset. */
import { expect, test } from 'bun:test';
import { onCatalog, productsOf } from '../../program.ts';

const shopifyHeader = [
  ...['Handle', 'Title', 'Vendor', 'Option1 Name', 'Option1 Value', 'Variant SKU', 'Variant Price'],
  ...['Variant Inventory Tracker', 'Variant Inventory Qty', 'Variant Inventory Policy', 'Specs', 'Pieces'],
].join();
const mug = (specs: string) => `mug,Mug,Acme,Title,Default Title,M-1,5,shopify,7,continue,${specs},9`;

test.each([
  [
    'woocommerce',
    [
      'ID,Type,SKU,Name,Published,Regular price,Parent,Attribute 1 name,Attribute 1 value(s),Label',
      '2,variation,H-S,Hoodie,1,5,H,Size,S,of a variant',
      '1,variable,H,Hoodie,1,,,Size,S,of the product',
    ],
  ],
  [
    'magento',
    [
      'sku,product_type,name,price,additional_attributes,configurable_variations,Label',
      'H-S,simple,Hoodie S,5,size=S,,of a variant',
      'H,configurable,Hoodie,5,,"sku=H-S,size=S",of the product',
    ],
  ],
])('%s: a mapped column is that of the product, even if rows of its variants come first', (shop, rows) =>
  onCatalog(async place => {
    const file = place.file('f.csv', rows.join('\n'));
    await place.runHere(['import', file, '--preset', shop, '--map', 'brand=Label']);
    expect(await productsOf(place)).toMatchObject([{ sku: 'H', brand: 'of the product', variantCount: 1 }]);
  }),
);

test('a mapped column of attributes that is not JSON is refused beside other attributes', () =>
  onCatalog(async place => {
    const file = place.file('f.csv', [shopifyHeader, mug('none')].join('\n'));
    const ended = await place.runHere(['import', file, '--preset', 'shopify', '--map', 'attributes=Specs']);
    expect(ended.err).toContain('line 2: attributes must be JSON (column "Specs", it is "none")');
    expect(await productsOf(place)).toEqual([]);
  }));

test.each([
  [['--set', 'stock.backorder=false'], { tracked: true, onHand: 7, backorder: false }],
  [['--set', 'stock.tracked=false'], { tracked: false, onHand: 7, backorder: true }],
  [['--map', 'stock.onHand=Pieces'], { tracked: true, onHand: 9, backorder: true }],
  [['--map', 'stock=Pieces'], { tracked: true, onHand: 9, backorder: false }],
])('a member of the stock on the command line leaves the others to the preset: %j', (given, stock) =>
  onCatalog(async place => {
    const file = place.file('f.csv', [shopifyHeader, mug('')].join('\n'));
    await place.runHere(['import', file, '--preset', 'shopify', ...given]);
    expect(await productsOf(place)).toMatchObject([{ sku: 'M-1', stock }]);
  }),
);

test.each([
  [
    ['--map', 'weight.value=Net'],
    [{ value: 250, unit: 'g' }, { value: 500, unit: 'g' }, null],
  ],
  [
    ['--set', 'weight.unit=kg'],
    [{ value: 500, unit: 'kg' }, { value: 500, unit: 'kg' }, null],
  ],
  [
    ['--map', 'weight.value=Net', '--weight-unit', 'kg'],
    [{ value: 250, unit: 'kg' }, { value: 500, unit: 'g' }, null],
  ],
])('a member of the weight on the command line leaves the other to the preset: %j', (given, weights) =>
  onCatalog(async place => {
    const rows = ['Handle,Title,Variant Price,Variant Grams,Net', 'a,A,5,500,250', 'b,B,5,500,', 'c,C,5,,'];
    await place.runHere(['import', place.file('f.csv', rows.join('\n')), '--preset', 'shopify', ...given]);
    expect(await productsOf(place)).toMatchObject(weights.map(weight => ({ weight })));
  }),
);

test.each([
  [[], { width: '12,5', depth: 1.234, height: 2.5, number: '1.234,5' }],
  [['--decimal', 'comma'], { width: 12.5, depth: '1.234', height: 2.5, number: '1.234,5' }],
])('attributes are numbers with the decimal mark of the command line: %j', (given, attributes) =>
  onCatalog(async place => {
    const header = 'Handle;Title;Variant Price;Width;Depth;Height;Number';
    const file = place.file('f.csv', [header, 'a;A;5;12,5;1.234;2.5;1.234,5'].join('\n'));
    await place.runHere(['import', file, '--preset', 'shopify', ...given]);
    expect(await productsOf(place)).toMatchObject([{ attributes }]);
  }),
);

test('pieces on the command line are counted, even if the preset says that the shop counts none', () =>
  onCatalog(async place => {
    const rows = ['id,title,price,image_link,availability,pieces', '1,Cup,5 EUR,,in_stock,4'];
    const file = place.file('f.csv', rows.join('\n'));
    await place.runHere(['import', file, '--preset', 'google', '--map', 'stock.onHand=pieces']);
    expect(await productsOf(place)).toMatchObject([{ stock: { tracked: true, onHand: 4 } }]);
  }));

test('a brand of Magento that looks like a number keeps its zeros', () =>
  onCatalog(async place => {
    const rows = [
      'sku,product_type,name,price,additional_attributes,product_online',
      'S-1,simple,Shoe,5,"brand=5.10,ean=0.50",1',
    ];
    const file = place.file('f.csv', rows.join('\n'));
    await place.runHere(['import', file, '--preset', 'magento']);
    const again = await place.runHere(['import', file, '--preset', 'magento']);
    expect(await productsOf(place)).toMatchObject([{ brand: '5.10', gtin: null, attributes: { ean: 0.5 } }]);
    expect(again.out).toContain('0 updated, 1 unchanged');
  }));
