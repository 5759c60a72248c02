/** Rows of a product that repeat a single-valued member: presets read, keep as an attribute, or count each cell. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, productsOf, variantsOf } from '../program.ts';

interface Scenario {
  readonly name: string;
  readonly shop: string;
  readonly rows: readonly (readonly string[])[];
  readonly says?: string;
  readonly product: object;
  readonly attributes: object;
  readonly variants?: readonly object[];
}

const feedHeader = [
  ...['id', 'title', 'price', 'image_link', 'availability', 'item_group_id', 'size', 'mpn', 'brand'],
  ...['description', 'product_type', 'google_product_category'],
];
/** @param more the cells from `mpn` on */
const feedRow = (size: string, ...more: readonly string[]) => [
  ...[`TR-${size}`, 'Runner', '5 EUR', '', 'in stock', 'TR', size],
  ...more,
];
const wooHeader = [
  ...['ID', 'Type', 'SKU', 'Name', 'Published', 'Short description', 'Description', 'Regular price'],
  ...['Categories', 'Tags', 'Parent', 'Brands', 'Attribute 1 name', 'Attribute 1 value(s)'],
];
const wooRow = (size: string, description: string, tags = '') => [
  ...['', 'variation', `H-${size}`, 'Hoodie', '1', '', description, '5', '', tags, 'H', '', 'Size', size],
];
const shopifyHeader = [
  ...['Handle', 'Title', 'Body (HTML)', 'Vendor', 'Type', 'Tags', 'Option1 Name', 'Option1 Value'],
  ...['Variant SKU', 'Variant Price', 'Google Shopping / MPN'],
];
const newShopifyHeader = [
  ...['Title', 'URL handle', 'Description', 'Vendor', 'Product category', 'Type', 'Tags'],
  ...['Published on online store', 'Status', 'SKU', 'Barcode', 'Option1 name', 'Option1 value'],
  ...['Option1 Linked To', 'Price', 'Compare-at price', 'Inventory tracker', 'Inventory quantity'],
  ...['Continue selling when out of stock', 'Weight value (grams)', 'Weight unit for display'],
  ...['Product image URL', 'Image position', 'Image alt text', 'Variant image URL'],
  ...['Google Shopping / Manufacturer part number (MPN)', 'Google Shopping / Custom label 0'],
];
const magentoHeader = [
  ...['sku', 'product_type', 'name', 'price', 'description', 'short_description', 'categories'],
  ...['additional_attributes', 'configurable_variations', 'product_online', 'visibility'],
];
const magentoRow = (sku: string, description: string, more: string, categories = '') => [
  ...[sku, 'simple', 'Jacket', '5', description, '', categories, `size=${sku.slice(2)},${more}`, '', '1', ''],
];
const long = 'x'.repeat(1001);

