/**
 * Random shop files, with many things that no shop would write: the import ends in order, importing the same file again
 * changes nothing, and neither does importing an export of the result.
 */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { onCatalog, type Place, productsOf, variantsOf } from '../cli/program.ts';
import { countDraws } from './share.ts';

/** Values of the columns that group rows, and the names of all other columns. The first column identifies a row. */
interface Shop {
  readonly name: string;
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly others: string;
}

const shops: readonly Shop[] = [
  {
    name: 'shopify',
    values: {
      Handle: ['a', 'b', 'c'],
      Title: ['Tee', 'Mug', ''],
      'Variant Price': ['5', '6.50', ''],
      'Option1 Name': ['Size', 'Title', ''],
      'Option1 Value': ['S', 'M', 'Default Title', ''],
      Published: ['true', 'false', ''],
    },
    others:
      'Body (HTML),Vendor,Product Category,Type,Tags,Option2 Name,Option2 Value,Variant SKU,Variant Grams,Variant Weight Unit,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Compare At Price,Variant Barcode,Image Src,Image Position,Image Alt Text,Variant Image,Status,Custom',
  },
  {
    name: 'woocommerce',
    values: {
      ID: ['1', '2', '3', '4'],
      Type: ['simple', 'variable', 'variation', 'variation', 'grouped'],
      SKU: ['A', 'B', 'C', 'D', ''],
      Name: ['Tee', 'Mug'],
      'Regular price': ['5', '7', ''],
      Parent: ['A', 'B', 'id:1', ''],
      'Attribute 1 name': ['Size', ''],
      'Attribute 1 value(s)': ['S', 'M', 'S, M', ''],
    },
    others:
      'Published,Short description,Description,Date sale price starts,Date sale price ends,In stock?,Stock,Backorders allowed?,Weight (kg),Sale price,Categories,Tags,Images,Brands,Attribute 2 name,Attribute 2 value(s),Meta: x',
  },
  {
    name: 'magento',
    values: {
      sku: ['A', 'B', 'C', 'D'],
      product_type: ['simple', 'simple', 'configurable', 'bundle'],
      name: ['Tee', 'Mug'],
      price: ['5', '7', ''],
      store_view_code: ['', '', '', 'de'],
      configurable_variations: ['sku=A,size=S|sku=B,size=M', 'sku=C,size=S', ''],
      visibility: ['Catalog, Search', 'Not Visible Individually'],
    },
    others:
      'categories,description,short_description,weight,product_online,special_price,special_price_from_date,special_price_to_date,base_image,base_image_label,additional_images,additional_image_labels,additional_attributes,qty,is_in_stock,manage_stock,use_config_manage_stock,allow_backorders,configurable_variation_labels,bundle_values',
  },
  {
    name: 'google',
    values: {
      id: ['1', '2', '3', '4'],
      title: ['Tee', 'Tee Red', 'Mug'],
      price: ['5 EUR', '7 EUR', '5 USD'],
      item_group_id: ['1', 'g', ''],
      availability: ['in stock', 'out_of_stock'],
    },
    others:
      'description,sale_price,sale_price_effective_date,brand,gtin,mpn,product_type,google_product_category,image_link,additional_image_link,shipping_weight,color,size,material,custom_label_0',
  },
  {
    name: 'meta',
    values: {
      id: ['1', '2', '3', '4'],
      title: ['Tee', 'Mug'],
      price: ['5 EUR', '7 EUR'],
      item_group_id: ['1', 'g', ''],
      status: ['active', 'archived', ''],
    },
    others:
      'description,availability,condition,link,image_link,brand,fb_product_category,color,size,quantity_to_sell_on_facebook,sale_price,gtin,product_tags[0]',
  },
];

/** Texts that may be in any cell. */
const texts = [
  ...[
    'A',
    'Tee',
    'a,b',
    'a|b',
    'x;y',
    '=1+1',
    "'quoted",
    'Ünïcode 漢字',
    'x'.repeat(300),
    ' padded ',
    'line\nbreak',
  ],
  ...[
    '0',
    '1',
    '-1',
    '1.5',
    '1,5',
    '10.00',
    '1e3',
    '12 EUR',
    '$5',
    '9 USD',
    '99999999999999999999',
    '4006381333931',
  ],
  ...[
    '<b>x</b>',
    '&amp;',
    'a > b',
    'a > b, c',
    'true',
    'no',
    '2024-01-01',
    'tab\there',
    '"q"',
    '\u0000',
    '😀',
  ],
  ...[
    'no_selection',
    'https://c.example/1.jpg',
    '/m/a.jpg',
    'parent',
    'id:1',
    'color=Red,size=M',
    'Default Title',
  ],
  ...[
    'sku=A,color=Red|sku=B,color=Blue',
    'variation',
    'variable',
    'simple',
    'configurable',
    'draft',
    'archived',
  ],
];

function fileOf({ values, others }: Shop): fc.Arbitrary<string> {
  const any = fc.constantFrom(...texts);
  // The first column is always set: a row without it would be a new product each time.
  const [, ...deciding] = Object.values(values);
  const cells = [
    fc.constantFrom(...(Object.values(values)[0] ?? [])),
    ...deciding.map(own =>
      fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...own) }, { weight: 1, arbitrary: any }),
    ),
    ...others
      .split(',')
      .map(() => fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 1, arbitrary: any })),
  ];
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const header = [...Object.keys(values), ...others.split(',')].map(quote).join(',');
  const row = fc.tuple(...cells).map(row => row.map(quote).join(','));
  return fc.array(row, { minLength: 1, maxLength: 8 }).map(rows => [header, ...rows, ''].join('\n'));
}

const contents = async (place: Place) => [await productsOf(place), await variantsOf(place)];

test.each(shops)('a second import of a $name file, and an import of its export, change nothing', shop =>
  fc.assert(
    fc.asyncProperty(fileOf(shop), text =>
      onCatalog(async place => {
        const command = ['import', place.file('p.csv', text), '--preset', shop.name];
        const first = await place.runHere(command);
        expect(first.out + first.err).not.toMatch(/undefined|\[object|NaN|\bat \S+:\d+/);
        expect<(number | null)[]>([0, 2]).toContain(first.status);
        const before = await contents(place);
        expect(await place.runHere(command)).toMatchObject({
          out: expect.stringContaining('0 created, 0 updated'),
          status: first.status,
        });
        expect(await contents(place)).toEqual(before);
        const exported = join(place.folder, 'e.ndjson');
        expect((await place.runHere(['export', '--format', 'ndjson', '--output', exported])).status).toBe(0);
        if (before[0]?.length === 0) return;
        const back = await place.runHere(['import', exported]);
        expect([back.status, back.out]).toEqual([0, expect.stringContaining('0 created, 0 updated')]);
        expect(await contents(place)).toEqual(before);
      }),
    ),
    { numRuns: countDraws(25) },
  ),
);
