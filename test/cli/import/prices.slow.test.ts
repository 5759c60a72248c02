/** A product's own price, and the price shown for its variants, in exports and imports. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type Imports, type Records, startImports } from '../../support/samples/imports.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

type Prices = Readonly<Record<string, number | null>>;

const shirt = (sku: string, price: number | undefined, prices: Prices, members: object = {}) => ({
  ...{ sku, name: 'Shirt', ...(price === undefined ? {} : { price }), ...members },
  variants: Object.entries(prices).map(([Size, own]) => ({ options: { Size }, price: own })),
});
const only = (sku: string, members: object) => ({ sku, name: 'Shirt', ...members });

interface Scenario {
  readonly name: string;
  /** @returns the files, which are imported one after another */
  files(sku: string): readonly Records[];
  /** The price and price range that the product then shows, and its own price, for variants without one. */
  readonly shows: readonly [price: number, min: number, max: number, own: number];
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a base price sets the product’s own price, even if it equals the shown one',
    files: sku => [
      [shirt(sku, 9, { M: 9, L: null })],
      [only(sku, { price: 50 })],
      [only(sku, { price: 9, basePrice: 9 })],
    ],
    shows: [9, 9, 9, 9],
  },
  {
    name: 'a base price takes precedence over the price, which may be absent',
    files: sku => [
      [shirt(sku, 9, { M: 9, L: null }), only(sku, { price: 1, basePrice: 20 })],
      [only(sku, { basePrice: 30 })],
    ],
    shows: [9, 9, 30, 30],
  },
  {
    name: 'the price that is shown, sent back, leaves the product’s own as it is',
    files: sku => [
      [shirt(sku, 50, { S: null, M: 10 })],
      [only(sku, { price: 10 })],
      [shirt(sku, 10, { S: null, M: 10 })],
    ],
    shows: [10, 10, 50, 50],
  },
  {
    name: 'a null base price changes nothing',
    files: sku => [[shirt(sku, 50, { S: null, M: 10 })], [only(sku, { price: 10, basePrice: null })]],
    shows: [10, 10, 50, 50],
  },
  {
    name: 'a price that no variant has becomes the price of variants without one',
    files: sku => [[shirt(sku, 50, { S: null, M: 10 })], [shirt(sku, 10, { S: null, M: null })]],
    shows: [10, 10, 10, 10],
  },
  {
    name: 'a price that was shown only before an earlier record of the file is a new price',
    files: sku => [[shirt(sku, 9, { S: 5, M: null })], [shirt(sku, 9, { S: 7 }), only(sku, { price: 5 })]],
    shows: [5, 5, 7, 5],
  },
];

describeOnDatabases('prices of products with variants on %s', kind => {
  let imports: Imports;
  beforeAll(async () => {
    imports = await startImports(kind);
  });
  afterAll(() => imports[Symbol.asyncDispose]());

  const shownOf = async (sku: string) => {
    const { id, price, priceRange } = await imports.shown(sku);
    // The product's own price is shown once no variant has a price.
    const { body } = await imports.send('GET', `/v1/products/${id}/variants`);
    for (const variant of body.data)
      await imports.send('PATCH', `/v1/products/${id}/variants/${variant.id}`, { price: null });
    return [price, priceRange.min, priceRange.max, (await imports.shown(sku)).price];
  };

  for (const [index, { name, files, shows }] of scenarios.entries()) {
    // Files of one record are one transaction in any case.
    for (const batch of files('').some(({ length }) => length > 1) ? ['1', '100'] : ['100']) {
      test(`${name}, ${batch} at once`, async () => {
        const sku = `P${index}-${batch}`;
        for (const file of files(sku)) await imports.take(file, '--batch', batch);
        const again = await imports.run(files(sku).at(-1) ?? [], '--batch', batch);
        expect(again.out).toContain(' 0 updated, ');
        expect(await shownOf(sku)).toEqual([...shows]);
      });
    }
  }

  test.each(['ndjson', 'csv', 'json'])('an export as %s restores all of them', async format => {
    const sku = `B-${format}`;
    await imports.take([shirt(sku, 9, { M: 9, L: null })]);
    const backup = await imports.exported(`backup.${format}`);
    expect(readFileSync(backup, 'utf8')).toContain('basePrice');
    const ranges = async () => (await imports.shown(sku)).priceRange;
    for (const change of [only(sku, { price: 50 }), shirt(sku, 70, { M: 20, L: 60 })]) {
      await imports.take([change]);
      expect((await ranges()).max).toBeGreaterThan(9);
      expect((await imports.place.runHere(['import', backup])).out).toContain('0 created, 1 updated');
      expect(await ranges()).toEqual({ min: 9, max: 9 });
      expect((await imports.place.runHere(['import', backup])).out).toContain('0 created, 0 updated');
    }
  });

  test('an invalid base price is refused by its field name', async () => {
    const { status, err } = await imports.run([
      only('X', { price: 1, basePrice: -2 }),
      only('Y', { basePrice: 'dear' }),
      only('Z', { basePrice: null }),
    ]);
    expect(status).toBe(2);
    for (const line of [
      'line 1: basePrice must be 0 or more (it is -2)',
      'line 2: basePrice must be a number (it is "dear")',
      'line 3: price is required',
    ])
      expect(err).toContain(`${line}\n`);
    expect(await imports.place.runHere(['check'])).toMatchObject({ status: 0 });
  });
});
