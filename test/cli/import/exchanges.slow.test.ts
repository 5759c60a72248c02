/** Products and variants that exchange, pass on or give up options, SKUs and external ids between imports. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, ndjsonOf, productsOf, variantsOf, versionOf } from '../program.ts';

/** @param rows SKU, size and price of each variant */
const tee = (...rows: readonly string[]) => ({
  ...{ name: 'Tee', price: 10, externalId: 'tee' },
  variants: rows.map(row => {
    const [sku, Size, price] = row.split(' ');
    return { sku, options: { Size }, ...(price === undefined ? {} : { price: Number(price) }) };
  }),
});
const other = { name: 'Other', price: 10, sku: 'OTHER' };
const [one, two] = [tee('T-1 S', 'T-2 M'), tee('T-1 S', 'T-2 M', 'T-3 L')];
const mug = (sku: string | null, externalId: string, members: object = {}) => ({
  ...{ name: 'Mug', price: 5, sku, externalId, ...members },
});

interface Scenario {
  readonly name: string;
  /** The files, imported one after another. */
  readonly files: readonly (readonly object[])[];
  /** What the import of the last file reports. */
  readonly says: string;
  readonly status?: number;
  /** Id, size, SKU and price of all variants afterwards, by id. */
  readonly variants?: readonly string[];
  /** Id, SKU and external id of all products. */
  readonly products: readonly string[];
}

const onlyTee = ['1 - tee'];

const scenarios: readonly Scenario[] = [
  {
    name: 'stock of a product that has variants',
    files: [[one], [{ ...tee('T-1 S 7'), stock: { onHand: 5 } }]],
    says: 'line 1: stock: must be null: a product with variants has stock on each variant',
    status: 2,
    variants: ['1 S T-1 -', '2 M T-2 -'],
    products: onlyTee,
  },
  {
    name: 'stock of a product to which an earlier record of the file gives variants',
    files: [[other, one, { name: 'Tee', price: 10, externalId: 'tee', stock: { onHand: 4 } }]],
    says: 'line 3: stock: must be null: a product with variants has stock on each variant',
    status: 2,
    variants: ['1 S T-1 -', '2 M T-2 -'],
    products: ['1 OTHER -', '2 - tee'],
  },
  {
    name: 'two variants exchange their options',
    files: [[one], [tee('T-2 S 7', 'T-1 M 9'), other]],
    says: '1 created, 1 updated, 0 unchanged, 0 rejected',
    variants: ['1 M T-1 9', '2 S T-2 7'],
    products: [...onlyTee, '2 OTHER -'],
  },
  {
    name: 'variants pass their options on, in either order',
    files: [[one], [tee('T-1 M 7', 'T-2 L 9')], [tee('T-2 M 7', 'T-1 S 9')]],
    says: '1 updated, 0 unchanged, 0 rejected',
    variants: ['1 S T-1 9', '2 M T-2 7'],
    products: onlyTee,
  },
  {
    name: 'three variants pass their options round, and a new one takes what is free',
    files: [[two], [tee('T-1 M', 'T-2 L', 'T-3 XL', 'T-4 S')]],
    says: '1 updated, 0 unchanged, 0 rejected',
    variants: ['1 M T-1 -', '2 L T-2 -', '3 XL T-3 -', '4 S T-4 -'],
    products: onlyTee,
  },
  {
    name: 'a new variant gets the options that another variant of the record had',
    files: [[one], [tee('T-9 S 9', 'T-1 L 7')]],
    says: '1 updated, 0 unchanged, 0 rejected',
    variants: ['1 L T-1 7', '2 M T-2 -', '3 S T-9 9'],
    products: onlyTee,
  },
  {
    name: 'a variant cannot have the options of one that keeps them',
    files: [[one], [tee('T-2 S 7', 'T-9 M 9'), other]],
    says: 'line 1: variants: two variants would have the options Size S',
    status: 2,
    variants: ['1 S T-1 -', '2 M T-2 -'],
    products: [...onlyTee, '2 OTHER -'],
  },
  {
    name: 'a variant of another product takes a sku that a variant gave up',
    files: [
      [one, mug(null, 'mug')],
      [tee('T-9 S'), { ...tee('T-1 S'), externalId: 'tee-2' }],
    ],
    says: '1 created, 1 updated, 0 unchanged, 0 rejected',
    variants: ['1 S T-9 -', '2 M T-2 -', '3 S T-1 -'],
    products: [...onlyTee, '2 - mug', '3 - tee-2'],
  },
  {
    name: 'a new product takes a sku that another product gave up',
    files: [[mug('MUG', 'mug')], [mug('MUG-OLD', 'mug'), mug('MUG', 'mug-2026')]],
    says: '1 created, 1 updated, 0 unchanged, 0 rejected',
    products: ['1 MUG-OLD mug', '2 MUG mug-2026'],
  },
  {
    name: 'a new product takes an external id that another product gave up',
    files: [[mug('A', '1')], [mug('A', '2', { price: 2 }), mug('C', '1', { price: 3 })]],
    says: '1 created, 1 updated, 0 unchanged, 0 rejected',
    products: ['1 A 2', '2 C 1'],
  },
  {
    name: 'products pass their skus on',
    files: [
      [mug('A', '1'), mug('B', '2'), mug('C', '3')],
      [mug('D', '3'), mug('C', '2'), mug('B', '1')],
    ],
    says: '0 created, 3 updated, 0 unchanged, 0 rejected',
    products: ['1 B 1', '2 C 2', '3 D 3'],
  },
  {
    name: 'a product takes the sku that a variant of another product gave up, and vice versa',
    files: [
      [one, mug('MUG', 'mug')],
      [tee('T-9 S'), mug('T-1', 'mug'), { ...tee('MUG S'), externalId: 'tee-2' }],
    ],
    says: '1 created, 2 updated, 0 unchanged, 0 rejected',
    variants: ['1 S T-9 -', '2 M T-2 -', '3 S MUG -'],
    products: [...onlyTee, '2 T-1 mug', '3 - tee-2'],
  },
  {
    name: 'a product that gets options gives its sku to one of its variants',
    files: [
      [mug('MUG-1', 'mug')],
      [
        {
          ...tee('MUG-1 S', 'MUG-2 M'),
          externalId: 'mug',
        },
      ],
    ],
    says: '0 created, 1 updated, 0 unchanged, 0 rejected',
    variants: ['1 S MUG-1 -', '2 M MUG-2 -'],
    products: ['1 - mug'],
  },
  {
    name: 'a product and its variant cannot have the same sku',
    files: [[other], [{ ...tee('T-1 S'), sku: 'T-1' }]],
    says: 'line 1: sku: "T-1" is already the sku of a variant of the product itself',
    status: 2,
    products: ['1 OTHER -'],
  },
];

