/** Products with their variants in one file: what is added, what is updated, and what is refused entirely. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, ndjsonOf, productsOf, variantsOf, versionOf } from '../program.ts';

const shirt = (members: object = {}, variants: readonly object[] = [small, medium]) => ({
  ...{ sku: 'SHIRT', externalId: 'shirt-1', name: 'Shirt', price: 30 },
  ...{ ...members, variants },
});
const small = { sku: 'SHIRT-S', options: { Size: 'S' }, price: 25, stock: { onHand: 2 } };
const medium = { sku: 'SHIRT-M', options: { Size: 'M' }, weight: '200 g', image: 'https://a.example/m.jpg' };
const images = ['https://a.example/s.jpg', 'https://a.example/m.jpg'];
const mug = { sku: 'MUG', externalId: 'mug-1', name: 'Mug', price: 5 };

interface Scenario {
  readonly name: string;
  readonly before?: readonly object[];
  readonly file: readonly object[];
  readonly status?: number;
  readonly says: readonly string[];
  /** SKU, options and price of all variants afterwards. */
  readonly leaves: readonly (readonly [sku: string | null, options: object, price: number | null])[];
  readonly products?: readonly object[];
}

const both = [
  ['SHIRT-S', { Size: 'S' }, 25],
  ['SHIRT-M', { Size: 'M' }, null],
] as const;

