/**
 * Records with the same SKU, of a file or of two that are imported at the same time, have the same result as if they were
 * imported one after another.
 */
import { expect, test } from 'bun:test';
import { holdLocks } from '../../support/peers/held-locks.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import {
  createCatalog,
  createPlace,
  ndjsonOf,
  onCatalog,
  productsOf,
  variantsOf,
  versionOf,
} from '../program.ts';

describeOnDatabases('records that repeat the sku of an earlier record on %s', kind => {
  test('add their variants to those of the earlier record, also in a catalog with products', async () => {
    const shirt = (Size: string) => ({
      ...{ sku: 'P2', name: 'Shirt', price: 10 },
      variants: [{ options: { Size }, sku: `P2${Size}` }],
    });
    const place = await createCatalog(kind);
    await place.runHere([
      'import',
      place.file('before.ndjson', ndjsonOf([{ sku: 'P1', name: 'Mug', price: 1 }])),
    ]);
    const run = ['import', place.file('p.ndjson', ndjsonOf([shirt('S'), shirt('M')]))];
    expect((await place.runHere(run)).out).toStartWith('1 created, 1 updated, 0 unchanged, 0 rejected');
    expect((await productsOf(place))[1]).toMatchObject({
      ...{ sku: 'P2', variantCount: 2, options: [{ name: 'Size', values: ['S', 'M'] }] },
    });
    expect((await variantsOf(place)).map(({ sku }) => sku)).toEqual(['P2S', 'P2M']);
    const version = await versionOf(place);
    // Records of the same product share a transaction, even with a batch size of one.
    expect((await place.runHere([...run, '--batch', '1'])).out).toStartWith(
      '0 created, 0 updated, 2 unchanged',
    );
    expect(await versionOf(place)).toBe(version);
    place.remove();
  });

  test('keep the text of an image that they give without one, unless the earlier record drops the image', async () => {
    const lamp = (images: readonly object[] | undefined) => ({ sku: 'L', name: 'Lamp', price: 1, images });
    const [front, side] = [{ url: 'https://a.example/f', alt: 'Front' }, { url: 'https://a.example/s' }];
    const place = await createCatalog(kind);
    await place.runHere([
      'import',
      place.file('before.ndjson', ndjsonOf([{ sku: 'P1', name: 'Mug', price: 1 }])),
    ]);
    const imagesAfter = async (...records: object[]) => {
      await place.runHere(['import', place.file('p.ndjson', ndjsonOf(records))]);
      return (await productsOf(place))[1]?.images.map(({ url, alt }) => [url, alt]);
    };
    expect(await imagesAfter(lamp([front]), lamp([side, { url: front.url }]), lamp(undefined))).toEqual([
      [side.url, null],
      [front.url, 'Front'],
    ]);
    expect(await imagesAfter(lamp([side]), lamp([{ url: front.url }]))).toEqual([[front.url, null]]);
    place.remove();
  });

  test('are written in order with those that name the same product in another way', async () => {
    const place = await createCatalog(kind);
    const lamp = { name: 'Lamp', price: 1, sku: 'L', externalId: 'lamp' };
    await place.runHere([
      'import',
      place.file('before.ndjson', ndjsonOf([lamp, { ...lamp, sku: 'M', externalId: 'mug' }])),
    ]);
    const named = [{ externalId: 'lamp' }, { sku: 'M' }] as const;
    const renamed = [{ sku: 'L' }, { sku: 'N', externalId: 'mug' }] as const;
    const file = ndjsonOf([
      ...named.map(one => ({ name: 'First', price: 1, category: 'first', ...one })),
      ...renamed.map(one => ({ name: 'Second', price: 1, category: 'second', ...one })),
      ...named.map(one => ({ name: 'Third', price: 1, ...one })),
    ]);
    const { err } = await place.runHere(['import', place.file('p.ndjson', file)]);
    expect(err).toContain('externalId: belongs to the product with sku "M"');
    expect((await productsOf(place)).map(({ name, sku, category }) => [name, sku, category])).toEqual([
      ['Third', 'L', 'second'],
      ['Third', 'M', 'first'],
    ]);
    place.remove();
  });

  test('do not free a sku of the earlier record for a product in between', async () => {
    const place = await createCatalog(kind);
    await place.runHere([
      'import',
      place.file('before.ndjson', ndjsonOf([{ sku: 'P1', name: 'Mug', price: 1 }])),
    ]);
    const shirt = { sku: 'S', name: 'Shirt', price: 1, variants: [{ sku: 'X', options: { Size: 'S' } }] };
    const file = ndjsonOf([shirt, { sku: 'X', name: 'Other', price: 1 }, { ...shirt, price: 2 }]);
    const ended = await place.runHere(['import', place.file('p.ndjson', file)]);
    expect(ended.out).toStartWith('1 created, 1 updated, 0 unchanged, 1 rejected');
    expect(ended.err).toMatch(/^line 2: sku: "X" is already the sku of a variant of/m);
    place.remove();
  });
});

