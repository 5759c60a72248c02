/** Columns of a shop's file: missing ones, and those named for rejected values. */
import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { googleFile, googleXmlFile, shopifyFile } from '../../support/samples/shop-files.ts';
import { onCatalog, productsOf, variantsOf } from '../program.ts';

test.each([
  [
    'shopify',
    'Handle,Title,Vendor,Body (HTML),Variant Price',
    'mug,Mug,N,,',
    'price is required (column "Variant Price")',
  ],
  [
    'woocommerce',
    'ID,Type,SKU,Name,Published,Regular price,Parent',
    '1,simple,MUG,Mug,1,,',
    'price is required (column "Regular price")',
  ],
  [
    'magento',
    'sku,product_type,name,product_online,visibility,price',
    'M,simple,,1,"Catalog, Search",5',
    'name is required',
  ],
  [
    'google',
    'id,title,availability,price,item_group_id',
    'M-1,,in stock,5 USD,',
    'name is required (column "title")',
  ],
  [
    'meta',
    'id,title,availability,price,fb_product_category,status',
    'M-1,Mug,in stock,,,active',
    'price is required',
  ],
])('%s: a missing value is named by the column of the file', (shop, header, row, says) =>
  onCatalog(async place => {
    const ended = await place.runHere([
      'import',
      place.file('p.csv', `${header}\n${row}\n`),
      '--preset',
      shop,
    ]);
    expect(ended.out + ended.err).toContain(`line 2: ${says}\n`);
    expect(ended.status).toBe(2);
    expect(await productsOf(place)).toEqual([]);
  }),
);

test('a mapped column that the file does not have ends an import with a preset, too', () =>
  onCatalog(async place => {
    const file = place.file('s.csv', shopifyFile);
    const command = ['import', file, '--preset', 'shopify', '--map'];
    const refused = await place.runHere([...command, 'brand=Hersteller']);
    expect(refused.err).toContain('the first record has no column "Hersteller" for brand; it has Handle, ');
    expect(refused.status).toBe(1);
    expect(await productsOf(place)).toEqual([]);
    expect(await place.runHere([...command, 'mpn=variant sku'])).toMatchObject({ status: 0 });
  }));

const lines = ['Handle;Title;Variant Price', ';;', 'mug;Mug, large;12', ';;', ';;;;;', ''];

test.each([
  ['with a preset', lines, ['--preset', 'shopify']],
  ['without one', ['sku;name;price', ';;', 'mug;Mug, large;12', ';;', ';;;;;', ''], []],
])(
  'a file from Excel, with a line that names the delimiter and with rows of delimiters, is read %s',
  (_, rows, options) =>
    onCatalog(async place => {
      const file = place.file('e.csv', ['sep=;', ...rows].join('\r\n'));
      const ended = await place.runHere(['import', file, ...options]);
      expect(ended.out).toContain('1 created, 0 updated, 0 unchanged, 0 rejected');
      expect(ended.status).toBe(0);
      expect(await productsOf(place)).toMatchObject([{ name: 'Mug, large', price: 12 }]);
    }),
);

const short = 'rows have fewer cells than the header: the others were read as empty';

test('Excel leaves out the last cells of rows if they are empty in 16 rows: such rows are read, and counted', () =>
  onCatalog(async place => {
    const rows = [
      'Handle,Title,Option1 Name,Option1 Value,Variant Price,Status',
      'tee,Tee,Size,1,10,archived',
      ...Array.from({ length: 14 }, (_, index) => `tee,,,${index + 2},10,`),
      ...Array.from({ length: 4 }, (_, index) => `tee,,,"${index + 16}",10`),
      'mug,Mug,,,5,active,,',
      '',
    ];
    const ended = await place.runHere([
      ...['import', place.file('s.csv', rows.join('\r\n')), '--preset', 'shopify'],
    ]);
    expect(ended.out).toContain('2 created, 0 updated, 0 unchanged, 0 rejected');
    expect(ended.err).toContain(`4 × ${short}\n`);
    expect((await productsOf(place)).map(({ variantCount, status }) => [variantCount, status])).toEqual([
      [19, 'archived'],
      [0, 'active'],
    ]);
  }));