const scenarios: readonly Scenario[] = [
  ...['google', 'meta'].map(shop => ({
    name: 'the next row fills in cells that the first row leaves empty',
    shop,
    rows: [
      feedHeader,
      feedRow('S', 'MPN-1', '', '', '', ''),
      feedRow('M', 'MPN-2', 'Acme', 'blue one', 'Home > Shirts', ''),
      feedRow('L', 'MPN-2', 'Zeta', 'red one', 'Home > Polos', '212'),
    ],
    product: {
      brand: 'Acme',
      mpn: null,
      description: 'blue one',
      category: 'Home > Shirts',
      variantCount: 3,
    },
    attributes: {
      ...{ mpn: ['MPN-1', 'MPN-2'], brand: 'Zeta', description: 'red one', product_type: 'Home > Polos' },
      google_product_category: 212,
    },
  })),
  {
    name: 'a number that all rows share is that of the product, and a long text is counted',
    shop: 'google',
    rows: [
      feedHeader,
      feedRow('S', '', '', 'Light', '', 'Apparel > Shoes'),
      feedRow('M', '1.50', '', long, '', ''),
      feedRow('L', '1.50', '', 'Light', '', 'Apparel > Boots'),
    ],
    says: '1 × values of more than 1000 characters were left out of attributes',
    product: { mpn: '1.50', description: 'Light', category: 'Apparel > Shoes' },
    attributes: { google_product_category: 'Apparel > Boots' },
  },
  {
    name: 'numbers that only look alike are kept as they are',
    shop: 'google',
    rows: [feedHeader, feedRow('S', '1.5', '', '', '', ''), feedRow('M', '1.50', '', '', '', '')],
    product: { mpn: null },
    attributes: { mpn: ['1.5', '1.50'] },
  },
  {
    name: 'values beyond those that a list may have are counted',
    shop: 'google',
    rows: [feedHeader, ...Array.from({ length: 53 }, (_, n) => feedRow(`${n}`, `M-${n}`, '', '', '', ''))],
    says: '3 × values beyond 50 of an attribute were left out',
    product: { mpn: null },
    attributes: { mpn: Array.from({ length: 50 }, (_, n) => `M-${n}`) },
  },
  {
    name: 'rows of variants differ from the product, or fill in its fields',
    shop: 'shopify',
    rows: [
      shopifyHeader,
      ['tee', 'Tee', '', 'North', '', 'a, b', 'Size', 'S', 'T-S', '5', 'M1'],
      ['tee', '', '<p>Soft</p>', 'South', 'Tees', 'b, c', '', 'M', 'T-M', '6', 'M2'],
    ],
    product: {
      ...{ mpn: null, brand: 'North', description: '<p>Soft</p>', category: 'Tees', tags: ['a', 'b', 'c'] },
    },
    attributes: { google_shopping_mpn: ['M1', 'M2'], vendor: 'South' },
  },
  {
    name: 'the header of 2025 is read',
    shop: 'shopify',
    rows: [
      newShopifyHeader,
      [
        ...['Tee', 'tee', '<p>Soft</p>', 'North', 'Apparel > Tees', 'Tops', 'a', 'TRUE', 'Active', 'T-S'],
        ...['4006381333931', 'Size', 'S', '', '5', '7', 'shopify', '3', 'DENY', '180', 'g'],
        ...['https://c.example/1.jpg', '1', 'Front', 'https://c.example/2.jpg', 'M1', 'new'],
      ],
      ['', 'tee', ...Array(7).fill(''), 'T-M', '', '', 'M', '', '6', ...Array(10).fill(''), 'M1', ''],
    ],
    product: {
      ...{ externalId: 'tee', mpn: 'M1', category: 'Apparel > Tees', categories: ['Tops'], status: 'active' },
      ...{ tags: ['a'], variantCount: 2, price: 5 },
    },
    attributes: { google_shopping_custom_label_0: 'new' },
  },
  {
    name: 'descriptions of variations are attributes',
    shop: 'woocommerce',
    rows: [
      wooHeader,
      ['1', 'variable', 'H', 'Hoodie', '1', 'Warm', '', '', 'A', 'x', '', 'Fjord', 'Size', 'S, M, L'],
      wooRow('S', 'Short\\nsleeves', 'y'),
      wooRow('M', 'Long'),
      wooRow('L', 'Long'),
    ],
    product: { description: 'Warm', brand: 'Fjord', category: 'A', tags: ['x', 'y'] },
    attributes: { description: ['Short\nsleeves', 'Long'] },
  },
  {
    name: 'a product without a description has that of its first variation',
    shop: 'woocommerce',
    rows: [
      wooHeader,
      ['1', 'variable', 'H', 'Hoodie', '1', '', '', '', '', '', '', '', 'Size', 'S, M, L'],
      wooRow('S', ''),
      wooRow('M', 'Long'),
      wooRow('L', long),
    ],
    says: '1 × values of more than 1000 characters were left out of attributes',
    product: { description: 'Long' },
    attributes: {},
  },
  {
    name: 'values in which simple products differ from their configurable product are kept',
    shop: 'magento',
    rows: [
      magentoHeader,
      [
        ...['J', 'configurable', 'Jacket', '5', 'Warm', '', '', 'brand=Fjord'],
        ...['sku=J-S,size=S|sku=J-M,size=M', '1', 'Catalog, Search'],
      ],
      magentoRow('J-S', 'Warm', 'brand=Fjord', 'Default Category/Men'),
      magentoRow('J-M', 'Warmer', 'brand=Beta', 'Default Category/Sale'),
    ],
    product: { description: 'Warm', brand: 'Fjord', category: 'Men' },
    attributes: {
      ...{ description: 'Warmer', brand: 'Beta', categories: 'Default Category/Sale' },
      ...{ product_type: 'configurable', visibility: 'Catalog, Search' },
    },
  },
  {
    name: 'simple products fill in columns that their configurable product leaves empty',
    shop: 'magento',
    rows: [
      [
        'sku',
        'product_type',
        'name',
        'price',
        'configurable_variations',
        'country_of_manufacture',
        'tax',
        'msrp',
        'EAN',
      ],
      ['J', 'configurable', 'Jacket', '5', 'sku=J-S,size=S|sku=J-M,size=M', '', 'full', '', ''],
      ['J-S', 'simple', 'Jacket', '5', '', 'Portugal', 'reduced', '8.0000', '4006381333931'],
      ['J-M', 'simple', 'Jacket', '5', '', 'Portugal', 'reduced', '9.0000', 'none'],
    ],
    says: '1 × barcodes that are not GTINs were kept as attributes',
    // A GTIN is that of one variant.
    product: { variantCount: 2, gtin: null },
    variants: [{ gtin: '4006381333931' }, { gtin: null }],
    attributes: {
      product_type: 'configurable',
      country_of_manufacture: 'Portugal',
      tax: 'full',
      msrp: ['8', '9'],
      ean: 'none',
    },
  },
];

