/** Presets on files that differ from what shops export: what is read, refused, or left out. */
import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { googleFile, magentoFile, metaFile, shopifyFile, wooFile } from '../../support/samples/shop-files.ts';
import { onCatalog, productsOf, variantsOf } from '../program.ts';

test('a file of a shop is recognized by its header, and the preset proposed', () =>
  onCatalog(async place => {
    const files = {
      shopify: shopifyFile,
      woocommerce: wooFile,
      magento: magentoFile,
      google: googleFile,
      meta: metaFile,
    };
    for (const [shop, content] of Object.entries(files)) {
      const ended = await place.runHere(['import', place.file('p.csv', content), '--dry-run']);
      expect(ended.err).toMatch(
        new RegExp(`^catalog import: \\S+ looks like [^:]+: --preset ${shop} reads all of it$`, 'm'),
      );
    }
  }));

test('a preset refuses a file of another kind in one line, and leaves the catalog unchanged', () =>
  onCatalog(async place => {
    const cases = [
      [
        'shopify',
        'a.csv',
        'sku,name,price\nA,x,1\n',
        'a.csv is not a product export of Shopify: it has no column "Handle", "Title"',
      ],
      [
        'magento',
        'a.csv',
        wooFile,
        'a.csv is not a product export of Magento 2: it has no column "product_type", "price"; it looks like a product export of WooCommerce: --preset woocommerce',
      ],
      [
        'google',
        'a.json',
        '[{"id":1}]',
        'a.json is JSON; a feed for Google Merchant Center is a table: CSV or TSV',
      ],
      ['meta', 'a.csv', 'id,title,price\n', 'a.csv has no records: it has only a header row'],
      ['meta', 'a.csv', '', 'a.csv has no records: it is empty'],
    ] as const;
    for (const [shop, name, content, says] of cases) {
      const ended = await place.runHere(['import', place.file(name, content), '--preset', shop]);
      expect(ended.err.replace(`${place.folder}/`, '')).toBe(`catalog import: ${says}\n`);
      expect(ended.status).toBe(1);
    }
    expect(await productsOf(place)).toEqual([]);
  }));

interface ShopifyRows {
  readonly name: string;
  readonly header: string;
  readonly rows: readonly string[];
  readonly status?: number;
  readonly says: readonly string[];
  /** Name and SKU of each product, with the options and SKUs of its variants. */
  readonly leaves: readonly (readonly [name: string, sku: string | null, ...variants: readonly string[]])[];
}

const shopifyRows: readonly ShopifyRows[] = [
  {
    name: 'without columns of options a row is a product, and one row more is an image',
    header: 'Handle,Title,Vendor,Body (HTML),Variant SKU,Variant Price,Image Src',
    rows: ['bowl,Bowl,N,<p>Deep</p>,B-1,5.00,https://c.example/1.jpg', 'bowl,,,,,,https://c.example/2.jpg'],
    says: ['read 2 rows: 1 product, 0 variants, 2 images', '1 created'],
    leaves: [['Bowl', 'B-1']],
  },
  {
    name: 'without names of options their values still tell variants apart',
    header: 'Handle,Title,Vendor,Body (HTML),Option1 Value,Variant SKU,Variant Price',
    rows: ['tee,Tee,N,,S,T-S,5', 'tee,,,,M,T-M,6', 'bowl,Bowl,N,,,B-1,5', 'mug,Mug,N,,Default Title,M-1,7'],
    says: ['3 created', '0 rejected'],
    leaves: [
      ['Tee', null, 'Option 1 S T-S', 'Option 1 M T-M'],
      ['Bowl', 'B-1'],
      ['Mug', 'M-1'],
    ],
  },
  {
    name: 'a variant without a value that others have is named with its column',
    header: 'Handle,Title,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Price',
    rows: ['tee,Tee,Size,S,Colour,Red,T-S,5', 'tee,,,M,,,T-M,6', 'pot,Pot,,,,,P-1,5', 'pot,,,,,,P-2,5'],
    status: 2,
    says: [
      'line 3: Option2 Value is required: the product has other variants, and each has a value of its own',
      'line 5: Option1 Value is required: the product has other variants, and each has a value of its own',
      '0 created, 0 updated, 0 unchanged, 2 rejected',
    ],
    leaves: [],
  },
  {
    name: 'rows that come again are one variant, and the same options with another SKU are not',
    header: 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price',
    rows: [
      ...['tee,First,Size,S,T-S,5', 'tee,Tee,Size,S,T-S,6', 'mug,Mug,Title,Default Title,M-1,7'],
      ...['mug,,Title,Default Title,M-1,8', 'pot,Pot,Size,S,P-1,5', 'pot,,,S,P-2,5'],
    ],
    status: 2,
    says: [
      '2 × rows that repeat a variant were left out: the last counts',
      'line 7: Option1 Value is that of line 6, of another SKU (it is "S")',
      '1 rejected: Option1 Value is that of line …, of another SKU',
      '2 created, 0 updated, 0 unchanged, 1 rejected',
    ],
    leaves: [
      ['Tee', null, 'Size S T-S'],
      ['Mug', 'M-1'],
    ],
  },
  {
    name: 'of several variants with one SKU the first keeps it',
    header: 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price',
    rows: ['tee,Tee,Size,S,TEE,5', 'tee,,,M,TEE,6', 'tee,,,L,,7', 'tee,,,XL,,7', 'mug,Mug,Size,S,M-1,5'],
    says: [
      '1 × skus that an earlier product or variant has were left out',
      '2 created, 0 updated, 0 unchanged, 0 rejected',
    ],
    leaves: [
      ['Tee', null, 'Size S TEE', 'Size M ', 'Size L ', 'Size XL '],
      ['Mug', null, 'Size S M-1'],
    ],
  },
  {
    name: 'of several products with one SKU the first keeps it, and the others stay',
    header: 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price',
    rows: ['cup,Cup,,,C-1,5', 'mug,Mug,,,C-1,6', 'tee,Tee,Size,S,C-1,7', 'tee,,,M,T-M,7', 'cap,Cap,,,T-M,8'],
    says: [
      '3 × skus that an earlier product or variant has were left out',
      '4 created, 0 updated, 0 unchanged, 0 rejected',
    ],
    leaves: [
      ['Cup', 'C-1'],
      ['Mug', null],
      ['Tee', null, 'Size S ', 'Size M T-M'],
      ['Cap', null],
    ],
  },
];

