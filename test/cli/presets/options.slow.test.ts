/** Which columns of a shop's file become options, and which attributes, with empty cells and with too many options. */
import { expect, test } from 'bun:test';
import { superlinearGrowth } from '../../support/service/growth.ts';
import { createCatalog, onCatalog, productsOf, variantsOf } from '../program.ts';

const columns = ['color', 'size', 'material', 'pattern', 'gender', 'age_group', 'size_type'];
const feedHeader = ['id', 'title', 'image_link', 'availability', 'price', 'item_group_id', ...columns].join();
/** @param cells the cells of the option columns */
const row = (id: string, ...cells: readonly string[]) =>
  [id, 'Hoodie', '', 'in stock', '10 USD', 'G', ...columns.map((_, index) => cells[index] ?? '')].join();

const wooHeader = [
  ...['ID', 'Type', 'SKU', 'Name', 'Published', 'Regular price', 'Parent'],
  ...[1, 2, 3, 4, 5, 6].flatMap(number => [`Attribute ${number} name`, `Attribute ${number} value(s)`]),
].join();
const wooRow = (own: readonly string[], ...values: readonly string[]) =>
  [...own, ...values.flatMap((value, index) => [`A${index + 1}`, value])].join();

const magentoHeader = 'sku,product_type,name,price,additional_attributes,configurable_variations';
const pairs = (value: string) => ['a', 'b', 'c', 'd', 'e', 'f'].map(code => `${code}=${value}`).join();

const only = 'columns with values for only some variants were kept as attributes of their product';
const beyond = 'options beyond 5 were kept as attributes of their product';

interface Case {
  readonly name: string;
  readonly shop: 'google' | 'meta' | 'woocommerce' | 'magento';
  readonly rows: readonly string[];
  readonly options?: readonly string[];
  readonly says?: readonly string[];
  readonly attributes: object;
  readonly variants: readonly object[];
}

const feeds: readonly Omit<Case, 'shop'>[] = [
  {
    name: 'an empty cell is no value: a value that the other rows share is that of the product',
    rows: [
      row('1', 'red', 'M', 'cotton', 'plain', 'unisex', 'adult'),
      row('2', 'blue', 'L'),
      row('3', 'red', 'L', 'cotton'),
    ],
    attributes: { material: 'cotton', pattern: 'plain', gender: 'unisex', age_group: 'adult' },
    variants: [
      { color: 'red', size: 'M' },
      { color: 'blue', size: 'L' },
      { color: 'red', size: 'L' },
    ],
  },
  {
    name: 'a value that some rows lack, and that differs in the others, is counted',
    rows: [row('1', 'red', 'M'), row('2', 'blue', 'L'), row('3', 'green')],
    says: [`1 × ${only}`],
    attributes: { size: ['M', 'L'] },
    variants: [{ color: 'red' }, { color: 'blue' }, { color: 'green' }],
  },
  {
    name: 'a column with empty cells is an option where nothing else distinguishes the rows',
    rows: [row('1', 'red', 'M', 'wool'), row('2', 'red'), row('3', 'red', 'L')],
    attributes: { color: 'red', material: 'wool' },
    variants: ['M', 'None', 'L'].map(size => ({ color: 'red', size })),
  },
  {
    name: 'where nothing distinguishes two rows their ids do, beside what distinguishes others',
    rows: [row('1', 'red', '', 'wool'), row('2', 'red', '', 'wool'), row('3', 'blue', '', 'wool')],
    attributes: { material: 'wool' },
    variants: [
      { color: 'red', item: '1' },
      { color: 'red', item: '2' },
      { color: 'blue', item: '3' },
    ],
  },
  {
    name: 'of more than five columns those that distinguish the rows are options, then the first',
    rows: [
      row('1', 'a', 'a', 'a', 'a', 'a', 'a', 'x'),
      row('2', 'b', 'b', 'b', 'b', 'b', 'b', 'x'),
      row('3', 'b', 'b', 'b', 'b', 'b', 'b', 'y'),
    ],
    says: [`2 × ${beyond}`],
    attributes: { gender: ['a', 'b'], age_group: ['a', 'b'] },
    variants: ['a', 'b', 'b'].map((one, index) => ({
      ...{ color: one, size: one, material: one, pattern: one, size_type: index === 2 ? 'y' : 'x' },
    })),
  },
  {
    name: 'ids count among the five',
    rows: [
      row('1', 'a', 'a', 'a', 'a', 'a'),
      row('2', 'b', 'b', 'b', 'b', 'b'),
      row('3', 'b', 'b', 'b', 'b', 'b'),
    ],
    says: [`1 × ${beyond}`],
    attributes: { gender: ['a', 'b'] },
    variants: ['a', 'b', 'b'].map((one, index) => ({
      ...{ color: one, size: one, material: one, pattern: one, item: `${index + 1}` },
    })),
  },
  {
    name: 'a single row has five options of its six columns, and is found by all of them',
    rows: [row('1', 'red', 'M', 'cotton', 'plain', 'unisex', 'adult')],
    says: [`1 × ${beyond}`],
    attributes: {
      ...{ color: 'red', size: 'M', material: 'cotton', pattern: 'plain' },
      ...{ gender: 'unisex', age_group: 'adult' },
    },
    variants: [{ color: 'red', size: 'M', material: 'cotton', pattern: 'plain', gender: 'unisex' }],
  },
  {
    name: '--drop-unknown leaves such values out',
    rows: [row('1', 'red', 'M'), row('2', 'blue')],
    options: ['--drop-unknown'],
    attributes: {},
    variants: [{ color: 'red' }, { color: 'blue' }],
  },
];

