/** What an import reports as read when records are rejected because of products that the catalog already has. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, productsOf, variantsOf } from '../program.ts';

const image = 'https://shop.example/a.png';
const record = (sku: string, option: string, values: readonly string[], images = 0) =>
  JSON.stringify({
    ...{ sku, name: `Product ${sku}`, price: 10 },
    variants: values.map(value => ({ options: { [option]: value } })),
    images: Array.from({ length: images }, (_, index) => ({ url: `${image}?${index}` })),
  });
const known = record('KNOWN', 'Size', ['S']);

/** Records, and what the import reports. */
const cases: readonly (readonly [name: string, lines: readonly string[], counts: string, read: string])[] = [
  [
    'no record is rejected',
    [record('A', 'Size', ['S', 'M'], 1), record('B', 'Size', ['S', 'M', 'L'])],
    '2 created, 0 updated, 0 unchanged, 0 rejected',
    'read 2 rows: 2 products, 5 variants, 1 image',
  ],
  [
    'a record with variants and images is rejected',
    [record('A', 'Size', ['S', 'M'], 1), record('KNOWN', 'Colour', ['R', 'G', 'B'], 2)],
    '1 created, 0 updated, 0 unchanged, 1 rejected',
    'read 2 rows: 1 product, 2 variants, 1 image',
  ],
  [
    'all records are rejected',
    [record('KNOWN', 'Colour', ['R', 'G'], 1)],
    '0 created, 0 updated, 0 unchanged, 1 rejected',
    'read 1 row: 0 products, 0 variants, 0 images',
  ],
];

describeOnDatabases('counts of an import on %s', kind => {
  test.each(cases)('%s', async (_, lines, counts, read) => {
    const place = await createCatalog(kind);
    expect((await place.runHere(['import', place.file('known.ndjson', known)])).status).toBe(0);
    for (const options of [['--dry-run'], []]) {
      const file = place.file('p.ndjson', lines.join('\n'));
      const ended = await place.runHere(['import', file, ...options]);
      expect([options, ended.status]).toEqual([options, counts.endsWith(' 0 rejected') ? 0 : 2]);
      expect([options, `${ended.out}${ended.err}`]).toEqual([options, expect.stringContaining(counts)]);
      expect(ended.err).toContain(`catalog import: ${read}\n`);
    }
    const created = Number(counts.slice(0, counts.indexOf(' ')));
    expect((await productsOf(place)).length).toBe(1 + created);
    const kept = await variantsOf(place);
    expect(kept.filter(({ options }) => 'Colour' in options)).toEqual([]);
    place.remove();
  });
});