const shown = (...values: readonly unknown[]): string => values.map(value => value ?? '-').join(' ');

const shopify = (rows: readonly string[]) =>
  [
    'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,Status',
    ...rows,
  ].join('\n');

describeOnDatabases('catalog import of exchanged options, skus and ids on %s', kind => {
  for (const { name, files, says, status = 0, variants = [], products } of scenarios) {
    // Files of one record are one transaction in any case.
    for (const batch of files.some(({ length }) => length > 1) ? ['1', '100'] : ['100']) {
      test(`${name}, ${batch} at once`, async () => {
        const place = await createCatalog(kind);
        const run = (file: readonly object[]) =>
          place.runHere(['import', place.file('p.ndjson', ndjsonOf(file)), '--batch', batch]);
        const last = files.at(-1) ?? [];
        for (const file of files.slice(0, -1)) expect(await run(file)).toMatchObject({ status: 0 });
        const ended = await run(last);
        expect(ended.out + ended.err).toContain(says);
        expect(ended.status).toBe(status);
        expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
        const sold = (await variantsOf(place)).sort((a, b) => a.id - b.id);
        expect(sold.map(({ id, options, sku, price }) => shown(id, options.Size, sku, price))).toEqual([
          ...variants,
        ]);
        const all = await productsOf(place);
        expect(all.map(({ id, sku, externalId }) => shown(id, sku, externalId))).toEqual([...products]);
        if (status === 0) {
          const version = await versionOf(place);
          expect((await run(last)).out).toContain(`0 created, 0 updated, ${last.length} unchanged`);
          expect(await versionOf(place)).toBe(version);
        }
        place.remove();
      });
    }
  }

  test('stock of a product without options becomes stock of its variant once it has options', async () => {
    const place = await createCatalog(kind);
    const run = (rows: readonly string[]) =>
      place.runHere(['import', place.file('p.csv', shopify(rows)), '--preset', 'shopify']);
    expect(await run(['mug,Mug,Title,Default Title,MUG-1,shopify,4,deny,12,active'])).toMatchObject({
      status: 0,
    });
    expect(await productsOf(place)).toMatchObject([{ sku: 'MUG-1', stock: { onHand: 4 } }]);
    const rows = ['mug,Mug,Colour,Red,MUG-1,shopify,4,deny,12,active', 'mug,,,Blue,MUG-2,shopify,1,deny,13,'];
    expect((await run(rows)).out).toContain('0 created, 1 updated, 0 unchanged, 0 rejected');
    expect(await productsOf(place)).toMatchObject([{ id: 1, sku: null, stock: null, variantCount: 2 }]);
    expect(await variantsOf(place)).toMatchObject([
      { sku: 'MUG-1', stock: { onHand: 4 }, price: 12 },
      { sku: 'MUG-2', stock: { onHand: 1 }, price: 13 },
    ]);
    expect((await run(rows)).out).toContain('0 created, 0 updated, 1 unchanged');
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    place.remove();
  });

  test('a variant without stock in the file gets the stock of the product whose sku it takes', async () => {
    const place = await createCatalog(kind);
    for (const record of [
      mug('MUG', 'mug', { stock: { onHand: 4 } }),
      { ...tee('MUG S', 'X M'), externalId: 'mug' },
    ])
      await place.runHere(['import', place.file('p.ndjson', ndjsonOf([record]))]);
    expect(await productsOf(place)).toMatchObject([{ sku: null, stock: null, available: true }]);
    expect(await variantsOf(place)).toMatchObject([
      { sku: 'MUG', stock: { onHand: 4 } },
      { sku: 'X', stock: null },
    ]);
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    place.remove();
  });
});
