/** A shop's file imported again after changes in the shop: its new values apply, and what it leaves out stays. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onCatalog, productsOf, variantsOf } from '../program.ts';

interface Change {
  readonly name: string;
  readonly shop: string;
  /** The header and the rows of each file. */
  readonly files: readonly [readonly string[], readonly string[]];
  readonly before: object;
  readonly after: object;
  readonly variants?: readonly object[];
}

const google = 'id,title,availability,price,item_group_id,color,size';
const woo =
  'ID,Type,SKU,Name,Published,In stock?,Stock,Sale price,Regular price,Parent,Categories,Tags,Custom';
const magento =
  'sku,product_type,name,product_online,visibility,price,qty,is_in_stock,manage_stock,use_config_manage_stock';
const shopify =
  'Handle,Title,Vendor,Body (HTML),Variant Price,Variant Compare At Price,Variant Inventory Tracker,Variant Inventory Qty';
const uncounted = { stock: { tracked: false, onHand: 0 }, available: true };

const changes: readonly Change[] = [
  {
    name: 'a product that was out of stock is in stock again',
    shop: 'google',
    files: [
      [google, 'P,Plate,out_of_stock,10 USD,,,'],
      [google, 'P,Plate,in_stock,10 USD,,,'],
    ],
    before: { stock: { tracked: true, onHand: 0 }, available: false },
    after: uncounted,
  },
  {
    name: 'a product that was out of stock is in stock again',
    shop: 'woocommerce',
    files: [
      [woo, '1,simple,P,Plate,1,0,,,10,,,,'],
      [woo, '1,simple,P,Plate,1,1,,,10,,,,'],
    ],
    before: { available: false },
    after: uncounted,
  },
  {
    name: 'a bundle, whose own quantity is always 0, is in stock again',
    shop: 'magento',
    files: [
      [magento, 'P,bundle,Plates,1,"Catalog, Search",10,0,0,1,1'],
      [magento, 'P,bundle,Plates,1,"Catalog, Search",10,0,1,1,1'],
    ],
    before: { stock: { tracked: true, onHand: 0 }, available: false },
    after: uncounted,
  },
  {
    name: 'a bundle stays out of stock, since the later file says nothing about stock',
    shop: 'magento',
    files: [
      [magento, 'P,bundle,Plates,1,"Catalog, Search",10,0,0,1,1'],
      ['sku,product_type,name,product_online,visibility,price', 'P,bundle,Plates,1,"Catalog, Search",9'],
    ],
    before: { available: false },
    after: { price: 9, stock: { tracked: true, onHand: 0 }, available: false },
  },
  {
    name: 'the shop no longer tracks stock',
    shop: 'shopify',
    files: [
      [shopify, 'p,Plate,N,x,10,,shopify,0'],
      [shopify, 'p,Plate,N,x,10,,,0'],
    ],
    before: { available: false },
    after: uncounted,
  },
  {
    name: 'the shop no longer tracks stock',
    shop: 'magento',
    files: [
      [magento, 'P,simple,Plate,1,"Catalog, Search",10,0,0,1,0'],
      [magento, 'P,simple,Plate,1,"Catalog, Search",10,0,1,0,0'],
    ],
    before: { available: false },
    after: uncounted,
  },
  {
    name: 'a sale has ended, and the price has risen',
    shop: 'woocommerce',
    files: [
      [woo, '1,simple,P,Plate,1,1,5,8,10,,,,'],
      [woo, '1,simple,P,Plate,1,1,5,,12,,,,'],
    ],
    before: { price: 8, compareAtPrice: 10 },
    after: { price: 12, compareAtPrice: null },
  },
  {
    name: 'a former price is gone',
    shop: 'shopify',
    files: [
      [shopify, 'p,Plate,N,x,10,12,,'],
      [shopify, 'p,Plate,N,x,11,,,'],
    ],
    before: { price: 10, compareAtPrice: 12 },
    after: { price: 11, compareAtPrice: null },
  },
  {
    name: 'a list of prices',
    shop: 'woocommerce',
    files: [
      [woo, '1,simple,P,Plate,0,1,5,8,10,,"Home, Sale","a, b",oak'],
      ['ID,Type,SKU,Name,Regular price', '1,simple,P,Plate,11'],
    ],
    before: {
      price: 8,
      compareAtPrice: 10,
      tags: ['a', 'b'],
      categories: ['Sale'],
      attributes: { custom: 'oak' },
    },
    after: {
      ...{
        price: 11,
        compareAtPrice: 10,
        tags: ['a', 'b'],
        categories: ['Sale'],
        attributes: { custom: 'oak' },
      },
      ...{ status: 'archived', stock: { onHand: 5 } },
    },
  },
  {
    name: 'a list of prices',
    shop: 'magento',
    files: [
      [magento, 'P,simple,Plate,2,"Catalog, Search",10,4,1,1,1'],
      ['sku,product_type,name,price', 'P,simple,Plate,11'],
    ],
    before: { price: 10, status: 'archived' },
    after: { price: 11, status: 'archived', stock: { onHand: 4 } },
  },
  {
    name: 'only one colour is left',
    shop: 'google',
    files: [
      [google, 'R-S,Tee,in_stock,10 USD,T,Red,S', 'B-M,Tee,in_stock,10 USD,T,Blue,M'],
      [google, 'R-S,Tee,in_stock,9 USD,T,Red,S', 'R-M,Tee,in_stock,9 USD,T,Red,M'],
    ],
    before: { price: 10 },
    after: { price: 9 },
    variants: [
      { sku: 'R-S', price: 9 },
      { sku: 'B-M', price: 10 },
      { sku: 'R-M', price: 9, options: { Color: 'Red', Size: 'M' } },
    ],
  },
];