test('skus and external ids that a spreadsheet has rounded are counted: they may repeat those of other products', () =>
  onCatalog(async place => {
    const importRecords = (...records: readonly object[]) =>
      place.runHere([
        'import',
        place.file('p.ndjson', ndjsonOf(records.map(one => ({ name: 'A', price: 1, ...one })))),
      ]);
    const note = 'skus or external ids look like numbers that a spreadsheet has rounded';
    const variants = [{ sku: '4E+12', options: { Size: 'S' } }];
    const ended = await importRecords(
      ...[{ sku: '4.00638E+12' }, { sku: '4.00638E+12' }, { sku: 'X', externalId: '4,006E+12' }],
      ...[{ variants }, { sku: '1E5' }, { sku: '4.00638E+12-A' }, { sku: '4006381333931' }],
    );
    expect(ended.err).toContain('1 record repeats the sku or externalId of an earlier record');
    expect(ended.err).toContain(`4 × ${note}`);
    expect((await importRecords({ sku: 'Y' })).err).not.toContain(note);
  }));

test('records that nothing identifies are counted: another import creates them again', () =>
  onCatalog(async place => {
    const records = [
      { name: 'Soup', price: 5 },
      { name: 'Cake', price: 4, externalId: 'C' },
      { name: 'Shirt', price: 9, variants: [{ sku: 'S-S', options: { Size: 'S' } }] },
    ];
    const run = ['import', place.file('p.ndjson', ndjsonOf(records))];
    for (const counts of ['3 created', '1 created, 0 updated, 2 unchanged']) {
      const ended = await place.runHere(run);
      expect(ended.out).toStartWith(counts);
      expect(ended.err).toContain(
        'catalog import: 1 × records have neither a sku nor an external id: importing',
      );
    }
    const exported = place.file('e.ndjson', (await place.runHere(['export', '--format', 'ndjson'])).out);
    expect((await place.runHere(['import', exported])).err).not.toContain('neither');
  }));

test.skipIf(!hasPostgres)(
  'an import updates the products that another creates while it waits, whatever identifies them',
  async () => {
    const url = await createDatabase();
    const place = await createPlace('sqlite', { DATABASE_URL: url });
    const shirt = (price: number, own: object, sku: string) => ({
      ...{ name: 'Shirt', price, ...own, variants: [{ options: { Size: 'S' }, sku }] },
    });
    const recordsAt = (price: number) => [
      shirt(price, { sku: 'A' }, 'A-S'),
      shirt(price, { externalId: 'b' }, 'B-S'),
      shirt(price, {}, 'C-S'),
    ];
    const mug = { sku: 'M', name: 'Mug', price: 1, variants: [{ options: { Size: 'S' }, sku: 'M-S' }] };
    await place.runHere(['import', place.file('before.ndjson', ndjsonOf([mug]))]);
    const [first = { id: 0 }] = await productsOf(place);
    await using held = holdLocks(url);
    await held.hold(first);
    const waits = place.run(['import', place.file('p.ndjson', ndjsonOf([mug, ...recordsAt(2)]))]);
    await held.waiting(1);
    const other = await place.runHere(['import', place.file('other.ndjson', ndjsonOf(recordsAt(1)))]);
    expect(other.out).toStartWith('3 created');
    await held.release();
    expect((await waits).out).toStartWith('0 created, 3 updated, 1 unchanged, 0 rejected');
    expect((await productsOf(place)).map(({ price }) => price)).toEqual([1, 2, 2, 2]);
    place.remove();
  },
);