const cases: readonly Case[] = [
  ...(['google', 'meta'] as const).flatMap(shop => feeds.map(feed => ({ ...feed, shop }))),
  {
    name: 'of six options of variations those that distinguish them, then the first',
    shop: 'woocommerce',
    rows: [
      wooRow(['1', 'variable', 'P', 'Tee', '1', '', ''], ...Array(5).fill('"x, y"'), '"x, y, z"'),
      wooRow(['2', 'variation', 'P-1', 'Tee', '1', '5', 'P'], ...Array(5).fill('x'), 'x'),
      wooRow(['3', 'variation', 'P-2', 'Tee', '1', '5', 'P'], ...Array(5).fill('y'), 'y'),
      wooRow(['4', 'variation', 'P-3', 'Tee', '1', '5', 'P'], ...Array(5).fill('y'), 'z'),
    ],
    says: [`1 × ${beyond}`],
    attributes: { a5: ['x', 'y'] },
    variants: ['x', 'y', 'y'].map((one, index) => ({
      ...{ a1: one, a2: one, a3: one, a4: one, a6: 'xyz'.charAt(index) },
    })),
  },
  {
    name: 'of six options of a configurable product five are',
    shop: 'magento',
    rows: [
      'C-1,simple,C,10,size=S,',
      'C-2,simple,C,10,size=M,',
      `C,configurable,C,,,"sku=C-1,${pairs('x')}|sku=C-2,${pairs('y')}"`,
    ],
    says: [`1 × ${beyond}`],
    attributes: { f: ['x', 'y'], size: ['S', 'M'], product_type: 'configurable' },
    variants: ['x', 'y'].map(one => ({ a: one, b: one, c: one, d: one, e: one })),
  },
  {
    name: 'a | or a comma within the value of an option belongs to it',
    shop: 'magento',
    rows: [
      'C-1,simple,C,10,color=Red | White,',
      'C-2,simple,C,10,"color=Red, dark",',
      'C,configurable,C,,,"sku=C-1,color=Red | White,size=M | sku=C-2,color=Red, dark,size=M|"',
    ],
    attributes: { product_type: 'configurable' },
    variants: ['Red | White', 'Red, dark'].map(color => ({ color, size: 'M' })),
  },
];

const headers = { google: feedHeader, meta: feedHeader, woocommerce: wooHeader, magento: magentoHeader };

const toKeys = (options: object) =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.toLowerCase().replace(' ', '_'), value]),
  );

test.each(cases)('$shop: $name', async ({ shop, rows, options = [], says = [], attributes, variants }) => {
  const place = await createCatalog('sqlite');
  const file = place.file('p.csv', [headers[shop], ...rows, ''].join('\n'));
  const run = ['import', file, '--preset', shop, ...options];
  const { out, err } = await place.runHere(run);
  expect(out + err).toContain('1 created, 0 updated, 0 unchanged, 0 rejected');
  const notes = [...err.matchAll(/^catalog import: (\d+ × .*)$/gm)].map(([, note]) => note);
  expect(notes).toEqual([...says]);
  const [product] = await productsOf(place);
  expect<unknown>(product?.attributes).toEqual(attributes);
  expect((await variantsOf(place)).map(one => toKeys(one.options))).toEqual([...variants]);
  expect(product?.options.length).toBe(Object.keys(variants[0] ?? {}).length);
  expect((await place.runHere(run)).out).toContain('0 created, 0 updated, 1 unchanged');
  place.remove();
});

test.each([
  ['without an attribute name takes the option of its product', 'variable', 'variation', '', 'Tee'],
  ['without a name is called like its product', 'variable', 'variation', 'Size', ''],
  ['of a subscription is read like others', 'variable-subscription', 'subscription_variation', 'Size', 'Tee'],
])('a WooCommerce variation %s', (_, product, variation, size, name) =>
  onCatalog(async place => {
    const file = [
      'Type,SKU,Name,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)',
      `${product},TEE,Tee,,,Size,"S, M"`,
      `${variation},TEE-S,${name},10,TEE,${size},S`,
      `${variation},TEE-M,${name},9,TEE,${size},M`,
    ].join('\n');
    const ended = await place.runHere(['import', place.file('w.csv', file), '--preset', 'woocommerce']);
    expect(ended.out).toContain('1 created, 0 updated, 0 unchanged, 0 rejected');
    expect(ended.err).not.toContain('×');
    const [tee] = await productsOf(place);
    expect(tee).toMatchObject({ price: 9, options: [{ name: 'Size', values: ['S', 'M'] }], attributes: {} });
  }),
);