test.each(changes)('$shop: $name', ({ shop, files, before, after, variants }) =>
  onCatalog(async place => {
    for (const [index, lines] of files.entries()) {
      const file = place.file(`${index}.csv`, [...lines, ''].join('\n'));
      const command = ['import', file, '--preset', shop, '--currency', 'USD'];
      const ended = await place.runHere(command);
      expect([ended.status, ended.out]).toEqual([0, expect.stringContaining('0 rejected')]);
      expect(await productsOf(place)).toMatchObject([index === 0 ? before : after]);
      expect((await place.runHere(command)).out).toContain('0 created, 0 updated, 1 unchanged');
    }
    if (variants !== undefined) expect(await variantsOf(place)).toMatchObject([...variants]);
  }),
);

test('Magento pairs may have quotation marks and lists in them, and spaces between the variations', () =>
  onCatalog(async place => {
    const header =
      'sku,product_type,name,product_online,visibility,price,additional_attributes,configurable_variations';
    const pairs =
      'activity=""Gym""|""Trail, road"",url_x=""https://x.example/i?a=1,b=2"",size=27"",note=a, b=c';
    const rows = [
      `U-S,simple,U S,1,Not Visible Individually,10,"${pairs}",`,
      'U-M,simple,U M,1,Not Visible Individually,10,,',
      'U,configurable,U,1,"Catalog, Search",,,"sku=U-S, colour=Red, size=S | sku=U-M, colour=Red, size=M"',
    ];
    const ended = await place.runHere([
      'import',
      place.file('p.csv', [header, ...rows, ''].join('\n')),
      '--preset',
      'magento',
    ]);
    expect([ended.status, ended.err]).toEqual([0, expect.not.stringContaining('left out')]);
    const [made] = await productsOf(place);
    expect<unknown>(made?.attributes).toEqual({
      ...{ activity: ['Gym', 'Trail, road'], url_x: 'https://x.example/i?a=1,b=2', note: 'a, b=c' },
      ...{ product_type: 'configurable', visibility: 'Catalog, Search' },
    });
    expect(await variantsOf(place)).toMatchObject([
      { sku: 'U-S', options: { colour: 'Red', size: 'S' } },
      { sku: 'U-M', options: { colour: 'Red', size: 'M' } },
    ]);
  }));

