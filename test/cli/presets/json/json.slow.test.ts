/** Products as JSON from the APIs of Shopify and WooCommerce, imported with their presets. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { createCatalog, ndjsonOf, onCatalog, productsOf, variantsOf } from '../../program.ts';

const shirt = {
  ...{ id: 1, title: 'River Tee', handle: 'river-tee', body_html: '<p>Soft</p>', vendor: 'Northwater' },
  ...{ product_type: 'T-Shirts', tags: ['cotton', 'soft, light'], published_at: '2024-01-01T00:00:00Z' },
  variants: [
    {
      ...{ id: 11, title: 'S', option1: 'S', option2: 'Blue', option3: null, sku: 'RT-S', available: true },
      ...{ price: '24.90', compare_at_price: '29.90', grams: 180, featured_image: null },
    },
    {
      ...{ id: 12, title: 'M', option1: 'M', option2: 'Blue', option3: null, sku: 'RT-M', available: false },
      ...{ price: '26.90', compare_at_price: null, grams: 190 },
      featured_image: { id: 22, src: 'https://cdn.example/m.jpg' },
    },
  ],
  images: [
    { id: 22, position: 2, src: 'https://cdn.example/m.jpg', variant_ids: [12] },
    { id: 21, position: 1, src: '//cdn.example/tee.jpg', alt: 'Front', variant_ids: [] },
  ],
  options: [{ name: 'Size', values: ['S', 'M'] }, 'Colour'],
};

const mug = {
  ...{ id: 2, title: 'Mug', handle: 'mug', body_html: null, vendor: 'Acme', product_type: '', tags: 'a, b' },
  ...{ status: 'draft', images: [], options: [{ name: 'Title' }], category: { full_name: 'Home > Mugs' } },
  variants: [
    {
      ...{ option1: 'Default Title', option2: null, option3: null, sku: null, barcode: '4006381333931' },
      ...{ price: '5.00', compare_at_price: null, weight: 1.5, weight_unit: 'lb', image_id: null },
      ...{ inventory_management: 'shopify', inventory_quantity: 4, inventory_policy: 'continue' },
    },
  ],
};

const lamp = {
  ...{ id: 7, name: 'Lamp &amp; shade', type: 'simple', status: 'publish', sku: 'L-1', weight: '1.2' },
  ...{ regular_price: '25.99', sale_price: '21.99', description: 'C:\\new', catalog_visibility: 'visible' },
  ...{ manage_stock: true, stock_quantity: 3, stock_status: 'instock', backorders: 'notify', parent_id: 0 },
  categories: [
    { id: 9, name: 'Lighting' },
    { id: 10, name: 'Lamps, etc.' },
  ],
  tags: [{ name: 'a,b' }, { name: 'c' }],
  images: [
    { src: 'https://shop.example/1.jpg', alt: 'Front, "on"' },
    { src: 'https://shop.example/2.jpg', alt: '' },
  ],
  attributes: [{ name: 'Material', options: ['Steel, brushed', 'Glass'] }],
  variations: [],
};

const vest = {
  ...{ id: 8, name: 'Vest', type: 'variable', status: 'publish', sku: '', weight: '', regular_price: '' },
  ...{
    sale_price: '',
    description: '',
    manage_stock: false,
    stock_status: 'instock',
    categories: [],
    images: [],
  },
  attributes: [{ name: 'Size', variation: true, options: ['S', 'M'] }],
  variations: [81, 82],
};

const variation = (id: number, size: string, members: object = {}) => ({
  ...{ id, sku: `V-${size}`, status: 'publish', regular_price: '10', sale_price: '', weight: '' },
  ...{ manage_stock: true, stock_quantity: id, stock_status: 'instock', backorders: 'no' },
  image: { src: `https://shop.example/${size}.jpg`, alt: size },
  attributes: [{ name: 'Size', option: size }],
  ...members,
});

const counted = (onHand: number, backorder = false) => ({ tracked: true, onHand, reserved: 0, backorder });

describeOnDatabases('products as JSON on %s', kind => {
  test.each([
    ['a page', 'p.json', JSON.stringify({ products: [shirt, mug] })],
    ['an array', 'p.json', JSON.stringify([shirt, mug], undefined, 2)],
    ['a product on each line', 'p.ndjson', ndjsonOf([shirt, mug])],
    ['a page on each line', 'p.json', ndjsonOf([{ products: [shirt] }, { products: [mug] }])],
  ])('Shopify: %s becomes products with variants', async (_, name, content) => {
    const place = await createCatalog(kind);
    const file = place.file(name, content);
    const ended = await place.runHere(['import', file, '--preset', 'shopify', '--tag-separator', ';']);
    expect(ended.out).toContain('2 created, 0 updated, 0 unchanged, 0 rejected');
    expect(await productsOf(place)).toMatchObject([
      {
        ...{ externalId: 'river-tee', name: 'River Tee', description: '<p>Soft</p>', brand: 'Northwater' },
        ...{ category: 'T-Shirts', tags: ['cotton', 'soft, light'], status: 'active', price: 24.9 },
        options: [
          { name: 'Size', values: ['S', 'M'] },
          { name: 'Colour', values: ['Blue'] },
        ],
        images: [{ url: 'https://cdn.example/tee.jpg', alt: 'Front' }, { url: 'https://cdn.example/m.jpg' }],
      },
      {
        ...{
          externalId: 'mug',
          price: 5,
          status: 'archived',
          gtin: '4006381333931',
          category: 'Home > Mugs',
        },
        ...{ tags: ['a', 'b'], weight: { value: 1.5, unit: 'lb' }, stock: counted(4, true) },
      },
    ]);
    expect(await variantsOf(place)).toMatchObject([
      {
        ...{ sku: 'RT-S', price: 24.9, compareAtPrice: 29.9, weight: { value: 180, unit: 'g' } },
        ...{ available: true, imageId: null },
      },
      { sku: 'RT-M', price: 26.9, compareAtPrice: null, stock: counted(0), imageId: expect.any(Number) },
    ]);
    const again = await place.runHere(['import', file, '--preset', 'shopify']);
    expect(again.out).toContain('0 created, 0 updated, 2 unchanged');
    place.remove();
  });

  test.each([
    [
      'an array',
      [
        lamp,
        vest,
        variation(81, 'S', { parent_id: 8 }),
        variation(82, 'M', { parent_id: 8, type: 'variation' }),
      ],
    ],
    [
      'variations in their product',
      { data: [lamp, { ...vest, variations: [variation(81, 'S'), variation(82, 'M')] }] },
    ],
  ])('WooCommerce: %s becomes products with variants', async (_, content) => {
    const place = await createCatalog(kind);
    const file = place.file('w.json', JSON.stringify(content));
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(ended.err).toContain(
      '1 × weights without a unit were read as kg; --weight-unit names another unit\n',
    );
    const [first, second, ...others] = await productsOf(place);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      ...{ sku: 'L-1', externalId: '7', name: 'Lamp & shade', description: 'C:\\new', tags: ['a,b', 'c'] },
      ...{ price: 21.99, compareAtPrice: 25.99, weight: { value: 1.2, unit: 'kg' }, stock: counted(3, true) },
      ...{ category: 'Lighting', categories: ['Lamps, etc.'] },
      images: [{ alt: 'Front, "on"' }, { url: 'https://shop.example/2.jpg', alt: null }],
      attributes: { material: ['Steel, brushed', 'Glass'] },
    });
    expect(second).toMatchObject({
      name: 'Vest',
      externalId: '8',
      price: 10,
      variantCount: 2,
      images: [{ alt: 'S' }, { alt: 'M' }],
    });
    expect(await variantsOf(place)).toMatchObject([
      { sku: 'V-S', options: { Size: 'S' }, stock: counted(81), imageId: expect.any(Number) },
      { sku: 'V-M', options: { Size: 'M' }, stock: counted(82), imageId: expect.any(Number) },
    ]);
    place.remove();
  });
});

test('JSON updates what a CSV has created', () =>
  onCatalog(async place => {
    const rows = 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Cost per item\n';
    const csv = `${rows}mug,Mug,Title,Default Title,,4,2\n`;
    await place.runHere(['import', place.file('p.csv', csv), '--preset', 'shopify']);
    const file = place.file('p.json', JSON.stringify({ products: [mug] }));
    const ended = await place.runHere(['import', file, '--preset', 'shopify', '--format', 'json']);
    expect(ended.out).toContain('0 created, 1 updated');
    expect(await productsOf(place)).toMatchObject([{ price: 5, attributes: { cost_per_item: 2 } }]);
  }));

test('a product whose variations the file lacks is counted, and refused without a price', () =>
  onCatalog(async place => {
    const ended = await place.runHere([
      'import',
      place.file('w.ndjson', ndjsonOf([vest])),
      '--preset',
      'woocommerce',
    ]);
    expect(ended.err).toContain(
      '1 × products with variations got no variants: the file has none of their variations\n',
    );
    expect(ended.err).toContain('line 1: price is required');
  }));

test.each([
  ['shopify', JSON.stringify({ products: [shirt] })],
  ['woocommerce', JSON.stringify([lamp])],
  ['shopify', ndjsonOf([{ products: [shirt] }, { products: [mug] }])],
])('without a preset, --preset %s is proposed', (preset, content) =>
  onCatalog(async place => {
    const ended = await place.runHere(['import', place.file('p.json', content)]);
    expect(ended.err).toMatch(
      new RegExp(`p\\.json looks like products of \\w+ as JSON: --preset ${preset} reads all of it\n`),
    );
    expect(await productsOf(place)).toEqual([]);
  }),
);

/** Products of a program with members that Shopify has too. */
const ring = { title: 'Ring', handle: 'ring', description: 'Silver', price: 90 };
const sizes = [
  { title: '52', price: 90 },
  { title: '54', price: 95 },
];

