/** Records with the external id of a product that has another SKU: a new SKU between files, a mistake within one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, ndjsonOf, type Place, productsOf, versionOf } from '../program.ts';

const mug = (sku: string | undefined, externalId: string | undefined, price = 5) => ({
  ...{ name: `Mug ${sku}`, price, sku, externalId },
});
type Mug = ReturnType<typeof mug>;
const refused = (line: number, sku: string) =>
  `line ${line}: externalId: belongs to the product with sku "${sku}", which an earlier record of the file names`;

interface Scenario {
  readonly name: string;
  readonly before?: readonly Mug[];
  readonly file: readonly Mug[];
  readonly says: readonly string[];
  /** SKU, external id and price of all products afterwards. */
  readonly leaves: readonly string[];
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a product that the file has created is not overwritten by one with another sku',
    file: [mug('A', 'x'), mug('B', 'x', 6), mug('C', 'x', 7), mug('A', 'x', 8)],
    says: [refused(2, 'A'), refused(3, 'A'), '1 created, 1 updated, 0 unchanged, 2 rejected'],
    leaves: ['A x 8'],
  },
  {
    name: 'an existing product is not overwritten by one with another sku, even if its own record changes nothing',
    before: [mug('A', 'x'), mug('B', 'y')],
    file: [mug('A', 'x'), mug('C', 'x', 6), mug('B', undefined, 7), mug('D', 'y', 8)],
    says: [refused(2, 'A'), refused(4, 'B'), '0 created, 1 updated, 1 unchanged, 2 rejected'],
    leaves: ['A x 5', 'B y 7'],
  },
  {
    name: 'a product gets another sku only once per file',
    before: [mug('A', 'x'), mug('B', 'y')],
    file: [mug('C', 'x', 6), mug('A', 'x', 7), mug('D', 'y', 8)],
    says: [
      refused(2, 'C'),
      'catalog import: 2 products found by externalId got a new sku',
      '0 created, 2 updated, 0 unchanged, 1 rejected',
    ],
    leaves: ['C x 6', 'D y 8'],
  },
  {
    name: 'a product without sku gets one',
    file: [mug(undefined, 'x'), mug('A', 'x', 6), mug(undefined, 'x', 7), mug('B', 'x', 8)],
    says: [refused(4, 'A'), '1 created, 2 updated, 0 unchanged, 1 rejected'],
    leaves: ['A x 7'],
  },
  {
    name: 'an external id that a product gave up is free',
    before: [mug('A', 'x')],
    file: [mug('A', 'z'), mug('B', 'x')],
    says: ['1 created, 1 updated, 0 unchanged, 0 rejected'],
    leaves: ['A z 5', 'B x 5'],
  },
];

/** The ways to import the same file. */
const ways: readonly (readonly [
  way: string,
  run: (place: Place, file: string) => ReturnType<Place['run']>,
])[] = [
  ['at once', (place, file) => place.runHere(['import', place.file('p.ndjson', file)])],
  [
    'in transactions of their own',
    (place, file) => place.runHere(['import', place.file('p.ndjson', file), '--batch', '1']),
  ],
  ['from a stream', (place, file) => place.run(['import', '-', '--batch', '1'], file)],
];

describeOnDatabases('catalog import of changed skus on %s', kind => {
  const shown = async (place: Place) =>
    (await productsOf(place)).map(({ sku, externalId, price }) => [sku, externalId, price].join(' '));

  describe('that finds other products in the catalog', () => {
    let place: Place;
    beforeAll(async () => {
      place = await createCatalog(kind);
      await place.runHere(['import', place.file('before.ndjson', ndjsonOf([mug('OTHER', 'other', 1)]))]);
    });
    // The damage of any of the imports is still there after all of them.
    afterAll(async () => {
      expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
      place.remove();
    });

    for (const [index, { name, before = [], file, says, leaves }] of scenarios.entries()) {
      test.each(ways)(`${name}, %s`, async (way, run) => {
        /** Begins the skus and external ids of this test. */
        const own = `${index}-${way.replaceAll(' ', '-')}-`;
        const named = (records: readonly Mug[]) =>
          ndjsonOf(
            records.map(({ sku, externalId, ...rest }) => ({
              ...rest,
              ...(sku === undefined ? {} : { sku: own + sku }),
              ...(externalId === undefined ? {} : { externalId: own + externalId }),
            })),
          );
        if (before.length > 0) await place.runHere(['import', place.file('before.ndjson', named(before))]);
        const ended = await run(place, named(file));
        const [out, err] = [ended.out, ended.err].map(text => text.replaceAll(own, ''));
        for (const text of says) expect(`${out}${err}`).toContain(text);
        if (!says.some(text => text.includes('a new sku'))) expect(err).not.toContain('a new sku');
        // A product that has neither could be of this test too.
        const left = (await shown(place)).filter(text => text.includes(own) || text.startsWith('  '));
        expect(left.map(text => text.replaceAll(own, ''))).toEqual([...leaves]);
      });
    }
  });

  test('a second row with the same external id is refused instead of overwriting the first', async () => {
    const place = await createCatalog(kind);
    const rows = ['sku,name,price,group', 'A-1,Shirt S,5,A', 'A-2,Shirt M,5,A', 'B-1,Mug,5,B'];
    const file = place.file('p.csv', rows.join('\n'));
    for (const dry of [['--dry-run'], []]) {
      const ended = await place.runHere(['import', file, '--map', 'externalId=group', ...dry]);
      expect(ended.err).toContain(refused(3, 'A-1'));
      expect([ended.status, ended.out]).toEqual([2, expect.stringContaining('2 created, 0 updated')]);
    }
    expect(await shown(place)).toEqual(['A-1 A 5', 'B-1 B 5']);
    place.remove();
  });

  test.each([
    ['a few', 3],
    ['many, in a thread of its own', 1200],
  ])('a resumed import recognizes the products of the skipped records: %s', async (_, count) => {
    const place = await createCatalog(kind);
    const records = Array.from({ length: count }, (_, index) => mug(`A-${index}`, `x-${index}`));
    const rest = [mug('B-1', 'x-1', 6), mug(`B-${count}`, `x-${count}`, 7)];
    await place.runHere(['import', place.file('done.ndjson', ndjsonOf(records))]);
    const text = ndjsonOf([...records, ...rest]);
    expect(text.length > 64 * 1024).toBe(count > 1000);
    const file = place.file('p.ndjson', text);
    const version = await versionOf(place);
    const run = ['import', file, '--skip', `${count}`];
    for (const options of [['--dry-run'], ['--batch', '1'], []]) {
      const ended = await place.runHere([...run, ...options]);
      expect(ended.err).toContain(refused(count + 1, 'A-1'));
      expect(ended.out).toContain('1 rejected');
      if (options[0] === '--dry-run') expect(await versionOf(place)).toBe(version);
    }
    expect((await shown(place)).length).toBe(count + 1);
    place.remove();
  });

  test('a later file may give a product another sku, and the import reports it', async () => {
    const place = await createCatalog(kind);
    const run = (record: object) => place.runHere(['import', place.file('p.ndjson', ndjsonOf([record]))]);
    await run(mug('A', 'x'));
    const { out, err } = await run(mug('B', 'x'));
    expect(out).toStartWith('0 created, 1 updated, 0 unchanged, 0 rejected');
    expect(err).toContain('catalog import: 1 product found by externalId got a new sku');
    expect(await shown(place)).toEqual(['B x 5']);
    place.remove();
  });
});
