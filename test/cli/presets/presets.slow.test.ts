/** Files as shops export them, and the products that their rows become. */
import { expect, test } from 'bun:test';
import { googleFile, magentoFile, metaFile, shopifyFile, wooFile } from '../../support/samples/shop-files.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, productsOf, variantsOf, versionOf } from '../program.ts';

interface Scenario {
  readonly shop: string;
  readonly content: string;
  readonly options?: readonly string[];
  readonly status: number;
  readonly says: readonly (string | RegExp)[];
  /** The products by name, with the members that matter. */
  readonly products: Readonly<Record<string, object>>;
  /** The variants of all products, in order, with the members that matter. */
  readonly variants: readonly object[];
}

const counted = (onHand: number, backorder = false) => ({ tracked: true, onHand, reserved: 0, backorder });

const link = (url: string, alt: string | null = null) => expect.objectContaining({ url, alt });

const scenarios: readonly Scenario[] = [
  {
    shop: 'shopify',
    content: shopifyFile,
    status: 0,
    says: [
      'read 4 rows: 2 products, 2 variants, 4 images',
      '1 × stock below 0 was taken as 0',
      '1 × barcodes that are not GTINs were kept as attributes',
      '2 created, 0 updated, 0 unchanged, 0 rejected',
    ],
    products: {
      'River Tee': {
        ...{
          sku: null,
          externalId: 'river-tee',
          price: 24.9,
          currency: 'CHF',
          status: 'active',
          mpn: 'NW-RT',
        },
        ...{ description: '<p>Soft, "organic" cotton</p>', brand: 'Northwater' },
        ...{ category: 'Apparel & Accessories > Clothing > Shirts & Tops', categories: ['T-Shirts'] },
        tags: ['cotton', 'summer', 'new in'],
        attributes: {
          ...{ cost_per_item: ['9.1', '9.4'], seo_title: 'River tee' },
          'fabric_product.metafields.shopify.fabric': ['cotton', 'hemp'],
        },
        options: [
          { name: 'Size', values: ['S', 'M'] },
          { name: 'Colour', values: ['Blue'] },
        ],
        images: [
          link('https://cdn.example/tee-1.jpg', 'Front'),
          link('https://cdn.example/tee-2.jpg?v=1', 'Back'),
          link('https://cdn.example/tee-3.jpg'),
          link('https://cdn.example/tee-blue.jpg'),
        ],
      },
      Mug: {
        ...{ sku: 'MUG-1', externalId: 'mug', price: 12, compareAtPrice: null, status: 'archived' },
        ...{ category: 'Kitchen', gtin: null, weight: null, stock: null, options: [], images: [] },
        attributes: { variant_barcode: 12345 },
      },
    },
    variants: [
      {
        ...{ sku: 'RT-S-B', gtin: '4006381333931', price: 24.9, compareAtPrice: 29.9, position: 1 },
        ...{ options: { Size: 'S', Colour: 'Blue' }, weight: { value: 180, unit: 'g' }, stock: counted(7) },
        imageId: expect.any(Number),
      },
      {
        ...{ sku: 'RT-M-B', gtin: null, price: 26.9, compareAtPrice: null, position: 2, imageId: null },
        ...{ options: { Size: 'M', Colour: 'Blue' }, stock: counted(0), available: false },
      },
    ],
  },
  {
    shop: 'woocommerce',
    content: wooFile,
    status: 2,
    says: [
      'read 7 rows: 3 products, 2 variants, 3 images',
      /1 × grouped products, which have no price of their own, were left out/,
      '1 × stock of products marked out of stock was taken as 0',
      'belongs to the product "id:99", which the file does not have',
      '3 created, 0 updated, 0 unchanged, 1 rejected',
    ],
    products: {
      Hoodie: {
        ...{ sku: 'HOOD', externalId: '10', price: 45, status: 'active', brand: 'Fjord', stock: null },
        ...{
          description: 'Thick fleece.\nWash cold.',
          category: 'Clothing > Hoodies',
          categories: ['Sale, all'],
        },
        attributes: { fabric: ['Cotton', 'Wool'], short_description: 'Warm.', meta_care: 'cold' },
        options: [{ name: 'Size', values: ['S', 'M'] }],
      },
      Cap: {
        ...{ sku: 'CAP', price: 12.5, compareAtPrice: 15, status: 'archived', description: 'A cap' },
        ...{ weight: { value: 0.1, unit: 'kg' }, attributes: { colour: 'Red' }, available: false },
        stock: { tracked: true, onHand: 0, reserved: 0, backorder: false },
      },
      Lamp: { price: 20, compareAtPrice: null, attributes: { date_sale_price_ends: '2020-01-01' } },
    },
    variants: [
      {
        ...{ sku: 'HOOD-S', price: 45, compareAtPrice: 60, options: { Size: 'S' }, stock: counted(5, true) },
        ...{ gtin: '4006381333931', weight: { value: 0.8, unit: 'kg' }, imageId: expect.any(Number) },
      },
      { sku: null, price: 62, options: { Size: 'M' }, stock: null },
    ],
  },
  {
    shop: 'magento',
    content: magentoFile,
    options: ['--image-base', 'https://m.example/media/'],
    status: 0,
    says: [
      'read 6 rows: 2 products, 2 variants, 3 images',
      '1 × rows of store views were left out',
      /1 × grouped products, which have no price of their own, were left out/,
      '2 created, 0 updated, 0 unchanged, 0 rejected',
    ],
    products: {
      Jacket: {
        ...{ sku: 'JK', price: 70, category: 'Men > Tops > Jackets', categories: ['Sale'] },
        attributes: {
          ...{ climate: ['Cool', 'Windy'], note: 'Zip, lined', pattern: 'Solid', short_description: 'Warm' },
          ...{ attribute_set_code: 'Top', product_type: 'configurable', visibility: 'Catalog, Search' },
          tax_class_name: 'Taxable',
        },
        options: [
          { name: 'Size', values: ['S', 'M'] },
          { name: 'Colour', values: ['Black'] },
        ],
        images: [
          link('https://m.example/media/j/k/jk-main.jpg', 'Jacket'),
          link('https://m.example/media/j/k/jk-back.jpg', 'Back'),
          link('https://m.example/media/j/k/jk-Black.jpg'),
        ],
      },
      Bag: {
        ...{
          sku: 'BAG',
          price: 30,
          compareAtPrice: 34,
          brand: 'Fjord',
          category: 'Gear > Bags',
          categories: [],
        },
        stock: { tracked: true, onHand: 3, reserved: 0, backorder: false },
      },
    },
    variants: [
      {
        ...{ sku: 'JK-S-Black', price: 70, options: { Size: 'S', Colour: 'Black' }, stock: counted(100) },
        ...{ weight: { value: 1, unit: 'lb' }, imageId: expect.any(Number) },
      },
      { sku: 'JK-M-Black', price: 72, options: { Size: 'M', Colour: 'Black' }, stock: counted(0) },
    ],
  },
  {
    shop: 'google',
    content: googleFile,
    status: 0,
    says: ['read 3 rows: 2 products, 2 variants, 4 images', '2 created'],
    products: {
      'Trail Runner Red': {
        ...{ sku: null, externalId: 'TR', price: 79, currency: 'EUR', brand: 'Fjord' },
        ...{
          category: 'Shoes > Running',
          categories: ['Sale'],
          options: [
            { name: 'Color', values: ['Red'] },
            { name: 'Size', values: ['42', '43'] },
          ],
        },
        attributes: { link: 'https://shop.example/tr', condition: 'new', color: 'Red' },
      },
      Socks: {
        ...{ sku: 'SOCK', price: 9.5, currency: 'EUR', available: false, category: null },
        attributes: {
          link: 'https://shop.example/s',
          custom_label_0: 'basics',
          google_product_category: 209,
        },
      },
    },
    variants: [
      {
        ...{ sku: 'TR-42-R', price: 79, compareAtPrice: 99, gtin: '4006381333931', stock: null },
        ...{ options: { Color: 'Red', Size: '42' }, weight: { value: 0.6, unit: 'kg' } },
      },
      {
        ...{ sku: 'TR-43-R', price: 101, options: { Color: 'Red', Size: '43' } },
        ...{ stock: counted(0, true), available: true },
      },
    ],
  },
  {
    shop: 'meta',
    content: metaFile,
    status: 0,
    says: [
      ...['read 3 rows: 2 products, 2 variants, 4 images', '2 created'],
      '1 × stock of products marked out of stock was taken as 0',
    ],
    products: {
      'Trail Runner Red': { externalId: 'TR', category: 'Shoes > Running' },
      Socks: {
        ...{ status: 'archived', tags: ['warm', 'wool'], category: 'Clothing > Socks' },
        ...{ stock: counted(0), available: false },
      },
    },
    variants: [{ sku: 'TR-42-R', stock: counted(6) }, { sku: 'TR-43-R' }],
  },
];