test('a row that lacks cells without which it cannot be imported is rejected for that reason', () =>
  onCatalog(async place => {
    const text = 'sku,name,price,tags\nA,Lamp,10\nB,Table,20\nC,Chair\nD,Stool\nTotal\nE,Desk,1';
    const ended = await place.runHere(['import', place.file('p.csv', text)]);
    expect(ended.out).toContain('2 created, 0 updated, 0 unchanged, 4 rejected');
    for (const [line, fields] of [
      [4, '2 fields'],
      [5, '2 fields'],
      [6, '1 field'],
      [7, '3 fields'],
    ])
      expect(ended.err).toContain(`line ${line}: has ${fields} where the header has 4\n`);
    expect(ended.err).toContain(`2 × ${short}\n`);
    expect(await productsOf(place)).toMatchObject([
      { name: 'Lamp', price: 10, tags: [] },
      { name: 'Table', price: 20, tags: [] },
    ]);
  }));

const magentoRows = [
  'sku,product_type,name,product_online,visibility,price,categories,configurable_variations',
  'C-1,simple,C S,1,Not Visible Individually,10,Default Category/Men,',
  'C-2,simple,C M,1,Not Visible Individually,10,"Default Category/Men,Default Category/New",',
  'C,configurable,C,1,"Catalog, Search",,"Default Category/Men,Default Category/Tops","sku=C-1,size=S|sku=C-2,size=M"',
];
const wooRows = [
  'ID,Type,SKU,Name,Published,Regular price,Parent,Categories,Attribute 1 name,Attribute 1 value(s)',
  '1,variable,C,C,1,,,"Men, Tops",Size,"S, M"',
  '2,variation,C-1,C,1,10,C,Men,Size,S',
  '3,variation,C-2,C,1,10,C,"Men, New",Size,M',
];

test.each([
  ['woocommerce', wooRows.slice(0, 1), '1,grouped,G,G,1,,,,,'],
  ['magento', magentoRows.slice(0, 1), 'B,bundle,B,1,"Catalog, Search",0,,'],
])('%s: an import that reads no row says why', (shop, header, row) =>
  onCatalog(async place => {
    const file = place.file('p.csv', [...header, row, ''].join('\n'));
    const ended = await place.runHere(['import', file, '--preset', shop]);
    expect(ended.out + ended.err).toMatch(
      /read 1 row: 0 products.*\n.*1 × (grouped products|bundles), which/,
    );
    expect(ended.out).toContain('0 created, 0 updated, 0 unchanged, 0 rejected');
    expect(ended.status).toBe(0);
  }),
);

test.each([
  ['magento', magentoRows, 'Default Category/Men,Default Category/New'],
  ['woocommerce', wooRows, 'Men, New'],
])('%s: categories of variants that the product has are not kept twice', (shop, rows, kept) =>
  onCatalog(async place => {
    const ended = await place.runHere(['import', place.file('p.csv', rows.join('\n')), '--preset', shop]);
    expect(ended.status).toBe(0);
    expect(await productsOf(place)).toMatchObject([
      { category: 'Men', categories: ['Tops'], attributes: { categories: kept } },
    ]);
  }),
);

test.each([[[]], [['--image-base', 'https://c.example/media']]])(
  'Magento: the word for no image gives no image, with the options %j',
  options =>
    onCatalog(async place => {
      const header =
        'sku,product_type,name,product_online,visibility,price,base_image,small_image,swatch_image';
      const row = 'C,simple,C,1,"Catalog, Search",10,no_selection,no_selection,no_selection';
      const file = place.file('p.csv', [header, row, ''].join('\n'));
      const ended = await place.runHere(['import', file, '--preset', 'magento', ...options]);
      expect(ended.out + ended.err).not.toContain('left out');
      expect(ended.status).toBe(0);
      const [made] = await productsOf(place);
      expect(made?.images).toEqual([]);
      expect<unknown>(made?.attributes).toEqual({ product_type: 'simple', visibility: 'Catalog, Search' });
    }),
);

/** The products and variants of a catalog, without members that differ between catalogs. */
const describeCatalog = async (place: Parameters<typeof productsOf>[0]) =>
  JSON.parse(
    JSON.stringify([await productsOf(place), await variantsOf(place)], (key, value) =>
      key === 'createdAt' || key === 'updatedAt' ? undefined : value,
    ),
  );

test('a feed as XML gives the same products as its table, and reports the lines where its items begin', () =>
  onCatalog(async table => {
    await table.runHere(['import', table.file('f.csv', googleFile), '--preset', 'google']);
    const expected = await describeCatalog(table);
    await onCatalog(async place => {
      const file = place.file('f.xml', googleXmlFile);
      const mapped = ['--map', 'attributes.label=custom_label_0'];
      const dry = await place.runHere(['import', file, '--preset', 'google', '--dry-run', ...mapped]);
      expect(dry).toMatchObject({ status: 0, out: expect.stringContaining('2 created') });
      const packed = place.file('packed', '');
      await Bun.write(packed, gzipSync(googleXmlFile));
      const ended = await place.runHere(['import', packed, '--preset', 'google']);
      expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('2 created') });
      expect(await describeCatalog(place)).toEqual(expected);
      const again = await place.run(['import', '-', '--preset', 'meta'], googleXmlFile);
      expect(again.out).toContain('0 created, 0 updated, 2 unchanged');
    });
  }));

