/** The meaning of shops' columns for images, stock and visibility, of repeated ids, and of missing titles. */
import { describe, expect, test } from 'bun:test';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, onCatalog, productsOf } from '../program.ts';

const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map(row => row.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');

const magentoStock = [
  ...['sku', 'product_type', 'name', 'price', 'product_online', 'visibility', 'qty', 'is_in_stock'],
  ...['manage_stock', 'use_config_manage_stock', 'allow_backorders', 'use_config_backorders'],
];
const magentoRow = (sku: string, ...stock: readonly string[]) => [
  ...[sku, 'simple', sku, '5', '1', 'Catalog, Search', ...stock, '0'],
];

test('what Magento has out of stock cannot be ordered, whether backorders are allowed or not', () =>
  onCatalog(async place => {
    const file = csvOf([
      magentoStock,
      magentoRow('OUT', '7', '0', '1', '0', '1'),
      magentoRow('BACK', '0', '1', '1', '0', '1'),
    ]);
    await place.runHere(['import', place.file('m.csv', file), '--preset', 'magento']);
    expect(await productsOf(place)).toMatchObject([
      { sku: 'OUT', available: false, stock: { onHand: 0, backorder: false } },
      { sku: 'BACK', available: true, stock: { onHand: 0, backorder: true } },
    ]);
  }));

test('stock in fractions of a piece is rounded down, and counted', () =>
  onCatalog(async place => {
    const rows = [
      magentoRow('CLOTH', '12.7500', '1', '1', '0', '0'),
      magentoRow('CUP', '3.0000', '1', '1', '0', '0'),
    ];
    const file = place.file('m.csv', csvOf([magentoStock, ...rows]));
    const ended = await place.runHere(['import', file, '--preset', 'magento']);
    expect(ended.err).toContain('1 × stock that is not a whole number was rounded down');
    const stocks = (await productsOf(place)).map(({ stock }) => stock);
    expect(stocks).toMatchObject([{ onHand: 12 }, { onHand: 3 }]);
  }));

const wooColumns = (visibility: string) => ['Type', 'SKU', 'Name', 'Published', visibility, 'Regular price'];

describeOnDatabases('visibility in WooCommerce on %s', kind => {
  test.each([
    ['Visibility in catalog', 'visibility_in_catalog'],
    ['Visibility in catalogue', 'visibility_in_catalogue'],
  ])('a hidden product is archived, a listed or searchable one is not: %s', async (column, attribute) => {
    const place = await createCatalog(kind);
    const visibilities = ['visible', 'catalog', 'search', 'hidden', ''];
    const rows = visibilities.map(seen => ['simple', `P-${seen}`, `Product ${seen}`, '1', seen, '5']);
    const file = place.file('w.csv', csvOf([wooColumns(column), ...rows]));
    await place.runHere(['import', file, '--preset', 'woocommerce']);
    const made = await productsOf(place);
    expect(made.map(({ status }) => status)).toEqual(['active', 'active', 'active', 'archived', 'active']);
    expect(made[3]?.attributes).toEqual({ [attribute]: 'hidden' });
    const again = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(again.out).toContain('0 updated, 5 unchanged');
    place.remove();
  });
});

test('the first of the feed rows that repeat an id takes precedence', () =>
  onCatalog(async place => {
    const file = csvOf([
      ['id', 'title', 'price', 'condition', 'brand', 'custom label 0', 'custom label 1', 'mpn', 'image link'],
      ['2', 'A', '10 EUR', 'used', 'Acme', 'one', '', 'M-1', 'https://s.example/a.jpg'],
      ['2', 'dup', '11 EUR', 'new', 'Zeta', 'two', 'x', 'M-2', 'https://s.example/b.jpg'],
      ['2', 'dup', '12 EUR', 'new', 'Zeta', 'two', 'y', 'M-2', 'https://s.example/b.jpg'],
    ]);
    const ended = await place.runHere(['import', place.file('g.csv', file), '--preset', 'google']);
    expect(ended.err).toContain('2 × rows that repeat an id were left out: the first row counts');
    const [made, ...others] = await productsOf(place);
    expect(others).toEqual([]);
    expect(made).toMatchObject({ name: 'A', price: 10, brand: 'Acme', mpn: 'M-1' });
    expect(made?.attributes).toEqual({ condition: 'used', custom_label_0: 'one', custom_label_1: 'x' });
    expect(made?.images.map(({ url }) => url)).toEqual(['https://s.example/a.jpg']);
  }));

test('a Shopify row without a title is rejected for the missing title', () =>
  onCatalog(async place => {
    const file = csvOf([
      ['Handle', 'Title', 'Vendor', 'Option1 Name', 'Option1 Value', 'Variant Price'],
      ['mug', 'Mug', 'V', 'Title', 'Default Title', '5'],
      ['no-title', '', 'V', 'Size', 'S', '5'],
      ['no-title', '', 'V', '', 'M', '5'],
    ]);
    const ended = await place.runHere(['import', place.file('s.csv', file), '--preset', 'shopify']);
    expect(ended.err).toContain(
      'line 3: Title is required: no row of the product "no-title" has one (2 rows)\n',
    );
    expect(ended.err).not.toContain('which the file does not have');
    expect(ended.out).toContain('1 created, 0 updated, 0 unchanged, 1 rejected');
  }));

const labels: readonly (readonly [labels: string, first: string | null, second: string | null])[] = [
  ['Main,Back', 'Main', 'Back'],
  [' Main , Back', 'Main', 'Back'],
  [',Back', null, 'Back'],
  ['Main', 'Main', null],
  ['"Main, big","The ""back"""', 'Main, big', 'The "back"'],
  ['Main, "big",Back', null, null],
  ['Main,19" rack', null, null],
  ['Main, big,Back', null, null],
  ['Main, "big"', null, null],
];

test.each([...labels])(
  'the labels %j of two Magento images become the texts %j and %j',
  (given, first, second) =>
    onCatalog(async place => {
      const file = csvOf([
        ['sku', 'product_type', 'name', 'price', 'additional_images', 'additional_image_labels'],
        ['A', 'simple', 'A', '5', 'https://s.example/a.jpg,https://s.example/b.jpg', given],
      ]);
      await place.runHere(['import', place.file('m.csv', file), '--preset', 'magento']);
      const [made] = await productsOf(place);
      expect(made?.images.map(({ alt }) => alt)).toEqual([first, second]);
    }),
);

const photo = 'https://s.example/my photo.jpg';
const spaced = 'https://s.example/my%20photo.jpg';
const base = ['--image-base', 'https://m.example/media/'];
const shopify = 'Handle,Title,Vendor,Option1 Name,Option1 Value,Variant Price,Image Src,Variant Image';
const magento = 'sku,product_type,name,product_online,visibility,price,base_image,additional_images';
const shared = 'images are paths and were left out';

interface Case {
  readonly name: string;
  readonly shop?: string;
  readonly rows: readonly string[];
  readonly options?: readonly string[];
  readonly says?: string;
  readonly images: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'a feed with a space in an address',
    shop: 'google',
    rows: [
      'id\ttitle\timage link\tadditional image link\tprice',
      `1\tX\t${photo}\thttps://s.example/a / b.jpg,https://s.example/w_3,h_2/c.jpg\t5 EUR`,
    ],
    images: [spaced, 'https://s.example/a%20/%20b.jpg', 'https://s.example/w_3,h_2/c.jpg'],
  },
  {
    name: 'the same with a base for paths: no image is invented',
    shop: 'google',
    rows: ['id\ttitle\timage link\tprice', `1\tX\t${photo}\t5 EUR`],
    options: base,
    images: [spaced],
  },
  {
    name: 'a catalog of Meta',
    shop: 'meta',
    rows: ['id,title,price,image_link,fb_product_category', `1,X,5 EUR,${photo},`],
    images: [spaced],
  },
  {
    name: 'addresses with commas and a space between them',
    shop: 'woocommerce',
    rows: ['Type,SKU,Name,Regular price,Images', `simple,A,X,9,"${photo}, https://s.example/b.jpg"`],
    images: [spaced, 'https://s.example/b.jpg'],
  },
  {
    name: 'images of a product and of its variant',
    shop: 'shopify',
    rows: [shopify, `a,A,V,Size,S,1,${photo},https://s.example/the back.jpg`],
    images: [spaced, 'https://s.example/the%20back.jpg'],
  },
  {
    name: 'paths with a space',
    shop: 'magento',
    rows: [magento, 'A,simple,A,1,"Catalog, Search",1,/a b.jpg,"/a b.jpg,c d.jpg"'],
    options: base,
    images: ['https://m.example/media/a%20b.jpg', 'https://m.example/media/c%20d.jpg'],
  },
  {
    name: 'paths of a feed are counted once',
    shop: 'google',
    rows: ['id\ttitle\timage link\tadditional image link\tprice', '1\tX\t/a.jpg\t/b.jpg\t5 EUR'],
    says: `2 × ${shared}`,
    images: [],
  },
  {
    name: 'paths of a variant are counted once',
    shop: 'woocommerce',
    rows: [
      'Type,SKU,Name,Regular price,Images,Parent,Attribute 1 name,Attribute 1 value(s)',
      'variable,T,Tee,,/t.jpg,,Size,S',
      'variation,T-S,Tee,9,/s.jpg,T,Size,S',
    ],
    says: `2 × ${shared}`,
    images: [],
  },
  {
    name: 'the path of a variant is counted once',
    shop: 'shopify',
    rows: [shopify, 'a,A,V,Size,S,1,https://s.example/a.jpg,b.jpg'],
    says: `1 × ${shared}`,
    images: ['https://s.example/a.jpg'],
  },
  {
    name: 'a table of no shop, with spaces within addresses and between them',
    rows: ['sku,name,price,images', `A,A,1,${photo} https://s.example/b.jpg | https://s.example/c d.jpg`],
    images: [spaced, 'https://s.example/b.jpg', 'https://s.example/c%20d.jpg'],
  },
];