const toCsv = (rows: readonly (readonly string[])[]) =>
  rows.map(row => row.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');

describeOnDatabases('rows of one product, on %s', kind => {
  test.each(scenarios)(
    '$shop: $name',
    async ({ shop, rows, says = '1 created', product, attributes, variants }) => {
      const place = await createCatalog(kind);
      const file = place.file('p.csv', toCsv(rows));
      const ended = await place.runHere(['import', file, '--preset', shop]);
      expect(ended.err + ended.out).toContain(says);
      expect(ended.status).toBe(0);
      const [made, ...others] = await productsOf(place);
      expect(others).toEqual([]);
      expect(made).toMatchObject(product);
      expect(made?.attributes).toEqual(expect.objectContaining(attributes));
      if (variants !== undefined) expect(await variantsOf(place)).toMatchObject(variants);
      for (const name of ['mpn', 'brand', 'description', 'product_type', 'vendor'])
        if (!(name in attributes)) expect(made?.attributes).not.toHaveProperty(name);
      expect((await place.runHere(['import', file, '--preset', shop])).out).toContain(
        '0 updated, 1 unchanged',
      );
      place.remove();
    },
  );
});

test('variants are read with the header of 2025', async () => {
  const place = await createCatalog('sqlite');
  const { rows = [] } = scenarios.find(({ name }) => name.includes('2025')) ?? {};
  await place.runHere(['import', place.file('p.csv', toCsv(rows)), '--preset', 'shopify']);
  expect(await variantsOf(place)).toMatchObject([
    {
      ...{ sku: 'T-S', gtin: '4006381333931', price: 5, compareAtPrice: 7, options: { Size: 'S' } },
      ...{
        stock: { onHand: 3, backorder: false },
        weight: { value: 180, unit: 'g' },
        imageId: expect.any(Number),
      },
    },
    { sku: 'T-M', price: 6, stock: null },
  ]);
  place.remove();
});

test('rows of a feed that repeat an id without a group are counted', async () => {
  const place = await createCatalog('sqlite');
  const rows = [feedHeader, feedRow('S', '', '', '', '', ''), feedRow('S', 'M-1', '', 'Light', '', '')];
  const file = place.file('p.csv', toCsv(rows.map(row => row.map(cell => (cell === 'TR' ? '' : cell)))));
  const ended = await place.runHere(['import', file, '--preset', 'google']);
  expect(ended.err).toContain('1 × rows that repeat an id were left out: the first row counts');
  expect(await productsOf(place)).toMatchObject([{ sku: 'TR-S', mpn: 'M-1', description: 'Light' }]);
  place.remove();
});
