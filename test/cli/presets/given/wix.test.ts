/** Exports of Wix Stores: rows of products and of their variants, in any order. */
import { expect, test } from 'bun:test';
import { onCatalog, productsOf, variantsOf } from '../../program.ts';

const columns = [
  ...[
    'handleId',
    'fieldType',
    'name',
    'productImageUrl',
    'collection',
    'sku',
    'ribbon',
    'price',
    'surcharge',
  ],
  ...['visible', 'discountMode', 'discountValue', 'inventory', 'weight', 'brand'],
  ...['productOptionName1', 'productOptionType1', 'productOptionDescription1'],
  ...['productOptionName2', 'productOptionType2', 'productOptionDescription2'],
  ...['additionalInfoTitle1', 'additionalInfoDescription1'],
] as const;
type Cells = Partial<Record<(typeof columns)[number], string>>;

const toRow = (cells: Cells): string => columns.map(name => `"${cells[name] ?? ''}"`).join(',');
const product = (handleId: string, cells: Cells): string =>
  toRow({
    ...{ handleId, fieldType: 'Product', visible: 'true', discountMode: 'PERCENT', discountValue: '0.0' },
    ...cells,
  });
const variant = (handleId: string, cells: Cells): string =>
  toRow({ handleId, fieldType: 'Variant', visible: 'true', ...cells });
const toFile = (...rows: readonly string[]): string => [columns.join(','), ...rows].join('\n');

const size = {
  productOptionName1: 'Size',
  productOptionType1: 'DROP_DOWN',
  productOptionDescription1: 'S;M;L',
};
const colour = {
  ...{ productOptionName2: 'Colour', productOptionType2: 'COLOR' },
  productOptionDescription2: '#b81616:Red;rgb(193,180,123):Cream',
};
const inSize = (value: string, cells: Cells) => ({
  ...{ productOptionDescription1: value, productOptionDescription2: '#b81616:Red' },
  ...cells,
});

test('variants are joined to their product, and cost its price, their surcharge, and less its discount', () =>
  onCatalog(async place => {
    const tee = {
      ...{ name: 'Tee &amp; more', price: '19.9', discountValue: '10.0', weight: '0.2', brand: 'Acme' },
      ...{ ...size, ...colour, ribbon: 'New', collection: 'Shirts;New, in', inventory: 'InStock' },
      ...{ productImageUrl: 'a1_b~mv2.jpg;https://shop.example/c.jpg' },
      ...{ additionalInfoTitle1: 'Care', additionalInfoDescription1: '<p>Cold</p>' },
    };
    const file = toFile(
      variant('t', inSize('M', { sku: 'T-M', inventory: 'OutOfStock', surcharge: '0.1' })),
      variant('t', inSize('S', { sku: 'T-S', inventory: '4' })),
      product('t', tee),
      variant('t', inSize('L', { sku: 'T-L', inventory: 'InStock', visible: 'false' })),
    );
    const run = ['import', place.file('w.csv', file), '--preset', 'wix'];
    const ended = await place.runHere(run);
    expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('1 created') });
    expect(ended.err).toContain('1 × variants that the shop has disabled were left out');
    expect(ended.err).toContain(
      '1 × weights without a unit were read as kg; --weight-unit names another unit',
    );
    expect(await productsOf(place)).toMatchObject([
      {
        ...{ externalId: 't', name: 'Tee & more', brand: 'Acme', sku: null, status: 'active' },
        ...{ category: 'Shirts', categories: ['New, in'], weight: { value: 0.2, unit: 'kg' } },
        attributes: { ribbon: 'New', care: '<p>Cold</p>' },
        options: [
          { name: 'Size', values: ['S', 'M'] },
          { name: 'Colour', values: ['Red'] },
        ],
        images: [
          { url: 'https://static.wixstatic.com/media/a1_b~mv2.jpg' },
          { url: 'https://shop.example/c.jpg' },
        ],
      },
    ]);
    const stock = { tracked: true, backorder: false };
    expect(await variantsOf(place)).toMatchObject([
      { sku: 'T-S', price: 17.91, compareAtPrice: 19.9, stock: { ...stock, onHand: 4 } },
      { sku: 'T-M', price: 18, compareAtPrice: 20, stock: { ...stock, onHand: 0 } },
    ]);
    expect((await place.runHere(run)).out).toStartWith('0 created, 0 updated, 1 unchanged');
  }));

test('products without variants have their own stock, and options that are not managed are attributes', () =>
  onCatalog(async place => {
    const file = toFile(
      product('a', {
        name: 'Dice',
        price: '30.0',
        visible: 'false',
        inventory: '15',
        discountMode: 'AMOUNT',
        discountValue: '5.0',
      }),
      product('b', { name: 'Hat', price: '25.0', inventory: 'InStock', ...size, ...colour }),
      product('c', { name: 'Cap', price: '25.0', inventory: 'OutOfStock', sku: 'C' }),
      product('d', { name: 'Cup', price: '5.0', sku: 'C' }),
      product('c', { name: 'Cap', price: '26.0', inventory: 'OutOfStock', sku: 'C' }),
    );
    const ended = await place.runHere(['import', place.file('w.csv', file), '--preset', 'wix']);
    expect(ended.err).toContain('1 × rows that repeat a product or a variant were left out: the last counts');
    expect(ended.err).toContain('1 × skus that an earlier product or variant has were left out');
    const products = await productsOf(place);
    expect(
      products.sort((one, other) => (one.externalId ?? '').localeCompare(other.externalId ?? '')),
    ).toMatchObject([
      {
        name: 'Dice',
        price: 25,
        compareAtPrice: 30,
        status: 'archived',
        stock: { tracked: true, onHand: 15 },
      },
      {
        name: 'Hat',
        stock: null,
        attributes: { size: ['S', 'M', 'L'], colour: ['Red', 'Cream'] },
        options: [],
      },
      { name: 'Cap', price: 26, stock: { tracked: true, onHand: 0 } },
      { name: 'Cup', externalId: 'd' },
    ]);
  }));

test('rows of no product and of another kind, and unknown discounts, are refused by name', () =>
  onCatalog(async place => {
    const file = toFile(
      variant('gone', inSize('S', {})),
      toRow({ handleId: 'm', fieldType: 'Media' }),
      product('p', { name: 'Mug', price: '5', discountMode: 'GIFT', discountValue: '1' }),
    );
    const ended = await place.runHere(['import', place.file('w.csv', file), '--preset', 'wix']);
    expect(ended.status).toBe(2);
    expect(ended.err).toContain('line 2: belongs to the product "gone", which the file does not have');
    expect(ended.err).toContain('line 3: fieldType must be Product or Variant');
    expect(ended.err).toContain('line 4: discountMode must be PERCENT or AMOUNT (it is "GIFT")');
  }));

test('an import without a preset proposes it', () =>
  onCatalog(async place => {
    const file = place.file('w.csv', toFile(product('p', { name: 'Mug', price: '5' })));
    const ended = await place.runHere(['import', file, '--dry-run']);
    expect(ended.err).toContain('looks like a product export of Wix Stores: --preset wix reads all of it');
  }));
