/** What an import refuses, and how it reports that. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, createPlace, csv, type Place, productsOf, versionOf, waitFor } from '../program.ts';
import { administrator } from './large-imports.ts';

describeOnDatabases('catalog import on %s', kind => {
  let place: Place;
  beforeAll(async () => {
    place = await createCatalog(kind, { DEFAULT_CURRENCY: 'CHF' });
  });
  afterAll(() => place.remove());

  test('repeated skus: a resumed import recognizes those of the skipped records', async () => {
    const fresh = await createCatalog(kind);
    const lines = ['sku,name,price,category', 'A-1,First,1,early', 'A-2,Chair,20,', 'A-1,Last,2,'];
    await fresh.runHere(['import', fresh.file('before.csv', 'sku,name,price\nA-1,Before,9\n')]);
    const file = fresh.file('r.csv', lines.join('\n'));
    const ended = await fresh.runHere(['import', file, '--skip', '2']);
    // When the other import was stopped, the first record was still waiting for the last.
    expect(ended.out).toStartWith('0 created, 2 updated, 0 unchanged, 0 rejected');
    expect((await productsOf(fresh)).map(({ name, category }) => [name, category])).toEqual([
      ['Last', 'early'],
    ]);
    fresh.remove();
  });

  test('rejects go to a file, each with its line, reason, details and text', async () => {
    const rejects = join(place.folder, 'rejects.ndjson');
    const file = place.file('bad.csv', 'sku,name,price\nR-1,,x\nR-2,"open,1\n');
    const ended = await place.runHere(['import', file, '--rejects', rejects]);
    expect(ended.status).toBe(2);
    expect(ended.err).not.toMatch(/^line 2/m);
    const lines = readFileSync(rejects, 'utf8').trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line))).toEqual([
      {
        line: 2,
        error: 'name is required; price must be a number (it is "x")',
        details: [
          { field: 'name', pointer: '#/name', code: 'required', message: 'is required' },
          { field: 'price', pointer: '#/price', code: 'type', message: 'must be a number' },
        ],
        raw: 'R-1,,x',
      },
      { line: 3, error: 'has a quotation mark that is not closed', details: [], raw: 'R-2,"open,1' },
    ]);
    // An import that continues keeps those of the records that it skips.
    expect((await place.runHere(['import', file, '--rejects', rejects, '--skip', '1'])).status).toBe(2);
    expect(readFileSync(rejects, 'utf8').trimEnd().split('\n')).toEqual([...lines, lines[1] ?? '']);
  });

  test('an import beside a service that fills the log has the status of one that rejects records', async () => {
    const busy = await createCatalog(kind, { ...administrator, PORT: '0', HOST: '127.0.0.1' });
    const server = busy.start(['serve']);
    try {
      await waitFor(server.stdout, /"address":"([^"]+)"/);
      // Enough text for the log to be copied in the background, by a thread that must end with the program.
      const long = Array.from(
        { length: 700 },
        (_, index) => `L-${index},Long ${index},1,${'word '.repeat(19_999)}`,
      );
      const file = busy.file('long.csv', ['sku,name,price,description', ...long, 'BAD,,x,'].join('\n'));
      const ended = await busy.run(['import', file]);
      expect(ended).toMatchObject({ status: 2, out: expect.stringContaining('700 created') });
    } finally {
      server.kill('SIGTERM');
      await server.exited;
    }
    busy.remove();
  });

  test.each([
    [
      'NDJSON',
      'ndjson',
      (deep: string) => `{"sku":${deep},"name":"x","price":1}\n{"sku":"N","name":"Next","price":1}`,
    ],
    [
      'CSV',
      'csv',
      (deep: string) => `sku,name,price,variants,attributes.a\nD,x,1,${deep},${deep}\nN,Next,1,,`,
    ],
  ])(
    'a record of %s that is nested a hundred thousand levels deep is refused alone',
    async (_, end, write) => {
      const deep = '['.repeat(100_000) + ']'.repeat(100_000);
      const ended = await place.runHere(['import', '--dry-run', place.file(`deep.${end}`, write(deep))]);
      expect(ended).toMatchObject({
        status: 2,
        out: expect.stringContaining('1 created, 0 updated, 0 unchanged, 1'),
      });
      expect(ended.err).toMatch(
        /^line [12]: (sku must be a string|attributes\.a must be at most .* variants\.0 must be an object)/m,
      );
    },
  );

  test('the error of a record names its first hundred problems', async () => {
    const variants = Array.from({ length: 5000 }, () => ({ options: { size: 'S' }, price: 'x' }));
    const rejects = join(place.folder, 'many.ndjson');
    const file = place.file('m.ndjson', JSON.stringify({ sku: 'M', name: 'M', price: 1, variants }));
    expect((await place.runHere(['import', file, '--rejects', rejects])).status).toBe(2);
    const { error, details } = JSON.parse(readFileSync(rejects, 'utf8'));
    expect(error).toStartWith('variants.0.price must be a number; variants.1.price must be a number; ');
    expect(error).toEndWith('; variants.99.price must be a number; and 4,900 more');
    expect(details).toHaveLength(5000);
  });

  test.each([
    ['a file', 0],
    ['a file that is read in a thread of its own', 1500],
  ])(
    'records refused from %s are written there unchanged, to be corrected and imported again',
    async (_, filler) => {
      const fresh = await createCatalog(kind);
      const shirt =
        '{"sku":"P1","name":"Shirt","price":10,"description":"kept","variants":[{"options":{"Size":"S"}}]}';
      await fresh.runHere(['import', fresh.file('before.ndjson', shirt)]);
      const refused = shirt
        .replace('"kept"', '"new"')
        .replace('"Size":"S"', '"Colour":"R"')
        .replaceAll(':', ' : ');
      const others = Array.from({ length: filler }, (_, index) =>
        JSON.stringify({ sku: `F-${index}`, name: `Filler ${index}`, price: 1 }),
      );
      const rejects = join(fresh.folder, 'rejects.ndjson');
      const file = fresh.file('p.ndjson', [...others, refused, ''].join('\n'));
      expect((await fresh.runHere(['import', file, '--rejects', rejects])).status).toBe(2);
      expect(JSON.parse(readFileSync(rejects, 'utf8'))).toMatchObject({
        ...{ line: filler + 1, raw: refused },
        error: 'options: are "Colour", but the product has variants with "Size"',
      });
      const rows = fresh.file(
        'p.csv',
        'sku,name,price,options\r\nP1,"Two\r\nlines",1,"[{""name"":""Colour"",""values"":[""R""]}]"\r\n',
      );
      expect((await fresh.runHere(['import', rows, '--rejects', rejects])).status).toBe(2);
      expect(JSON.parse(readFileSync(rejects, 'utf8'))).toMatchObject({
        raw: 'P1,"Two\r\nlines",1,"[{""name"":""Colour"",""values"":[""R""]}]"',
      });
      fresh.remove();
    },
  );

  test('only the first 20 of many rejects are shown', async () => {
    const ended = await place.runHere(['import', place.file('r.csv', `name,price\n${',1\n'.repeat(25)}`)]);
    expect(ended.err.match(/^line /gm)?.length).toBe(20);
    expect(ended.out).toContain('25 rejected');
    expect(ended.status).toBe(2);
  });
});

test('a dry run without a database creates none', async () => {
  const place = await createPlace('sqlite');
  const ended = await place.run(['import', '-', '--dry-run'], csv);
  expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('3 created') });
  expect(await Bun.file(join(place.folder, 'data', 'catalog.db')).exists()).toBe(false);
  place.remove();
});

/** File, content, and the one line that the import prints. */
const unusable: readonly (readonly [file: string, content: string | Uint8Array, says: string])[] = [
  ['p.csv', '', 'p.csv has no records: it is empty'],
  ['p.csv', '\uFEFF', 'p.csv has no records: it is empty'],
  ['p.csv', Buffer.from('\uFEFF\r\n', 'utf16le'), 'p.csv has no records: it is empty'],
  ['p.csv', '\n\n', 'p.csv has no records: it is empty'],
  ['p.ndjson', '\n', 'p.ndjson has no records: it is empty'],
  ['p.csv', 'sku,name,price\n', 'p.csv has no records: it has only a header row'],
  ['p.json', '[]', 'p.json has no records: its list is empty'],
  ['p.json', '{"data":[],"meta":{"total":0}}\n', 'p.json has no records: its list is empty'],
  ['p.json', '{\n"meta": {"total": 0},\n"data": []\n}', 'p.json has no records: its list is empty'],
  ['p.ndjson.gz', gzipSync(''), 'p.ndjson.gz has no records: it is empty'],
  ['p.csv.gz', gzipSync(csv).subarray(0, 60), 'p.csv.gz is a gzip file that is damaged or cut off: '],
  [
    'p.xlsx',
    'PK\u0003\u0004…',
    'p.xlsx is a spreadsheet (.xlsx, .ods) or a ZIP archive: save it as CSV (UTF-8)',
  ],
  ['p.csv', Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 'p.csv is an Excel file (.xls): save it as CSV (UTF-8)'],
  ['p.csv', Buffer.from('\uFEFFsku,name', 'utf16le'), 'p.csv has no records: it has only a header row'],
  ['p.csv', Buffer.from([0xff, 0xfe, 0x41, 0xd8, 0x41, 0x00]), 'p.csv is not valid UTF-16LE text'],
  [
    'p.xml',
    '\n<?xml version="1.0"?><products/>',
    'p.xml is XML or HTML: export the data as CSV, NDJSON or JSON',
  ],
  [
    'p.csv',
    'sku,price,name,price\nA,1,x,2\n',
    'line 1 is the header and has the column "price" twice; rename',
  ],
  [
    'p.csv',
    'sku|name|price\nA|x|1\n',
    'line 1 is the header and has | between its columns; save the file with',
  ],
  ['p.csv', csv.replaceAll('\r\n', '\r'), 'line 1 ends with a carriage return alone; save the file with'],
];