test.each([
  { ...ring, variants: [] },
  { ...ring, variants: sizes },
])('without a preset, none is proposed for products that only resemble those of Shopify', product =>
  onCatalog(async place => {
    const file = place.file('p.json', JSON.stringify([product]));
    const ended = await place.runHere(['import', file]);
    expect(ended.err).not.toContain('--preset');
    expect(ended.err).toContain('line 1: name is required');
  }),
);

test.each([
  ['shopify', JSON.stringify({ product: shirt })],
  ['shopify', JSON.stringify([{ ...ring, variants: sizes }])],
  ['shopify', JSON.stringify({ data: { products: { edges: [{ node: shirt }] } } })],
  ['shopify', JSON.stringify([{ ...shirt, price_varies: true }])],
  ['woocommerce', JSON.stringify([{ id: 1, name: 'Lamp', prices: { price: '1200' } }])],
])('%s: other JSON is refused by a line that says what is accepted: %s', (preset, content) =>
  onCatalog(async place => {
    const ended = await place.runHere(['import', place.file('p.json', content), '--preset', preset]);
    expect(ended.status).toBe(1);
    expect(ended.err).toMatch(
      /^catalog import: \S+p\.json is not products of \w+ as JSON, which are an array of products/,
    );
  }),
);

test('JSON of another shop is refused, and its preset proposed', () =>
  onCatalog(async place => {
    const ended = await place.runHere([
      'import',
      place.file('p.json', JSON.stringify([lamp])),
      '--preset',
      'shopify',
    ]);
    expect(ended.status).toBe(1);
    expect(ended.err).toContain(
      'p.json looks like products of WooCommerce as JSON: --preset woocommerce reads all of it\n',
    );
  }));

test('a record among products that is none of them is rejected alone, with its text', () =>
  onCatalog(async place => {
    const rejects = place.file('r.ndjson', '');
    const file = place.file('p.json', JSON.stringify([shirt, { id: 3 }, { ...mug, variants: [] }]));
    const ended = await place.runHere(['import', file, '--preset', 'shopify', '--rejects', rejects]);
    expect(ended.out).toContain('1 created, 0 updated, 0 unchanged, 2 rejected');
    const lines = (await Bun.file(rejects).text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines).toMatchObject([
      { error: 'is none of products of Shopify as JSON', raw: '{"id":3}' },
      { error: expect.stringContaining('price is required'), raw: JSON.stringify({ ...mug, variants: [] }) },
    ]);
  }));