const scenarios: readonly Scenario[] = [
  {
    name: 'options follow from variants; the price of the product is that of the cheapest',
    file: [shirt({ images }), mug],
    says: ['2 created', 'read 2 rows: 2 products, 2 variants, 2 images'],
    leaves: both,
    products: [
      {
        ...{ price: 25, priceRange: { min: 25, max: 30 }, variantCount: 2, available: true },
        options: [{ name: 'Size', values: ['S', 'M'] }],
      },
      { sku: 'MUG', variantCount: 0 },
    ],
  },
  {
    name: 'variants of a file are added or changed, the others kept',
    before: [shirt()],
    file: [
      shirt({}, [
        { ...small, price: 20 },
        { sku: 'SHIRT-L', options: { Size: 'L' } },
      ]),
    ],
    says: ['0 created, 1 updated'],
    leaves: [['SHIRT-S', { Size: 'S' }, 20], both[1], ['SHIRT-L', { Size: 'L' }, null]],
    products: [{ price: 20, variantCount: 3, options: [{ name: 'Size', values: ['S', 'M', 'L'] }] }],
  },
  {
    name: 'a record without options adds the values of its variants to those listed',
    before: [shirt({ options: [{ name: 'Size', values: ['XS', 'S', 'M', 'L'] }] })],
    file: [shirt({}, [{ options: { Size: 'XL' } }, medium, { ...small, price: 20 }])],
    says: ['0 created, 1 updated'],
    leaves: [['SHIRT-S', { Size: 'S' }, 20], both[1], [null, { Size: 'XL' }, null]],
    products: [{ variantCount: 3, options: [{ name: 'Size', values: ['XS', 'S', 'M', 'L', 'XL'] }] }],
  },
  {
    name: 'a record without options changes neither the listed values nor their order',
    before: [shirt({ options: [{ name: 'Size', values: ['XS', 'S', 'M', 'L'] }] })],
    file: [shirt({}, [medium, small])],
    says: ['0 created, 0 updated, 1 unchanged'],
    leaves: both,
    products: [{ options: [{ name: 'Size', values: ['XS', 'S', 'M', 'L'] }] }],
  },
  {
    name: 'new variants take the places that they name, and the others follow the last one',
    before: [shirt()],
    file: [
      shirt({}, [
        { sku: 'SHIRT-L', options: { Size: 'L' }, position: 7 },
        { sku: 'SHIRT-XL', options: { Size: 'XL' }, position: 3 },
        { sku: 'SHIRT-XXL', options: { Size: 'XXL' } },
      ]),
    ],
    says: ['0 created, 1 updated'],
    leaves: [
      ...both,
      ['SHIRT-XL', { Size: 'XL' }, null],
      ['SHIRT-L', { Size: 'L' }, null],
      ['SHIRT-XXL', { Size: 'XXL' }, null],
    ],
  },
  {
    name: 'a variant without sku is found by its options, one with by its sku',
    before: [shirt({}, [{ options: { Size: 'S' }, price: 1 }, medium])],
    file: [
      shirt({}, [
        { options: { Size: 'S' }, price: 2 },
        { ...medium, options: { Size: 'XL' } },
      ]),
    ],
    says: ['1 updated'],
    leaves: [
      [null, { Size: 'S' }, 2],
      ['SHIRT-M', { Size: 'XL' }, null],
    ],
  },
  {
    name: 'variants lose an image that their product loses',
    before: [shirt({ images })],
    file: [{ ...mug, sku: 'SHIRT', externalId: 'shirt-1', images: [images[0]] }],
    says: ['1 updated'],
    leaves: both,
    products: [{ name: 'Mug', images: [{ url: images[0] }], variantCount: 2 }],
  },
  {
    name: 'uploads that the catalog does not have are left out',
    file: [shirt({ images: [...images, '/media/abc'] }, [{ ...small, image: '/media/abc' }])],
    says: ['1 created', '1 × images are uploads that this catalog does not have, and were left out'],
    leaves: [both[0]],
    products: [{ images: images.map(url => ({ url })) }],
  },
  {
    name: 'a sku that another product has',
    before: [mug],
    file: [shirt({}, [small, { ...medium, sku: 'MUG' }]), { ...mug, price: 6 }],
    status: 2,
    says: [
      'line 1: sku: "MUG" is already the sku of product 1',
      '0 created, 1 updated, 0 unchanged, 1 rejected',
    ],
    leaves: [],
    products: [{ sku: 'MUG', price: 6 }],
  },
  {
    name: 'a sku that a variant of another product has',
    before: [shirt()],
    file: [{ ...mug, sku: 'SHIRT-S' }],
    status: 2,
    says: ['line 1: sku: "SHIRT-S" is already the sku of a variant of product 1', '0 created'],
    leaves: both,
  },
  {
    name: 'a sku that another product of the file gives to a variant',
    file: [shirt(), { ...shirt({ name: 'Other' }), sku: 'OTHER', externalId: 'other' }],
    status: 2,
    says: [
      'line 2: sku: "SHIRT-S" is already the sku of a variant of another product of the file',
      '1 created',
    ],
    leaves: both,
  },
  {
    name: 'the sku of one product with the external id of another',
    before: [mug, shirt()],
    file: [{ ...mug, externalId: 'shirt-1' }],
    status: 2,
    says: ['line 1: externalId: belongs to a different product than the sku', '0 updated'],
    leaves: both,
  },
  {
    name: 'options that differ from those of the existing variants',
    before: [shirt()],
    file: [
      shirt({}, [{ sku: 'NEW', options: { Colour: 'red' } }]),
      { ...shirt({ options: [] }), variants: undefined },
    ],
    status: 2,
    says: [
      'line 1: options: are "Colour", but the product has variants with "Size"',
      'line 2: options: are none, but the product has variants with "Size"',
    ],
    leaves: both,
  },
  {
    name: 'variants that the options of their own record do not allow',
    before: [shirt({ options: [{ name: 'Size', values: ['S', 'M'] }] })],
    file: [
      shirt({ options: [{ name: 'Size', values: ['S'] }] }),
      shirt({ options: [{ name: 'Size', values: ['S', 'L'] }] }, [{ options: { Size: 'M' } }, small]),
      shirt({ options: [{ name: 'Colour', values: ['S', 'M'] }] }),
      shirt({ options: [] }),
      shirt({ options: [{ name: 'Size', values: ['S'] }] }, [{ ...small, price: 26 }]),
    ],
    status: 2,
    says: [
      'line 1: variants.1.options.Size must be one of the values in options, not "M"',
      'line 2: variants.0.options.Size must be one of the values in options, not "M"',
      'line 3: variants.0.options.Size is none of the options of the record; variants.0.options.Colour is required',
      'line 4: variants.0.options.Size is none of the options of the record',
      '1 updated, 0 unchanged, 4 rejected',
    ],
    leaves: [['SHIRT-S', { Size: 'S' }, 26], both[1]],
    products: [{ options: [{ name: 'Size', values: ['S', 'M'] }] }],
  },
  {
    name: 'repeated combinations and skus, other options, an invalid amount',
    file: [
      shirt({}, [small, { ...small, sku: 'X' }]),
      shirt({}, [small, { ...medium, sku: 'SHIRT-S' }]),
      shirt({}, [small, { sku: 'X', options: { Colour: 'red' } }]),
      shirt({}, [{ ...small, price: 'cheap', gtin: '123' }]),
      shirt({ variants: 'none' }, []),
      shirt({}, [{ ...small, imageId: 7 }]),
      shirt({}, [
        { sku: 'X', options: {} },
        { sku: 'Y', options: {} },
      ]),
    ],
    status: 2,
    says: [
      'line 1: variants.1.options must not be Size S, which variant 1 of the product has',
      'line 2: variants.1.sku must not be "SHIRT-S", which variant 1 of the product has',
      '1 rejected: variants.sku must not be "…", which variant … of the product has',
      'line 3: variants.1.options must name the same options as the first variant',
      'line 4: variants.0.gtin must be 8, 12, 13 or 14 digits',
      'line 6: variants.0.imageId: must be the id of an image of the product, not 7',
      'line 7: variants.0.options must name at least one option and its value; variants.1.options must name at',
    ],
    leaves: [],
  },
];