test.each(shopifyRows)('rows of Shopify: $name', ({ header, rows, status = 0, says, leaves }) =>
  onCatalog(async place => {
    const file = place.file('s.csv', `${[header, ...rows].join('\n')}\n`);
    const ended = await place.runHere(['import', file, '--preset', 'shopify']);
    for (const text of says) expect(ended.out + ended.err).toContain(text);
    expect(ended.status).toBe(status);
    const [made, sold] = [await productsOf(place), await variantsOf(place)];
    const named = made.map(({ id, name, sku }) => [
      ...[name, sku],
      ...sold
        .filter(({ productId }) => productId === id)
        .map(({ options, sku }) => [...Object.entries(options).flat(), sku].join(' ')),
    ]);
    expect(named.sort()).toEqual(leaves.map(one => [...one]).sort());
    expect((await place.runHere(['import', file, '--preset', 'shopify'])).out).toContain(
      `0 created, 0 updated, ${leaves.length} unchanged`,
    );
  }),
);

test('images that are paths are requested with their base', () =>
  onCatalog(async place => {
    const magento = place.file('m.csv', magentoFile);
    const without = await place.runHere(['import', magento, '--preset', 'magento']);
    expect(without.err).toContain(
      'images are paths and were left out: import again with --image-base and the address that precedes them, as in --image-base https://shop.example/media/catalog/product',
    );
    const again = ['import', magento, '--preset', 'magento', '--image-base', 'https://m.example/media'];
    expect((await place.runHere(again)).err).not.toContain('images are paths');
    const urls = (await productsOf(place)).flatMap(({ images }) => images.map(({ url }) => url));
    expect(urls).not.toBeEmpty();
    for (const url of urls) expect(url).toStartWith('https://m.example/media/');
  }));

test('--drop-unknown leaves out columns without a field, and the import names them', () =>
  onCatalog(async place => {
    const file = place.file('w.csv.gz', gzipSync(wooFile));
    const options = ['--drop-unknown', '--set', 'brand=Acme', '--map', 'mpn=ID'];
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce', ...options]);
    expect(ended.err).toMatch(/^catalog import: columns not used: .*, Meta: _care$/m);
    const [hoodie] = (await productsOf(place)).filter(({ name }) => name === 'Hoodie');
    expect(hoodie).toMatchObject({ brand: 'Acme', mpn: '10', attributes: { fabric: ['Cotton', 'Wool'] } });
    expect(hoodie?.attributes).not.toHaveProperty('meta_care');
  }));

test('an import warns that a purchase price becomes visible, and --drop leaves out single attributes', () =>
  onCatalog(async place => {
    const file = place.file('s.csv', shopifyFile);
    const [cost, preset] = ['"Cost per item"', ['--preset', 'shopify']];
    const ended = await place.runHere(['import', file, ...preset, '--dry-run']);
    expect(ended.err).toContain(
      `2 × ${cost} becomes an attribute, visible to everyone who reads products; --drop ${cost}`,
    );
    const dropping = ['--drop', 'cost_per_item', '--drop', 'SEO Title', '--drop', 'No Such'];
    const again = await place.runHere(['import', file, ...preset, ...dropping]);
    expect(again.err).not.toContain('visible to everyone who reads products');
    expect(again.err).toContain('2 × values of "cost_per_item" were left out');
    expect(again.err).toContain('catalog import: --drop "No Such": no attribute has this name');
    expect(again.err).not.toContain('--drop "SEO Title":');
    const attributes = (await productsOf(place)).map(product => Object.keys(product.attributes));
    expect(attributes.flat().sort()).toEqual(['fabric_product.metafields.shopify.fabric', 'variant_barcode']);
  }));