test('an Atom feed: elements only some items have, an item that is refused, one column that is not there', () =>
  onCatalog(async place => {
    const entry = (inner: string) =>
      `<entry><id>tag:shop,1</id><link href="https://shop.example/p"/>${inner}</entry>`;
    const feed = [
      '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0">',
      entry('<title>Lamp &amp; shade</title><g:id>A</g:id><g:price>5.00 EUR</g:price>'),
      entry('<title>other</title><g:title>Table</g:title><g:id>B</g:id><g:price>cheap</g:price>'),
      entry(
        `<g:title>Caf&eacute; chair</g:title><g:id>C</g:id><g:price>7 EUR</g:price><g:material>oak</g:material>
        <g:shipping><g:country>US</g:country><g:price>6.49 USD</g:price></g:shipping>
        <g:product_type>Home &gt; Chairs</g:product_type><g:product_type>Sale</g:product_type>`,
      ),
      '</feed>',
    ].join('\n');
    const file = place.file('f.xml', feed);
    const ended = await place.runHere(['import', file, '--preset', 'google']);
    expect(ended.status).toBe(2);
    expect(ended.err).toContain('line 3: price');
    expect(await productsOf(place)).toMatchObject([
      { name: 'Lamp & shade', sku: 'A', price: 5 },
      {
        ...{ name: 'Café chair', sku: 'C', category: 'Home > Chairs', categories: ['Sale'] },
        attributes: { material: 'oak', shipping: 'US:::6.49 USD', link: 'https://shop.example/p' },
      },
    ]);
    const missing = await place.runHere(['import', file, '--preset', 'google', '--map', 'mpn=nowhere']);
    expect(missing.err).toContain('has no column "nowhere" for mpn');
  }));

test.each([
  [
    '<rss><channel><item><id>1</id><title>T</wrong></item></channel></rss>',
    'line 1 is not well-formed XML: ',
  ],
  [
    '<rss><item><link>https://shop.example/?size=8&colour=red</link></item></rss>',
    'is not well-formed XML: Invalid character in entity name (a & in a text or an address must be written as &amp;)',
  ],
  ['<rss><channel><item><id>1</id></item>', 'is not well-formed XML: Unclosed root tag'],
  ['<!DOCTYPE rss [<!ENTITY a "b">]><rss><item><id>&a;</id></item></rss>', 'is not well-formed XML: '],
  [
    '<rss><item><id>1</id></item></rss>',
    'is not a feed for Google Merchant Center: it has no column "title", "price"',
  ],
  ['<rss><channel/></rss>', 'is XML without an <item> or <entry>'],
  ['<?xml version="1.0"?><products><product/></products>', 'is XML without an <item> or <entry>'],
  ['<!DOCTYPE html><html><body>Error<br></body></html>', 'is XML or HTML'],
  [
    '<?xml version="1.0" encoding="x-shop"?><rss><item/></rss>',
    'is XML in the encoding "x-shop", which is not supported: save it as UTF-8',
  ],
])('an unreadable feed as XML is refused as a whole, and writes nothing: %s', (feed, says) =>
  onCatalog(async place => {
    const ended = await place.runHere(['import', place.file('f.xml', feed), '--preset', 'google']);
    expect(ended).toMatchObject({ status: 1, out: '' });
    expect(ended.err).toContain(says);
    expect(await productsOf(place)).toEqual([]);
  }),
);

test('a feed as XML in the encoding that it declares, behind a long comment, with items of one line that have no id', () =>
  onCatalog(async place => {
    const item = (id: string, title: string) =>
      `<item>${id}<title>${title}</title><price>5 EUR</price></item>`;
    const items = [item('<id>1</id>', '\xa3\xf3d\xbc'), item('', 'a'), item('', 'b')].join('');
    const text = `<?xml version="1.0" encoding="ISO-8859-2"?>\n<!--${' '.repeat(20_000)}-->\n<channel>${items}</channel>`;
    const file = place.file('f.xml', '');
    await Bun.write(file, Buffer.from(text, 'latin1'));
    const ended = await place.runHere(['import', file, '--preset', 'google']);
    expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('3 created') });
    expect(await productsOf(place)).toMatchObject([{ name: 'Łódź' }, { name: 'a' }, { name: 'b' }]);
  }));