test('a file that cannot be imported is reported in one line, and leaves the catalog unchanged', async () => {
  const place = await createCatalog('sqlite');
  await place.runHere(['import', place.file('before.csv', csv)]);
  const [products, version] = [await productsOf(place), await versionOf(place)];
  for (const [name, content, says] of unusable) {
    const ended = await place.runHere(['import', place.file(name, content)]);
    const line = ended.err.replace(`${place.folder}/`, '');
    expect(line).toStartWith(`catalog import: ${says}`);
    expect([line.indexOf('\n'), ended.out, ended.status]).toEqual([line.length - 1, '', 1]);
  }
  expect([await productsOf(place), await versionOf(place)]).toEqual([products, version]);
  place.remove();
});

const unreadable = [
  ['stock', 'abc', 'stock must be a number (it is "abc")'],
  ['stock', '5 EUR', 'stock must be a number without a currency (it is "5 EUR")'],
  ['stock', '{tracked', 'stock must be JSON (it is "{tracked")'],
  ['weight', '58', 'weight must have a unit (g, kg, oz, lb), or add --weight-unit (it is "58")'],
  ['weight', '58 stone', 'weight must be a number and one of g, kg, oz, lb (it is "58 stone")'],
  ['attributes', 'red', 'attributes must be JSON (it is "red")'],
  ['variants', '[', 'variants must be JSON (it is "[")'],
  [
    'variants',
    '[{""options"":{""Size"":""S""},""stock"":""abc"",""price"":""x"",""weight"":""3""}]',
    'variants.0.price must be a number; variants.0.weight must have a unit (g, kg, oz, lb), or add --weight-unit; variants.0.stock must be a number',
  ],
  ['images', 'img/b.jpg', 'images.0.url is only a path: --image-base names the address that precedes it'],
  ['images', 'ftp://a.example/b.jpg', 'images.0.url must be an http or https address'],
  ['images', 'https://user:secret@a.example/b.jpg', 'images.0.url must not have a user name or password'],
  ['status', 'gone', 'status must be one of active, archived (it is "gone")'],
] as const;

test.each(unreadable)('a %s of %p is refused by its name and rule', async (field, cell, says) => {
  const place = await createCatalog('sqlite');
  const file = place.file('u.csv', `sku,name,price,${field}\nU-1,Lamp,5,"${cell}"\nU-2,Cup,5,\n`);
  const ended = await place.runHere(['import', file]);
  expect(ended.err.split('\n')).toContain(`line 2: ${says}`);
  expect(ended.out).toStartWith('1 created, 0 updated, 0 unchanged, 1 rejected');
  expect((await productsOf(place)).map(({ sku }) => sku)).toEqual(['U-2']);
  place.remove();
});

test('status words of shops become active or archived', async () => {
  const place = await createCatalog('sqlite');
  const words = ['publish', 'Enabled', ' published ', 'draft', 'private', 'Disabled', 'archived', ''];
  const rows = words.map((word, index) => `S-${index},Lamp,5,${word}`);
  await place.runHere(['import', place.file('s.csv', ['sku,name,price,status', ...rows].join('\n'))]);
  expect<readonly string[]>((await productsOf(place)).map(({ status }) => status)).toEqual([
    ...['active', 'active', 'active', 'archived', 'archived', 'archived', 'archived', 'active'],
  ]);
  place.remove();
});