test('a comma in the value of a WooCommerce variation stays as it is, escaped or not', () =>
  onCatalog(async place => {
    const file = [
      'Type,SKU,Name,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)',
      'variable,TEA,Tea,,,Weight,"0\\,5 kg, 2\\,5 kg"',
      'variation,TEA-0,Tea,5,TEA,Weight,"0\\,5 kg"',
      'variation,TEA-2,Tea,9,TEA,Weight,"2,5 kg"',
    ].join('\n');
    const ended = await place.runHere(['import', place.file('w.csv', file), '--preset', 'woocommerce']);
    expect(ended.err).not.toContain('×');
    expect(await productsOf(place)).toMatchObject([
      { options: [{ name: 'Weight', values: ['0,5 kg', '2,5 kg'] }] },
    ]);
  }));

test('the only WooCommerce variation of a product may leave all of its options open', () =>
  onCatalog(async place => {
    const file = [
      'Type,SKU,Name,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)',
      'variable,CAP,Cap,,,Size,"S, M"',
      'variation,CAP-1,Cap,9,CAP,Size,',
      'variable,HAT,Hat,,,Size,"S, M"',
      'variation,HAT-1,Hat,9,HAT,Size,',
      'variation,HAT-2,Hat,8,HAT,Size,',
    ].join('\n');
    const run = ['import', place.file('w.csv', file), '--preset', 'woocommerce'];
    const ended = await place.runHere(run);
    expect(ended.err).toContain(
      'line 4: variants.1.options must not be Size Any, which variant 1 of the product has',
    );
    expect(ended.err).toContain('3 × options that a variation leaves open got the value Any');
    expect(await productsOf(place)).toMatchObject([
      {
        sku: 'CAP',
        price: 9,
        options: [{ name: 'Size', values: ['Any'] }],
        attributes: { size: ['S', 'M'] },
      },
    ]);
    expect((await variantsOf(place)).map(({ sku, options }) => [sku, options])).toEqual([
      ['CAP-1', { Size: 'Any' }],
    ]);
    expect((await place.runHere(run)).out).toContain('0 updated, 1 unchanged');
  }));

test('additional_variant_attribute of Meta distinguishes variants, too', () =>
  onCatalog(async place => {
    const columns = 'id,title,image_link,availability,price,item_group_id,color,additional_variant_attribute';
    const file = [
      columns,
      '1,Candle,,in stock,10 USD,C,red,"Scent:Rose,Oil:Jojoba"',
      '2,Candle,,in stock,10 USD,C,red,"Scent: Mint, Oil: Coconut"',
      '3,Soap,,in stock,5 USD,S,,Scent:Rose',
      '4,Soap,,in stock,5 USD,S,,not a pair',
    ].join('\n');
    const run = ['import', place.file('m.csv', file), '--preset', 'meta'];
    await place.runHere(run);
    expect((await variantsOf(place)).map(({ options }) => options)).toEqual([
      { Color: 'red', Scent: 'Rose', Oil: 'Jojoba' },
      { Color: 'red', Scent: 'Mint', Oil: 'Coconut' },
      { Scent: 'Rose' },
      { Scent: 'None' },
    ]);
    expect((await productsOf(place)).map(({ attributes }) => attributes)).toEqual([
      { color: 'red' },
      { additional_variant_attribute: ['Scent:Rose', 'not a pair'] },
    ]);
    expect((await place.runHere(run)).out).toContain('0 updated, 2 unchanged');
  }));

test('spaces in variant_option are read in a time that grows with their number, not with its square', () =>
  onCatalog(async place => {
    // After so many quotes, Bun no longer compiles the expression.
    const texts = ['""'.repeat(200_000), `,${' '.repeat(1_000_000)}""`];
    const rows = texts.map((text, index) => `${index}\tSock\t9 EUR\tin_stock\t\tSOCK\t"${text}"`);
    const header = 'id\ttitle\tprice\tavailability\timage_link\titem_group_id\tvariant_option';
    const file = place.file('g.tsv', [header, ...rows].join('\n'));
    expect((await place.runHere(['import', file, '--preset', 'google'])).out).toContain('1 created');
  }));

test('the time for very many additional variant attributes grows linearly', () =>
  onCatalog(async place => {
    const header = 'id,title,image_link,availability,price,item_group_id,additional_variant_attribute';
    const run = async (length: number) => {
      const pairs = (value: string) => Array.from({ length }, (_, index) => `A${index}:${value}`).join();
      const rows = ['1', '2'].map(id => `${id},Sock,,in stock,9 EUR,SOCK,"${pairs(id)}"`);
      const file = place.file('pairs.csv', [header, ...rows].join('\n'));
      const ended = await place.runHere(['import', file, '--preset', 'meta', '--dry-run']);
      expect(ended).toMatchObject({ status: 0 });
    };
    expect(await superlinearGrowth(run, 500)).toBeUndefined();
  }));