test.each(cases)('$name', ({ shop, rows, options = [], says, images }) =>
  onCatalog(async place => {
    const preset = shop === undefined ? [] : ['--preset', shop];
    const command = ['import', place.file('p.csv', [...rows, ''].join('\n')), ...preset, ...options];
    const ended = await place.runHere(command);
    expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('1 created') });
    if (says === undefined) expect(ended.err).not.toContain(shared);
    else expect(ended.err).toContain(says);
    const [made] = await productsOf(place);
    expect(made?.images.map(({ url }) => url)).toEqual([...images]);
    expect((await place.runHere(command)).out).toContain('0 updated, 1 unchanged');
  }),
);

describe('feeds whose columns are those of XML', () => {
  test('the prefix g: of columns is ignored, and repeated columns are read as one list', () =>
    onCatalog(async place => {
      const file = csvOf([
        [
          ...['g:id', 'g:title', 'g:price', 'g:availability', 'g:image_link', 'g:item_group_id', 'g:size'],
          ...[
            'g:additional_image_link',
            'g:additional_image_link',
            'g:shipping',
            'g:shipping',
            'g:condition',
          ],
        ],
        [
          ...['1', 'Tee', '9.90 EUR', 'in_stock', 'https://s.example/0.jpg', 'TEE', 'M'],
          ...['https://s.example/1.jpg', 'https://s.example/2.jpg', 'DE:::5 EUR', 'AT:::9 EUR', 'new'],
        ],
        [
          ...['2', 'Tee', '9.90 EUR', 'in_stock', 'https://s.example/0.jpg', 'TEE', 'L'],
          ...['', 'https://s.example/3.jpg', '', '', 'new'],
        ],
      ]);
      const unread = await place.runHere(['import', place.file('g.csv', file), '--preset', 'google']);
      expect(unread.out).toContain('1 created, 0 updated, 0 unchanged, 0 rejected');
      expect(await productsOf(place)).toMatchObject([
        {
          ...{ externalId: 'TEE', name: 'Tee', price: 9.9, options: [{ name: 'Size', values: ['M', 'L'] }] },
          images: [0, 1, 2, 3].map(number => ({ url: `https://s.example/${number}.jpg` })),
          attributes: { shipping: 'DE:::5 EUR,AT:::9 EUR', condition: 'new' },
        },
      ]);
    }));

  test('such a file is recognized, and a repeated column of single values is refused', () =>
    onCatalog(async place => {
      const columns = ['g:id', 'g:title', 'g:price', 'g:availability', 'g:image_link'];
      const cells = ['1', 'Tee', '9.90 EUR', 'in_stock', ''];
      const known = await place.runHere(['import', place.file('g.csv', csvOf([columns, cells]))]);
      expect(known.err).toContain('--preset google reads all of it');
      const twice = place.file(
        't.csv',
        csvOf([
          [...columns, 'g:price'],
          [...cells, '5 EUR'],
        ]),
      );
      const refused = await place.runHere(['import', twice, '--preset', 'google']);
      expect(refused.err).toContain('has the column "g:price" twice; rename one of them');
    }));
});