describeOnDatabases('catalog import of variants on %s', kind => {
  for (const { name, before, file, status = 0, says, leaves, products } of scenarios) {
    test(name, async () => {
      const place = await createCatalog(kind);
      if (before !== undefined)
        await place.runHere(['import', place.file('before.ndjson', ndjsonOf(before))]);
      const run = ['import', place.file('p.ndjson', ndjsonOf(file))];
      const dry = await place.runHere([...run, '--dry-run']);
      const ended = await place.runHere(run);
      for (const text of says) {
        expect(ended.out + ended.err).toContain(text);
        expect(dry.out + dry.err).toContain(text);
      }
      expect(ended.status).toBe(status);
      const sold = await variantsOf(place);
      expect(sold.map(({ sku, options, price }) => [sku, options, price])).toEqual(
        leaves.map(([sku, options, price]) => [sku, { ...options }, price]),
      );
      if (products !== undefined) expect(await productsOf(place)).toMatchObject([...products]);
      expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
      if (status !== 0) return place.remove();
      const version = await versionOf(place);
      expect((await place.runHere(run)).out).toContain(`0 created, 0 updated, ${file.length} unchanged`);
      expect(await versionOf(place)).toBe(version);
      place.remove();
    });
  }

  test.each([
    ['some variants', 2],
    ['more of them than are looked at first', 900],
  ])('a product with %s is imported from the stream that it is exported to', async (_, count) => {
    const [source, target] = [await createCatalog(kind), await createCatalog(kind)];
    const variants = Array.from({ length: count }, (_, index) => ({
      options: { Size: `${index % 30}`, Colour: `${Math.floor(index / 30)}` },
    }));
    await source.runHere(['import', source.file('p.ndjson', ndjsonOf([shirt({ images }, variants)]))]);
    const { out } = await source.run(['export', '--format', 'ndjson']);
    expect(out.trimEnd()).not.toContain('\n');
    expect(await target.run(['import', '-'], out)).toMatchObject({
      ...{ status: 0, out: expect.stringMatching(/^1 created, 0 updated, 0 unchanged, 0 rejected/) },
    });
    expect((await productsOf(target))[0]).toMatchObject({ sku: 'SHIRT', variantCount: count });
    expect((await target.runHere(['import', target.file('products', out)])).out).toContain('1 unchanged');
    source.remove();
    target.remove();
  });
});