test.each([
  ['', `# Required | A unique id,# Required | Its name,"# Required | As 9,99 EUR"\n`],
  [', with quotation marks', '# Обязательно | "Страна:Цена", ("";"),# Его имя\n# ref_asset_id 7\n'],
])('lines that explain the header are skipped%s; prices are read as the option says', (_, explained) =>
  onCatalog(async place => {
    const feed = 'id;title;price;image_link\nA;Lamp;1.019,90 EUR;https://a.example/l.jpg\n';
    const file = place.file('m.csv', explained + feed);
    const ended = await place.runHere(['import', file, '--preset', 'meta', '--decimal', 'comma']);
    expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('1 created') });
    const [lamp] = await productsOf(place);
    expect(lamp).toMatchObject({
      sku: 'A',
      price: 1019.9,
      currency: 'EUR',
      images: [{ url: 'https://a.example/l.jpg' }],
    });
  }),
);

test.each([
  ['that differ', 'its name'],
  ['that are the same', 'a unique id'],
  ['with quotation marks', 'as "EUR"'],
])('a template with explanations %s before its header is recognized, and its preset proposed', (_, second) =>
  onCatalog(async place => {
    const explained = `# Required | a unique id,# Required | ${second},#,,`;
    const header = 'id,title,price,image_link,fb_product_category';
    const file = place.file('m.csv', `${explained}\n${header}\nA,Lamp,5 EUR,,\n`);
    const ended = await place.runHere(['import', file, '--dry-run']);
    expect(ended.err).toBe(
      `catalog import: ${file} looks like a catalog of Meta: --preset meta reads all of it\n`,
    );
    expect(ended.status).toBe(1);
  }),
);

test('attributes and tags beyond the limits are left out and counted', () =>
  onCatalog(async place => {
    const [long, tags] = ['x'.repeat(1001), Array.from({ length: 60 }, (_, n) => `t${n}`).join(', ')];
    const content = `Handle,Title,Vendor,Option1 Name,Option1 Value,Variant Price,Tags,SEO Description,Is New\nh,Lamp,V,Title,Default Title,5,"${tags}",${long},TRUE\n`;
    const ended = await place.runHere(['import', place.file('s.csv', content), '--preset', 'shopify']);
    expect(ended.err).toContain('1 × values of more than 1000 characters were left out of attributes');
    expect(ended.err).toContain('1 × tags of more than 50 characters, or beyond 50, were left out');
    const [lamp] = await productsOf(place);
    expect(lamp).toMatchObject({ attributes: { is_new: true }, options: [], variantCount: 0 });
    expect(lamp?.tags.length).toBe(50);
  }));

test('a preset reads standard input, too', () =>
  onCatalog(async place => {
    const ended = await place.run(['import', '-', '--preset', 'google', '--dry-run'], googleFile);
    expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('2 created') });
  }));

const usage: readonly (readonly [options: readonly string[], says: string])[] = [
  [['--preset', 'etsy'], '--preset is one of shopify, woocommerce, magento, wix, google, meta, not "etsy"'],
  [['--drop-unknown'], '--drop-unknown is for a --preset only'],
  [
    ['--preset', 'meta', '--skip', '1'],
    '--skip cannot be used with --preset: imported records are recognised and not written twice',
  ],
  [['--preset', 'meta', '--format', 'json'], '--preset meta is for CSV only'],
  [['--decimal', 'dot'], '--decimal is one of point, comma, not "dot"'],
  [['--currency', 'eur'], '--currency must be three capital letters (ISO 4217), not "eur"'],
  [['--set', 'colour'], '--set: takes FIELD=VALUE, not "colour"'],
  [['--set', 'price=abc'], '--set price must be a number, not "abc"'],
  [['--set', 'variants=x'], '--set variants must be JSON, not "x"'],
  [['--set', 'stock.onHand=many'], '--set stock.onHand must be a number, not "many"'],
  [['--encoding', 'ebcdic'], '--encoding is one of utf-8, utf-16le, utf-16be, windows-1252, windows-1250, '],
  [['--image-base', 'shop'], '--image-base must be an http or https address, not "shop"'],
  [
    ['--image-base', 'https://user:secret@shop.example'],
    '--image-base must not have a user name or password; see',
  ],
];

test.each(usage)('%p is refused', (options, says) =>
  onCatalog(async place => {
    const ended = await place.runHere(['import', place.file('p.csv', 'name,price\nx,1\n'), ...options]);
    expect(ended.err).toContain(says);
    expect(ended.status).toBe(2);
  }),
);
