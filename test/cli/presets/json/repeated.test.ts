/** Products and variants that a shop's file has twice: concatenated exports, and pages of an API that have shifted. */
import { expect, test } from 'bun:test';
import { onCatalog, productsOf, variantsOf } from '../../program.ts';

const says = 'rows that repeat a product or variation were left out: the last counts';
const woo =
  'ID,Type,SKU,Name,Published,Regular price,Parent,Attribute 1 name,Attribute 1 value(s),Attribute 2 name,Attribute 2 value(s)';
const cup = (price: string) => `1,simple,C,Cup,1,${price},,Glaze,Matte,,`;
const hat = (price: string) => `3,variation,H-S,Hat,1,${price},id:2,Size,S,,`;

test('rows of WooCommerce that repeat a product or a variation are counted, and the last one counts', () =>
  onCatalog(async place => {
    const rows = [
      woo,
      cup('5'),
      hat('7'),
      '2,variable,H,Hat,1,,,Size,"S, M",,',
      '4,variation,H-M,Hat,1,8,H,Size,M,,',
    ];
    const file = place.file('w.csv', [...rows, cup('6'), hat('9')].join('\n'));
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(ended.out).toContain('2 created, 0 updated, 0 unchanged, 0 rejected');
    expect(ended.err).toContain(`2 × ${says}`);
    expect(await productsOf(place)).toMatchObject([
      { sku: 'C', variantCount: 0, price: 6, attributes: { glaze: 'Matte' } },
      { sku: 'H', variantCount: 2, price: 8 },
    ]);
    expect((await variantsOf(place)).map(({ sku, price }) => [sku, price])).toEqual([
      ['H-S', 9],
      ['H-M', 8],
    ]);
  }));

test('rows of WooCommerce with one id and different skus are refused', () =>
  onCatalog(async place => {
    const file = place.file('w.csv', [woo, cup('5'), cup('6').replace(',C,', ',D,')].join('\n'));
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(ended.err).toContain('line 3: ID is that of line 2, of another SKU (it is "1")');
    expect(await productsOf(place)).toEqual([]);
  }));

test('variations without an id or a sku are not taken for one another', () =>
  onCatalog(async place => {
    const rows = [
      woo,
      '2,variable,H,Hat,1,,,Size,"S, M",,',
      ...['S', 'M'].map(size => `,variation,,Hat,1,7,H,Size,${size},,`),
    ];
    const ended = await place.runHere([
      'import',
      place.file('w.csv', rows.join('\n')),
      '--preset',
      'woocommerce',
    ]);
    expect(ended.err).not.toContain('repeat');
    expect(await productsOf(place)).toMatchObject([{ sku: 'H', variantCount: 2 }]);
  }));

test('a product of WooCommerce on two pages of its API is one product', () =>
  onCatalog(async place => {
    const product = (price: string) => ({
      ...{ id: 1, type: 'simple', sku: 'C', name: 'Cup', status: 'publish', regular_price: price },
      ...{ stock_status: 'instock', attributes: [{ name: 'Glaze', options: ['Matte'] }] },
    });
    const pages = [[product('5')], [product('6')]].map(page => JSON.stringify({ products: page }));
    const file = place.file('w.ndjson', pages.join('\n'));
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(ended.err).toContain(`1 × ${says}`);
    expect(await productsOf(place)).toMatchObject([{ sku: 'C', price: 6, variantCount: 0 }]);
  }));

test('rows of a feed that repeat an id within a group are counted, and the first one counts', () =>
  onCatalog(async place => {
    const row = (id: string, size: string, price: string) => `${id},Hat,${price} EUR,,in_stock,H,${size}`;
    const rows = [row('H-S', 'S', '5'), row('H-M', 'M', '6'), row('H-S', 'S', '7')];
    const file = ['id,title,price,image_link,availability,item_group_id,size', ...rows].join('\n');
    const ended = await place.runHere(['import', place.file('g.csv', file), '--preset', 'google']);
    expect(ended.err).toContain('1 × rows that repeat an id were left out: the first row counts');
    expect((await variantsOf(place)).map(({ sku, price, options }) => [sku, price, options])).toEqual([
      ['H-S', 5, { Size: 'S' }],
      ['H-M', 6, { Size: 'M' }],
    ]);
  }));

test('rows of Magento that repeat a product with variants are counted, and the last ones count', () =>
  onCatalog(async place => {
    const pair = (name: string, price: number) => [
      `C-1,simple,C S,${price},,size=S`,
      `C,configurable,${name},,"sku=C-1,size=S",`,
    ];
    const header = 'sku,product_type,name,price,configurable_variations,additional_attributes';
    const file = place.file('m.csv', [header, ...pair('First', 10), ...pair('Second', 11)].join('\n'));
    const ended = await place.runHere(['import', file, '--preset', 'magento']);
    expect(ended.err).toContain('2 × rows that repeat a sku were left out: the last counts');
    expect(await productsOf(place)).toMatchObject([{ name: 'Second', price: 11, variantCount: 1 }]);
  }));
