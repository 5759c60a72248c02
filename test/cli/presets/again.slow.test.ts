/**
 * Files of shops that are imported again: with one cell changed, compressed, in a dry run, unreadable, or with too many
 * images.
 */
import { expect, test } from 'bun:test';
import { appendFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { openRecords, type RecordsRequest } from '../../../src/cli/import/records.ts';
import { googleFile, magentoFile, metaFile, shopifyFile, wooFile } from '../../support/samples/shop-files.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, onCatalog, productsOf, variantsOf } from '../program.ts';

/** A file of each shop, and a cell of it with its new content. */
const shops = [
  ['shopify', shopifyFile, '26.90', '27.90'],
  ['woocommerce', wooFile, ',62,', ',63,'],
  ['magento', magentoFile, 'Zip, lined', 'Zip, unlined'],
  ['google', googleFile, '101', '102'],
  ['meta', metaFile, 'warm', 'hot'],
] as const;

const countsOf = (out: string): string => /\d+ created, .* rejected/.exec(out)?.[0] ?? out;

describeOnDatabases('a file of a shop that is imported again, on %s', kind => {
  test.each(shops)('%s: one changed cell updates one product', async (shop, content, from, to) => {
    expect(content.split(from).length).toBe(2);
    const place = await createCatalog(kind);
    const run = async (file: string, ...options: readonly string[]) =>
      countsOf((await place.runHere(['import', file, '--preset', shop, ...options])).out);
    /** Imports after a dry run, which must report the same. */
    const runBoth = async (file: string) => {
      const dry = await run(file, '--dry-run');
      expect(await run(file)).toBe(dry);
      return dry;
    };
    await runBoth(place.file('first.csv', content));
    const before = [...(await productsOf(place)), ...(await variantsOf(place))];
    const changed = await runBoth(place.file('changed.csv', content.replace(from, to)));
    const count = (await productsOf(place)).length;
    expect(changed).toContain(`0 created, 1 updated, ${count - 1} unchanged`);
    const after = [...(await productsOf(place)), ...(await variantsOf(place))];
    expect(after.length).toBe(before.length);
    const packed = place.file('changed.csv.gz', gzipSync(content.replace(from, to)));
    expect(await runBoth(packed)).toContain(`0 created, 0 updated, ${count} unchanged`);
    expect([...(await productsOf(place)), ...(await variantsOf(place))]).toEqual(after);
    place.remove();
  });
});

const zip = new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0x14, 0, 6, 0]);

test.each(shops)('%s: a file that is no table is refused, writing nothing', async (shop, content) => {
  const place = await createCatalog('sqlite');
  const isFeed = shop === 'google' || shop === 'meta';
  const cases = [
    [
      'p.xlsx',
      zip,
      'is a spreadsheet (.xlsx, .ods) or a ZIP archive: save it as CSV (UTF-8) and import that',
    ],
    ['p.csv', zip, 'is a spreadsheet (.xlsx, .ods) or a ZIP archive: save it as CSV (UTF-8) and import that'],
    ['p.csv.gz', gzipSync(zip), 'is a spreadsheet (.xlsx, .ods) or a ZIP archive'],
    [
      ...['p.xml', '<?xml version="1.0"?><rss></rss>'],
      isFeed ? 'is XML without an <item>' : 'is an XML feed: --preset google and',
    ],
    [
      ...['p.csv', '<?xml version="1.0"?><products/>'],
      isFeed ? 'is XML without an <item>' : 'is XML or HTML: export the data as CSV',
    ],
    ['p.csv', content.replace(/\r?\n/g, '\r'), 'carriage return'],
    ['p.csv.gz', gzipSync(content).subarray(0, 200), 'is a gzip file that is damaged or cut off'],
  ] as const;
  for (const [name, bytes, says] of cases) {
    const file = place.file(name, '');
    await Bun.write(file, bytes);
    const ended = await place.runHere(['import', file, '--preset', shop]);
    expect(ended.err).toContain(says);
    expect(ended).toMatchObject({ status: 1, out: '' });
  }
  expect(await productsOf(place)).toEqual([]);
  place.remove();
});

