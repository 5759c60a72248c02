/** Mistaken input is identified in one line, which says what to do. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createCatalog, createPlace, csv, type Place } from './program.ts';

let place: Place;
beforeAll(async () => {
  place = await createCatalog('sqlite');
});
afterAll(() => place.remove());

test.each([
  ['a folder', 'a folder'],
  ['a device', 'not a file'],
])('restore refuses %s', async (given, kind) => {
  const file = given === 'a folder' ? place.folder : '/dev/null';
  expect(await place.runHere(['restore', file])).toEqual({
    status: 1,
    out: '',
    err: `catalog restore: ${file} is ${kind}; name a copy made by catalog backup\n`,
  });
});

test('import of a backup names catalog restore', async () => {
  const backup = join(place.folder, 'backup.db');
  await place.runHere(['backup', backup]);
  expect(await place.runHere(['import', backup])).toEqual({
    status: 1,
    out: '',
    err: `catalog import: ${backup} is an SQLite database: catalog restore restores a backup, and catalog import reads CSV, NDJSON or JSON\n`,
  });
});

test('backup refuses standard output', async () => {
  const { status, out, err } = await place.runHere(['backup', '-']);
  expect([status, out]).toEqual([2, '']);
  expect(err).toBe(
    'catalog backup: a backup cannot be written to standard output; name a file; see catalog backup --help\n',
  );
});

test('import refuses a file that was packed twice', async () => {
  const file = place.file('twice.csv.gz', gzipSync(gzipSync(csv)));
  expect(await place.runHere(['import', file])).toEqual({
    status: 1,
    out: '',
    err: `catalog import: ${file} is compressed with gzip twice: decompress it once, with gunzip\n`,
  });
});

const unnamed = 'name the member that holds the records, as in --path data.items';
const records = [{ name: 'Lamp', price: 5 }];

test.each([
  [{ a: { b: records } }, [], 'has no array of objects; --path a.b reads the one there'],
  [
    { a: { b: [1] }, c: { d: { e: records } } },
    [],
    'has no array of objects; --path c.d.e reads the one there',
  ],
  [{ a: { b: records } }, ['--path', 'a.c'], 'has no array at "a.c"; --path a.b reads the one there'],
  [{ 'a.b': { c: records } }, [], `has no array of objects; ${unnamed}`],
  [{ a: { b: 1 } }, [], `has no array of objects; ${unnamed}`],
])('import of JSON %j with %j', async (content, options, says) => {
  for (const name of ['n.json', 'n.json.gz']) {
    const text = JSON.stringify(content, null, 2);
    const file = place.file(name, name.endsWith('.gz') ? gzipSync(text) : text);
    expect(await place.runHere(['import', file, ...options])).toEqual({
      status: 1,
      out: '',
      err: `catalog import: ${file} ${says}\n`,
    });
    const path = /--path (\S+) reads/.exec(says)?.[1];
    if (path === undefined) continue;
    expect((await place.runHere(['import', file, '--path', path, '--dry-run'])).out).toContain('1 created');
  }
});

test('import of JSON from standard input, which cannot be read again', async () => {
  const ended = await place.run(['import', '-', '--format', 'json'], JSON.stringify({ a: { b: records } }));
  expect(ended).toEqual({
    status: 1,
    out: '',
    err: `catalog import: standard input has no array of objects; ${unnamed}\n`,
  });
});

const makers = [['serve', '--port', '0'], ['migrate'], ['import', '-'], ['restore', '/etc/hostname']];

test.each(makers.map(args => [args] as const))('%j reports a folder that allows no new file', async args => {
  const nowhere = await createPlace('sqlite', { DATA_DIR: '/proc' });
  const ended = await (args.includes('-') ? nowhere.run(args, csv) : nowhere.runHere(args));
  // Users other than root are refused by permissions.
  const reason =
    process.getuid?.() === 0
      ? /no file can be created in \/proc \(\w+\); name another folder/
      : /\/proc cannot be read and written by this process \(EACCES\); change its owner or mode/;
  expect(ended.err).toMatch(new RegExp(`^catalog: setting DATA_DIR: ${reason.source}\n$`));
  expect([ended.status, ended.out]).toEqual([1, '']);
  nowhere.remove();
});

test('the check of the folder leaves no file', async () => {
  const fresh = await createPlace('sqlite');
  await fresh.runHere(['migrate']);
  const left = readdirSync(join(fresh.folder, 'data')).filter(name => !name.startsWith('catalog.db'));
  expect([left, existsSync(join(fresh.folder, 'data', 'catalog.db'))]).toEqual([[], true]);
  fresh.remove();
});

test.each([
  ['7', 1, 'has 3 records, and --skip skips the first 7: nothing was imported'],
  ['3', 0, 'read 3 rows: 0 products, 0 variants, 0 images'],
])('import with --skip %s of a file of three records', async (skip, status, says) => {
  const fresh = await createCatalog('sqlite');
  const file = fresh.file('three.csv', csv);
  for (const options of [[], ['--dry-run']]) {
    const ended = await fresh.runHere(['import', file, '--skip', skip, ...options]);
    expect([ended.status, ended.out === '']).toEqual([status, status !== 0]);
    expect(ended.err.trimEnd().split('\n').at(-1)).toEndWith(says);
  }
  fresh.remove();
});

test('the summary of one record is in the singular', async () => {
  const fresh = await createCatalog('sqlite');
  const ended = await fresh.runHere(['import', fresh.file('one.csv', 'sku,name,price\nA,Lamp,1\n')]);
  expect(ended.err).toContain('1 record done, ');
  expect(ended.out).toContain(' (1 record in ');
  fresh.remove();
});

test('a column without a name is named by its number, with and without a preset', async () => {
  const fresh = await createCatalog('sqlite');
  const plain = fresh.file('plain.csv', 'name,,price,colour,\nA,x,1,red,y\n');
  expect((await fresh.runHere(['import', plain])).err).toContain(
    'catalog import: columns not used: colour, column 2 (without a name), column 5 (without a name)\n',
  );
  const feed = fresh.file('feed.csv', 'id,title,price,link,\nA,Lamp,1 EUR,https://shop.example/a,x\n');
  expect((await fresh.runHere(['import', feed, '--preset', 'google'])).err).toContain(
    'catalog import: columns not used: column 5 (without a name)\n',
  );
  fresh.remove();
});

const utf32 = (text: string) => Uint8Array.from([...text].flatMap(one => [one.codePointAt(0) ?? 0, 0, 0, 0]));
const anImage = 'is an image: export the data as CSV, NDJSON or JSON';
const inUtf32 = 'is text in UTF-32, which is not supported: save it as UTF-8 and import that';

test.each([
  ['a PNG', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), anImage],
  ['a JPEG', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), anImage],
  ['a GIF', 'GIF89a', anImage],
  ['UTF-32', utf32(csv), inUtf32],
  ['UTF-32 with its mark', Uint8Array.of(0xff, 0xfe, 0, 0, ...utf32(csv)), inUtf32],
  ['UTF-32 from the other end', utf32(csv).toReversed(), inUtf32],
  ['UTF-32 from the other end with its mark', Uint8Array.of(0, 0, 0xfe, 0xff), inUtf32],
])('import refuses %s', async (_, content, says) => {
  const file = place.file('given.csv', content);
  expect(await place.runHere(['import', file])).toEqual({
    status: 1,
    out: '',
    err: `catalog import: ${file} ${says}\n`,
  });
});

test.each([
  ['%PDF-1.7', [], 'standard input is a PDF file: export the data as CSV, NDJSON or JSON'],
  ['', ['--preset', 'shopify'], 'standard input has no records: it is empty'],
  [csv, ['--preset', 'google'], 'standard input is not a feed for Google Merchant Center: it has no column'],
  [csv, ['--skip', '4'], 'standard input has 3 records, and --skip skips the first 4: nothing was imported'],
])('messages call piped input standard input: %j with %j', async (text, options, says) => {
  const { status, err } = await place.run(['import', '-', ...options], text);
  expect([status, err]).toEqual([1, expect.stringContaining(`catalog import: ${says}`)]);
});

test.each([[[]], [['--dry-run']], [['--preset', 'shopify', '--dry-run']]])(
  'a folder as standard input is refused, with %j',
  async options => {
    const redirected = ['sh', '-c', `exec "$@" < '${place.folder}'`, 'sh'];
    const child = place.start(['import', '-', ...options], redirected);
    expect(await child.stderr.text()).toBe('catalog import: standard input is a folder\n');
    expect(await child.exited).toBe(1);
  },
);

test('a device is refused in one line', async () => {
  const err = 'catalog import: /dev/null is a device; - reads standard input\n';
  expect(await place.run(['import', '/dev/null'])).toEqual({ status: 1, out: '', err });
});

const example = join(import.meta.dir, '..', '..', 'examples', 'raise-prices.ts');
test.each([
  ['foo', 2, 'raise-prices: URL is an address such as http://127.0.0.1:3000, not "foo"\n'],
  ['http://127.0.0.1:1', 1, 'raise-prices: http://127.0.0.1:1: '],
])('the example reports that it cannot use the address %s', async (url, status, says) => {
  const child = Bun.spawn([process.execPath, example, url, 'a@b.example', 'x', 'lamps', '5'], {
    stderr: 'pipe',
  });
  expect(await child.stderr.text()).toStartWith(says);
  expect(await child.exited).toBe(status);
});
