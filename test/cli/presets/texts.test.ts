/**
 * Texts in shops' files: entities, category paths with commas, names of attributes that give the same key, and titles
 * and options that a feed declares.
 */
import { describe, expect, test } from 'bun:test';
import { onCatalog, productsOf, variantsOf } from '../program.ts';

const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map(row => row.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');

const wooColumns = [
  ...['Type', 'SKU', 'Name', 'Published', 'Short description', 'Description', 'Regular price'],
  ...['Categories', 'Tags', 'Brands', 'Parent', 'Attribute 1 name', 'Attribute 1 value(s)'],
  ...['Attribute 2 name', 'Attribute 2 value(s)', 'Attribute 3 name', 'Attribute 3 value(s)', 'Meta: fit'],
];

const wooRow = (given: Readonly<Record<string, string>>): string[] =>
  wooColumns.map(column => ({ Type: 'simple', Published: '1', Name: 'X', ...given })[column] ?? '');

test('WooCommerce: entities become characters, except in descriptions and HTML', () =>
  onCatalog(async place => {
    const content = csvOf([
      wooColumns,
      wooRow({
        ...{ Type: 'variable', SKU: 'TEE', Name: 'T-Shirt &#8211; Men&#039;s &unknown; &#x41;' },
        ...{ Categories: 'Clothing &amp; More &gt; Tees, Clothing &amp; More', Tags: 'black &amp; white' },
        ...{ Brands: 'A&amp;B', Description: 'Soft &amp; warm', 'Short description': 'Warm &lt;3' },
        ...{ 'Attribute 1 name': 'Size &amp; Fit', 'Attribute 1 value(s)': 'S &amp; M, L' },
        ...{ 'Attribute 2 name': 'Care', 'Attribute 2 value(s)': 'Wash &amp; go' },
        'Meta: fit': '<p>slim &amp; long</p>',
      }),
      wooRow({
        ...{ Type: 'variation', SKU: 'TEE-S', Parent: 'TEE', 'Regular price': '5' },
        ...{ 'Attribute 1 name': 'Size &amp; Fit', 'Attribute 1 value(s)': 'S &amp; M' },
      }),
    ]);
    const ended = await place.runHere(['import', place.file('w.csv', content), '--preset', 'woocommerce']);
    expect(ended.status).toBe(0);
    expect(await productsOf(place)).toMatchObject([
      {
        ...{ name: "T-Shirt – Men's &unknown; A", category: 'Clothing & More > Tees', categories: [] },
        ...{ tags: ['black & white'], brand: 'A&B', description: 'Soft &amp; warm' },
        attributes: {
          care: 'Wash & go',
          short_description: 'Warm &lt;3',
          meta_fit: '<p>slim &amp; long</p>',
        },
      },
    ]);
    expect(await variantsOf(place)).toMatchObject([{ options: { 'Size & Fit': 'S & M' } }]);
  }));

const feedColumns = [
  ...['id', 'title', 'description', 'availability', 'image_link', 'price', 'brand', 'product_type'],
  ...['google_product_category', 'custom_label_0'],
];

test('feeds: entities become characters, and &gt; separates the names of a path', () =>
  onCatalog(async place => {
    const content = csvOf([
      feedColumns,
      [
        ...['A', 'Salt &amp; pepper', 'Salt &amp; pepper', 'in_stock', '', '5 EUR', 'A&amp;B'],
        ...['Home &gt; Women &gt; Dresses, Sale', '', 'red &amp; blue'],
      ],
      [...['B', 'B', '', 'in_stock', '', '5 EUR', ''], '', 'Home &amp; Garden &gt; Lighting', ''],
    ]);
    const ended = await place.runHere(['import', place.file('g.csv', content), '--preset', 'google']);
    expect(ended.status).toBe(0);
    expect(await productsOf(place)).toMatchObject([
      {
        ...{ name: 'Salt & pepper', description: 'Salt &amp; pepper', brand: 'A&B' },
        ...{ category: 'Home > Women > Dresses', categories: ['Sale'] },
        attributes: { custom_label_0: 'red & blue' },
      },
      { category: 'Home & Garden > Lighting' },
    ]);
  }));

const coffee = 'Food, Beverages & Tobacco > Beverages > Coffee';
const types: readonly (readonly [type: string, google: string, ...categories: readonly string[]])[] = [
  [coffee, coffee, coffee],
  [coffee, '', coffee],
  ['Electronics > Print, Copy', 'Electronics > Print, Copy', 'Electronics > Print, Copy'],
  [`${coffee}, Sale`, '', coffee, 'Sale'],
  ['Shoes > Running, Sale', '', 'Shoes > Running', 'Sale'],
  ['Sale, New', '', 'Sale', 'New'],
  ['"Food, Beverages" > X, "Sale, Now"', '', 'Food, Beverages > X', 'Sale, Now'],
  ['"Sale", Shoes > Running', '', 'Sale', 'Shoes > Running'],
  ['19" racks, 21" racks', '', '19" racks', '21" racks'],
  ['', coffee, coffee],
];

test.each(types.map(([type, theirs, ...categories]) => ({ type, theirs, categories })))(
  'the product_type $type beside $theirs',
  ({ type, theirs, categories }) =>
    onCatalog(async place => {
      const content = csvOf([feedColumns, ['A', 'A', '', 'in_stock', '', '5 EUR', '', type, theirs, '']]);
      const ended = await place.runHere(['import', place.file('g.csv', content), '--preset', 'google']);
      expect(ended.status).toBe(0);
      const [made] = await productsOf(place);
      expect<unknown>([made?.category, ...(made?.categories ?? [])]).toEqual(categories);
    }),
);

test('attributes of different names have different keys throughout a file', () =>
  onCatalog(async place => {
    const attributes = (...pairs: readonly (readonly [name: string, value: string])[]) =>
      Object.fromEntries(
        pairs.flatMap(([name, value], index) => [
          [`Attribute ${index + 1} name`, name],
          [`Attribute ${index + 1} value(s)`, value],
        ]),
      );
    const long = 'A very long name that is the same for sixty-four characters and more of them';
    const given = [
      attributes(['Вес, кг (1)', '7.5'], ['Рост, см (1)', '180'], ['Größe', 'L']),
      attributes(['Farbe/Color', 'rot'], ['Farbe Color', 'blau'], ['farbe/color', 'grau']),
      attributes(['Farbe Color', 'gelb'], [`${long} 1`, '1'], [`${long} 2`, '2']),
    ];
    const content = csvOf([
      wooColumns,
      ...given.map((one, index) => wooRow({ ...one, SKU: `A-${index}`, 'Regular price': '5' })),
    ]);
    const file = place.file('w.csv', content);
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    const note = 'attributes whose key another attribute has got a number at the end of the key';
    expect(ended.err).toContain(`1 × ${note}`);
    const made = (await productsOf(place)).sort((a, b) => String(a.sku).localeCompare(String(b.sku)));
    const [first, second, third] = made.map(one => one.attributes);
    expect(first).toEqual({ x_412_435_441_43a_433_1: 7.5, x_420_43e_441_442_441_43c_1: 180, grosse: 'L' });
    expect(second).toEqual({ farbe_color: ['rot', 'grau'], farbe_color_2: 'blau' });
    expect(Object.values(third ?? {})).toEqual(['gelb', 1, 2]);
    expect(third).toMatchObject({ farbe_color_2: 'gelb' });
    expect((await place.runHere(['import', file, '--preset', 'woocommerce'])).out).toContain('3 unchanged');
  }));

test.each([
  ['"Gym"|"Trail, road"', ['Gym', 'Trail, road']],
  ['"Gym | pool, a=b"', ['Gym', 'pool, a=b']],
  ['"says ""yes"""', 'says "yes"'],
  ['27"', '27"'],
  ['"open, b', '"open, b'],
])('Magento: the value %s of a pair is read', (value, expected) =>
  onCatalog(async place => {
    const content = csvOf([
      ['sku', 'product_type', 'name', 'product_online', 'visibility', 'price', 'additional_attributes'],
      ['M', 'simple', 'M', '1', 'Catalog, Search', '5', `made=${value},fit=slim`],
    ]);
    const ended = await place.runHere(['import', place.file('p.csv', content), '--preset', 'magento']);
    expect(ended.status).toBe(0);
    const [product] = await productsOf(place);
    expect(product?.attributes).toMatchObject({ made: expected, fit: 'slim' });
  }),
);

test.each(['FALSCH', 'FAUX', 'false'])(
  'Shopify: a product with %s in the column Published is archived',
  published =>
    onCatalog(async place => {
      const rows = [['Handle', 'Title', 'Vendor', 'Body (HTML)', 'Variant Price', 'Published']];
      const content = csvOf([...rows, ['a', 'A', 'N', 'x', '5', published]]);
      await place.runHere(['import', place.file('p.csv', content), '--preset', 'shopify']);
      expect(await productsOf(place)).toMatchObject([{ status: 'archived' }]);
    }),
);

const nested = (name: string, ...parts: readonly string[]): string =>
  `<g:${name}>${parts.map((text, index) => `<g:${partNames[name]?.[index]}>${text}</g:${partNames[name]?.[index]}>`).join('')}</g:${name}>`;
const partNames: Readonly<Record<string, readonly string[]>> = {
  variant_option: ['name', 'value'],
  structured_title: ['digital_source_type', 'content'],
  structured_description: ['digital_source_type', 'content'],
};
const machine = 'trained_algorithmic_media';

describe('what a feed for Google declares', () => {
  const feed = (...items: readonly string[]): string =>
    `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>${items
      .map(
        item =>
          `<item><g:price>9 EUR</g:price><g:availability>in_stock</g:availability><g:image_link>https://s.example/1.jpg</g:image_link>${item}</item>`,
      )
      .join('')}</channel></rss>`;
  const shoe = (id: string, width: string, size: string, rest = ''): string =>
    [
      `<g:id>${id}</g:id><g:item_group_id>SHOE</g:item_group_id><g:item_group_title>Shoe &amp; lace</g:item_group_title>`,
      nested('structured_title', machine, `Shoe: ${width}`),
      nested('variant_option', 'shoe width', width) + nested('variant_option', 'EU size', size),
      `<g:size>${size}</g:size><g:ads_label>a</g:ads_label><g:ads_label>b</g:ads_label>${rest}`,
    ].join('');
  const shoes = [
    { 'Shoe width': 'narrow', 'EU size': '8,5' },
    { 'Shoe width': 'wide', 'EU size': '8,5' },
    { 'Shoe width': 'wide', 'EU size': '9' },
  ];

  test('titles, descriptions and options in XML', () =>
    onCatalog(async place => {
      const file = feed(
        shoe('1', 'narrow', '8,5', nested('structured_description', machine, 'Soft: very')),
        shoe('2', 'wide', '8,5'),
        shoe('3', 'wide', '9'),
        `<g:id>4</g:id><g:title>Sock</g:title>${nested('structured_title', machine, 'Sock, "warm"')}`,
      );
      const command = ['import', place.file('g.xml', file), '--preset', 'google'];
      const ended = await place.runHere(command);
      expect(ended.out).toContain('2 created, 0 updated, 0 unchanged, 0 rejected');
      expect(ended.err).not.toContain('different titles');
      const [made, sock] = await productsOf(place);
      expect(made).toMatchObject({ name: 'Shoe & lace', description: 'Soft: very' });
      expect(made?.attributes).toEqual({ size: ['8,5', '9'], ads_label: 'a,b' });
      expect((await variantsOf(place)).map(({ options }) => options)).toEqual(shoes);
      expect(sock).toMatchObject({
        name: 'Sock',
        attributes: { structured_title: `${machine}:Sock, "warm"` },
      });
      expect((await place.runHere(command)).out).toContain('0 updated, 2 unchanged');
    }));

  test('the same in a table', () =>
    onCatalog(async place => {
      const columns = ['id', 'structured_title', 'price', 'availability', 'image_link', 'variant_option'];
      const row = (id: string, title: string, option: string): string =>
        [id, title, '9 EUR', 'in_stock', '', option, 'SHOE', 'Shoe'].join('\t');
      const file = [
        [...columns, 'item_group_id', 'item_group_title'].join('\t'),
        row('1', `${machine}:"Shoe: narrow"`, 'Shoe width:narrow,EU size:"8,5"'),
        row('2', ':Shoe, wide', 'Shoe width:wide, EU size:8,5'),
        row('3', ':Shoe, wide', 'EU size:9,Shoe width:wide'),
        [...'4|:Sock: long|9 EUR|in_stock||Size:M,Material||'.split('|')].join('\t'),
      ].join('\n');
      const ended = await place.runHere(['import', place.file('g.tsv', file), '--preset', 'google']);
      expect(ended.out).toContain('2 created, 0 updated, 0 unchanged, 0 rejected');
      expect((await productsOf(place)).map(({ name, attributes }) => [name, attributes])).toEqual([
        ['Shoe', {}],
        ['Sock: long', { variant_option: 'Size:M,Material' }],
      ]);
      expect((await variantsOf(place)).map(({ options }) => options)).toEqual(shoes);
    }));

  test('quoted options may hold commas and colons', () =>
    onCatalog(async place => {
      const chair = (id: string, finish: string): string =>
        `<g:id>${id}</g:id><g:title>Chair</g:title><g:item_group_id>CHAIR</g:item_group_id>${nested('variant_option', 'Finish', finish)}${nested('variant_option', 'Seat', '12" wide')}`;
      const row = (id: string, option: string): string => `${id}\tStool\t9 EUR\tin_stock\t${option}\tSTOOL`;
      const table = [
        'id\ttitle\tprice\tavailability\tvariant_option\titem_group_id',
        row('1', '"""Finish:Dark, matte: blue"", Seat:12"" wide"'),
        row('2', '"Seat:12"" wide,Finish:""Light, gloss: red"""'),
      ].join('\n');
      const xml = feed(chair('3', 'Dark, matte: blue'), chair('4', 'Light, gloss: red'));
      await place.runHere(['import', place.file('q.tsv', table), '--preset', 'google']);
      await place.runHere(['import', place.file('q.xml', xml), '--preset', 'google']);
      const finishes = ['Dark, matte: blue', 'Light, gloss: red'];
      expect((await variantsOf(place)).map(({ options }) => options)).toEqual(
        [...finishes, ...finishes].map(Finish => ({ Finish, Seat: '12" wide' })),
      );
    }));

  test('options that are too long for a product are an attribute, and the product is imported', () =>
    onCatalog(async place => {
      const desk = (id: string, name: string, value: string): string =>
        `<g:id>${id}</g:id><g:title>Desk</g:title><g:item_group_id>${name}</g:item_group_id><g:size>${id}</g:size>${nested('variant_option', name, value)}`;
      const [name, value] = ['n'.repeat(51), 'v'.repeat(256)];
      const file = feed(
        desk('1', name, 'a'),
        desk('2', name, 'b'),
        desk('3', 'Top', value),
        desk('4', 'Top', 'b'),
      );
      const ended = await place.runHere(['import', place.file('g.xml', file), '--preset', 'google']);
      expect(ended.out).toContain('2 created, 0 updated, 0 unchanged, 0 rejected');
      expect((await productsOf(place)).map(({ attributes }) => attributes)).toEqual([
        { variant_option: [`${name}:a`, `${name}:b`] },
        { variant_option: [`Top:${value}`, 'Top:b'] },
      ]);
      expect((await variantsOf(place)).map(({ options }) => options)).toEqual(
        ['1', '2', '3', '4'].map(Size => ({ Size })),
      );
    }));

  test('options that do not distinguish all rows are an attribute', () =>
    onCatalog(async place => {
      const file = feed(shoe('1', 'wide', '9'), shoe('2', 'wide', '9', '<g:color>red</g:color>'));
      await place.runHere(['import', place.file('g.xml', file), '--preset', 'google']);
      expect((await variantsOf(place)).map(({ options }) => options)).toEqual([
        { Color: 'None', Size: '9' },
        { Color: 'red', Size: '9' },
      ]);
      expect(await productsOf(place)).toMatchObject([
        { attributes: { variant_option: 'shoe width:wide,EU size:9' } },
      ]);
    }));
});