test.each(['shopify', undefined])('a file that changes while it is read is not imported: %p', async shop => {
  const place = await createCatalog('sqlite');
  const header = 'Handle,Title,Option1 Name,Option1 Value,Variant Price,name,price,sku\n';
  const row = (n: number) => `tee-${n},Tee ${n},Title,Default Title,5,Tee,5,S-${n}\n`;
  const file = place.file('p.csv', header + Array.from({ length: 60_000 }, (_, n) => row(n)).join(''));
  const running = place.start(['import', file, ...(shop === undefined ? [] : ['--preset', shop])]);
  let number = 60_000;
  while (running.exitCode === null) {
    appendFileSync(file, row(number++));
    await new Promise(resolve => setImmediate(resolve));
  }
  expect(await running.stderr.text()).toContain(`${file} changed while it was read: import it again`);
  expect(running.exitCode).toBe(1);
  place.remove();
});

test('images beyond a hundred, and long texts of images, are left out and counted', () =>
  onCatalog(async place => {
    const rows = Array.from({ length: 102 }, (_, index) => {
      const shared = index === 0 ? ['Many', 'Title', 'Default Title', '5'] : ['', '', '', ''];
      return ['many', ...shared, `https://s.example/${index}.jpg`, 'é'.repeat(index === 1 ? 501 : 500)];
    });
    const columns = [
      'Title',
      'Option1 Name',
      'Option1 Value',
      'Variant Price',
      'Image Src',
      'Image Alt Text',
    ];
    const file = place.file('s.csv', [['Handle', ...columns], ...rows].map(row => row.join()).join('\n'));
    const ended = await place.runHere(['import', file, '--preset', 'shopify']);
    expect(ended.out).toContain('1 created, 0 updated, 0 unchanged, 0 rejected');
    expect(ended.err).toContain('2 × images beyond 100 were left out');
    expect(ended.err).toContain('1 × texts of images of more than 500 characters were left out');
    const [made] = await productsOf(place);
    expect(made?.images.map(({ url }) => url)).toEqual(rows.slice(0, 100).map(row => row[5] ?? ''));
    expect(made?.images.map(({ alt }) => alt?.length)).toEqual([500, undefined, ...Array(98).fill(500)]);
    expect((await place.runHere(['import', file, '--preset', 'shopify'])).out).toContain('1 unchanged');
  }));

const request: Omit<RecordsRequest, 'file' | 'fileName'> = {
  ...{ mapping: new Map(), set: new Map(), cells: {}, preset: 'shopify', dropUnknown: false, drop: [] },
  ...{
    imageBase: undefined,
    path: undefined,
    headerLine: undefined,
    format: undefined,
    encoding: undefined,
    safe: true,
    skip: 0,
    currency: 'EUR',
  },
  ...{ dryRun: false, batchSize: undefined, gather: false, rejects: undefined, spool: undefined },
};

test('the rows held in memory are bounded, however many variants each product has', () =>
  onCatalog(async place => {
    const [products, variants] = [30, 200];
    const lines = ['Handle,Title,Option1 Name,Option1 Value,Variant Price'];
    for (let product = 1; product <= products; product += 1)
      for (let variant = 1; variant <= variants; variant += 1)
        lines.push(`p-${product},${variant === 1 ? 'Tee' : ''},Size,${variant},9`);
    const file = place.file('many.csv', lines.join('\n'));
    const { chunks } = await openRecords({ ...request, file, fileName: file });
    const rows: number[] = [];
    for await (const { records } of chunks)
      rows.push(records.reduce((sum, { variantCount }) => sum + variantCount, 0));
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(products * variants);
    expect(Math.max(...rows)).toBeLessThanOrEqual(1000);
  }));