describeOnDatabases('catalog import --preset on %s', kind => {
  for (const { shop, content, options = [], status, says, products, variants } of scenarios) {
    test(`${shop}, and the same file again changes nothing`, async () => {
      const place = await createCatalog(kind, { DEFAULT_CURRENCY: 'CHF' });
      const file = place.file(`${shop}.csv`, content);
      const run = ['import', file, '--preset', shop, ...options];
      const first = await place.runHere(run);
      for (const text of says) expect(first.out + first.err).toMatch(text);
      expect(first.status).toBe(status);
      const made = await productsOf(place);
      expect(made.map(({ name }) => name).sort()).toEqual(Object.keys(products).sort());
      for (const product of made) expect(product).toMatchObject(products[product.name] ?? {});
      const [sold, version] = [await variantsOf(place), await versionOf(place)];
      expect(sold).toMatchObject([...variants]);
      const [{ productId } = { productId: 0 }] = sold;
      const range = { min: sold[0]?.price, max: sold[1]?.price };
      const isSold = (product: { id: number }) => product.id === productId;
      expect(made.find(isSold)).toMatchObject({ variantCount: 2, price: range.min, priceRange: range });
      const again = await place.runHere(run);
      expect(again.out).toContain(`0 created, 0 updated, ${made.length} unchanged`);
      expect([await productsOf(place), await variantsOf(place)]).toEqual([made, sold]);
      expect(await versionOf(place)).toBe(version);
      expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
      place.remove();
    });
  }
});