test('WooCommerce: an escaped backslash before an n is not read as a line end', () =>
  onCatalog(async place => {
    const rows = [
      'ID,Type,SKU,Name,Published,Regular price,Description',
      '1,simple,P,P,1,5,a\\nb C:\\\\new',
      '',
    ];
    expect(
      (await place.runHere(['import', place.file('p.csv', rows.join('\n')), '--preset', 'woocommerce']))
        .status,
    ).toBe(0);
    expect(await productsOf(place)).toMatchObject([{ description: 'a\nb C:\\new' }]);
  }));

test('WooCommerce: an external product, which another shop sells, cannot be ordered', () =>
  onCatalog(async place => {
    const file = place.file('p.csv', `${woo}\n1,external,P,Plate,1,1,,,10,,,,\n2,simple,Q,Cup,1,1,,,5,,,,\n`);
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(ended.err).toContain('1 × external products, which another shop sells, got no stock');
    expect((await productsOf(place)).map(({ sku, available }) => [sku, available])).toEqual([
      ['P', false],
      ['Q', true],
    ]);
  }));

test('Shopify: variants with tracked stock but no quantity are counted', () =>
  onCatalog(async place => {
    const file = place.file('p.csv', `${shopify}\np,Plate,N,x,10,,shopify,\n`);
    const ended = await place.runHere(['import', file, '--preset', 'shopify']);
    expect(ended.out + ended.err).toContain(
      '1 × variants are sold without a limit: the shop tracks their stock, but',
    );
  }));

test('Meta: a feed of prices and texts for some countries and languages changes no product', () =>
  onCatalog(async place => {
    const run = (name: string, rows: readonly string[]) =>
      place.runHere(['import', place.file(name, [...rows, ''].join('\n')), '--preset', 'meta']);
    await run('main.csv', ['id,title,price,availability', 'P,Plate,10 EUR,in stock']);
    const ended = await run('countries.csv', [
      'id,override,title,price,availability',
      'P,GB,Dish,9 GBP,out of stock',
      'P,de_DE,Teller,10 EUR,',
      'Q,GB,Cup,5 GBP,in stock',
    ]);
    expect(ended.err).toContain('3 × rows for one country or language were left out');
    expect(ended.out).toContain('0 created, 0 updated, 0 unchanged, 0 rejected');
    expect(await productsOf(place)).toMatchObject([{ name: 'Plate', price: 10, available: true }]);
  }));

test('the file of rejected records has all rows of a product', () =>
  onCatalog(async place => {
    const header = 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price';
    const rows = [
      'p,"Plate, flat",Size,S,P-S,10',
      'q,Cup,,,Q,5',
      'p,,,M,P-M,ten',
      'p,,,L,P-L,12',
      'r,,,,R,5',
    ];
    const rejects = join(place.folder, 'rejects.ndjson');
    const file = place.file('p.csv', [header, ...rows, 'r,,,,R-2,6', ''].join('\n'));
    await place.runHere(['import', file, '--preset', 'shopify', '--rejects', rejects]);
    const lines = readFileSync(rejects, 'utf8').trimEnd().split('\n');
    const rejected = lines.map(line => JSON.parse(line)).sort((a, b) => a.line - b.line);
    expect(rejected).toMatchObject([
      { line: 4, raw: `${rows[0]}\n${rows[2]}\n${rows[3]}` },
      { line: 6, raw: `${rows[4]}\nr,,,,R-2,6` },
    ]);
    // Corrected and put below the header, the rows are the whole product.
    const raw = String(rejected[0].raw).replace('ten', '11');
    const corrected = place.file('corrected.csv', `${header}\n${raw}\n`);
    expect((await place.runHere(['import', corrected, '--preset', 'shopify'])).out).toContain('1 created');
    expect((await variantsOf(place)).map(({ sku }) => sku)).toEqual(['P-S', 'P-M', 'P-L']);
  }));
