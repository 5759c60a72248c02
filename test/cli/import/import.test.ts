/** Imports: their effect on the products, with the records of files and the products that existed before. */
import { afterAll, beforeAll, expect, test } from 'bun:test';

import { gzipSync } from 'node:zlib';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, csv, type Place, productsOf, totalsOf } from '../program.ts';
import { records } from './large-imports.ts';

interface Scenario {
  readonly name: string;
  readonly before?: string;
  readonly file: string;
  readonly content: string | Uint8Array;
  readonly options?: readonly string[];
  readonly status: number;
  /** Expected on standard output or standard error. */
  readonly says: readonly (string | RegExp)[];
  /** SKU, name and price of all products afterwards. */
  readonly leaves: readonly (readonly [string | null, string, number])[];
}

const rows = {
  lamp: ['A-1', 'Lamp', 10.5],
  chair: ['A-2', 'Chair', 20],
  table: ['A-3', 'Table', 30],
} as const;
const all = [rows.lamp, rows.chair, rows.table];

const scenarios: readonly Scenario[] = [
  {
    name: 'CSV',
    file: 'p.csv',
    content: csv,
    status: 0,
    says: [
      '3 created, 0 updated, 0 unchanged, 0 rejected',
      /^catalog import: 100 %, 3 records done, [\d,]+\/s$/m,
    ],
    leaves: all,
  },
  {
    name: 'a second import changes nothing',
    before: csv,
    file: 'p.csv',
    content: csv,
    status: 0,
    says: ['0 created, 0 updated, 3 unchanged, 0 rejected'],
    leaves: all,
  },
  {
    name: 'an update changes the field that differs and keeps the others',
    before: csv,
    file: 'p.csv',
    content: 'sku,name,price\nA-1,Lamp,11\nA-2,Chair,20\n',
    status: 0,
    says: ['0 created, 1 updated, 1 unchanged, 0 rejected'],
    leaves: [['A-1', 'Lamp', 11], rows.chair, rows.table],
  },
  {
    name: 'two records of one sku: the later wins',
    file: 'p.csv',
    content: 'sku,name,price\nA-1,First,1\nA-2,Chair,20\nA-1,Lamp,10.5\n',
    status: 0,
    says: ['2 created, 1 updated, 0 unchanged, 0 rejected'],
    leaves: [rows.lamp, rows.chair],
  },
  {
    name: 'records without sku are always new',
    before: 'name,price\nPlain,1\n',
    file: 'p.csv',
    content: 'name,price\nPlain,1\nPlain,1\n',
    status: 0,
    says: ['2 created'],
    leaves: [
      [null, 'Plain', 1],
      [null, 'Plain', 1],
      [null, 'Plain', 1],
    ],
  },
  {
    name: 'records that are skipped',
    file: 'p.csv',
    content: csv,
    options: ['--skip', '2'],
    status: 0,
    says: ['1 created'],
    leaves: [rows.table],
  },
  {
    name: 'JSON in a member, with mapped columns',
    file: 'p.json',
    content: JSON.stringify({
      meta: { n: 1 },
      data: { items: [{ title: 'Lamp', cost: { eur: '10.5' }, code: 'A-1' }] },
    }),
    options: ['--path', 'data.items', '--map', 'name=title,price=cost.eur', '--map', 'sku=code'],
    status: 0,
    says: ['1 created'],
    leaves: [rows.lamp],
  },
  {
    name: 'a dry run writes nothing',
    before: csv,
    file: 'p.csv',
    content: 'sku,name,price\nA-1,Lamp,11\nA-2,Chair,20\nA-9,New,1\nA-8,,1\n',
    options: ['--dry-run'],
    status: 2,
    says: [
      'dry run, nothing was written: 1 created, 1 updated, 1 unchanged, 1 rejected',
      'line 5: name is required',
    ],
    leaves: all,
  },
  {
    name: 'lines that break a rule are rejected, and the others imported',
    file: 'p.ndjson',
    content: [
      '{"sku":"A-1","name":"Lamp","price":10.5}',
      '{"sku":"B-1","name":"Nul \\u0000","price":1}',
      '{"sku":"B-2","name":"Half \\ud800","price":1}',
      '{"sku":"B-3","price":-1}',
      '[1]',
      '{"sku":"A-2","name":"Chair","price":20}',
    ].join('\n'),
    status: 2,
    says: [
      '2 created, 0 updated, 0 unchanged, 4 rejected',
      'line 2: name must not contain U+0000',
      'line 3: name must not contain U+0000 or unpaired surrogates',
      'line 4: name is required; price must be 0 or more',
      'line 5: is not a JSON object',
    ],
    leaves: [rows.lamp, rows.chair],
  },
  {
    name: 'bytes that are not UTF-8',
    file: 'p.csv',
    content: Buffer.concat([
      Buffer.from('sku,name,price\nB-1,'),
      Buffer.from([0xe9, 0xff]),
      Buffer.from(',1\nA-2,Chair,20\nA-3,Tåblé à ü ö,30\n'),
    ]),
    status: 2,
    says: ['2 created', 'line 2: is not valid UTF-8 text'],
    leaves: [rows.chair, ['A-3', 'Tåblé à ü ö', 30]],
  },
  {
    name: 'Windows-1252 is recognized by its bytes',
    file: 'p.csv',
    content: Buffer.from('sku,name,price\nA-1,L\xe4mp \x80,10.5\n', 'latin1'),
    status: 0,
    says: ['1 created', 'p.csv is not UTF-8 and is read as Windows-1252'],
    leaves: [['A-1', 'Lämp €', 10.5]],
  },
  {
    name: 'Windows-1252 that is declared as UTF-8',
    file: 'p.csv',
    content: Buffer.from('sku,name,price\nA-1,L\xe4mp,10.5\n', 'latin1'),
    options: ['--encoding', 'utf-8'],
    status: 2,
    says: ['0 created', 'line 2: is not valid UTF-8 text'],
    leaves: [],
  },
  {
    name: 'Shift_JIS that is named',
    file: 'p.csv',
    // ガラス 表, whose last character has a backslash as its second byte.
    content: Buffer.from('sku,name,price\nA-1,\x83\x4b\x83\x89\x83\x58 \x95\x5c,10.5\n', 'latin1'),
    options: ['--encoding', 'shift_jis'],
    status: 0,
    says: ['1 created'],
    leaves: [['A-1', 'ガラス 表', 10.5]],
  },
  {
    name: 'Windows-1251 that is named',
    file: 'p.csv',
    content: Buffer.from('sku,name,price\nA-1,\xcb\xe0\xec\xef\xe0,10.5\n', 'latin1'),
    options: ['--encoding', 'windows-1251'],
    status: 0,
    says: ['1 created'],
    leaves: [['A-1', 'Лампа', 10.5]],
  },
  {
    name: 'UTF-16',
    file: 'p.csv',
    content: Buffer.from('\uFEFFsku\tname\tprice\r\nA-1\tLámp €\t10.5\r\n', 'utf16le').swap16(),
    status: 0,
    says: ['1 created'],
    leaves: [['A-1', 'Lámp €', 10.5]],
  },
  {
    name: 'decimal commas, currencies, and values for all products',
    file: 'p.csv',
    content: 'sku;name;price\nA-1;Lamp;10,5\nA-2;Chair;20 EUR\nA-3;Table;1.030 €\n',
    options: ['--decimal', 'comma', '--set', 'status=archived', '--set', 'attributes.season=SS26'],
    status: 0,
    says: ['3 created', 'read 3 rows: 3 products, 0 variants, 0 images'],
    leaves: [rows.lamp, rows.chair, ['A-3', 'Table', 1030]],
  },
  {
    name: 'a mapped column that is missing',
    file: 'p.csv',
    content: csv,
    options: ['--map', 'name=title'],
    status: 1,
    says: [
      /^catalog import: the first record has no column "title" for name; it has sku, name, price, category, tags, description\n$/,
    ],
    leaves: [],
  },
  {
    name: 'a required column that is missing',
    file: 'p.csv',
    content: 'sku,title,price\nA-1,Lamp,1\n',
    status: 1,
    says: [
      'catalog import: there is no column "name": name it with --map name=COLUMN, one of sku, title, price',
    ],
    leaves: [],
  },
  {
    name: 'JSON whose members have other names',
    file: 'p.json',
    content: '[{"sku":"A-1","title":"Lamp"},{"sku":"B-1","price":2}]',
    status: 2,
    says: [
      'catalog import: no record has a member "name": name it with --map name=MEMBER, one of sku, title',
    ],
    leaves: [],
  },
  {
    name: 'a file packed with gzip, in two parts',
    file: 'p.csv.gz',
    content: Buffer.concat([gzipSync(csv.slice(0, 50)), gzipSync(csv.slice(50))]),
    status: 0,
    says: ['3 created', /^catalog import: 100 %/m],
    leaves: all,
  },
  {
    name: 'the reasons for rejection are counted, and each names the value',
    file: 'p.csv',
    content: 'sku,name,price,tags\nA-1,Lamp,10.5,\nB-1,,"1,5",\nB-2,x,cheap,\nB-3,y,-1,"a; ;[b"\nB-4,z\n',
    status: 2,
    says: [
      'line 3: name is required; price must be a number: for a decimal comma, use --decimal comma (it is "1,5")',
      'line 4: price must be a number (it is "cheap")',
      'line 5: price must be 0 or more (it is -1)',
      /^catalog import: 1 rejected: name is required\ncatalog import: {3}as line 3: name is required$/m,
      /^catalog import: {3}as line 3: price must be a number: .* \(it is "1,5"\)$/m,
      'catalog import: 1 rejected: has 2 fields where the header has 4',
      '1 created, 0 updated, 0 unchanged, 4 rejected',
    ],
    leaves: [rows.lamp],
  },
  {
    name: 'a rejected value is reported with its column where that has another name',
    file: 'p.csv',
    content: 'sku,Titel,price,Farbe\nA-1,Lamp,10.5,red\nB-1,,x,\n',
    options: ['--map', 'name=Titel,attributes.colour=Farbe'],
    status: 2,
    says: ['line 3: name is required (column "Titel"); price must be a number (it is "x")'],
    leaves: [rows.lamp],
  },
];

describeOnDatabases('catalog import on %s', kind => {
  let place: Place;
  beforeAll(async () => {
    place = await createCatalog(kind, { DEFAULT_CURRENCY: 'CHF' });
  });
  afterAll(() => place.remove());

  test.each(scenarios.map(scenario => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    const fresh = await createCatalog(kind, { DEFAULT_CURRENCY: 'CHF' });
    if (scenario.before !== undefined)
      await fresh.runHere(['import', fresh.file('before.csv', scenario.before)]);
    const file = fresh.file(scenario.file, scenario.content);
    const ended = await fresh.runHere(['import', file, ...(scenario.options ?? [])]);
    for (const text of scenario.says) expect(ended.out + ended.err).toMatch(text);
    expect(ended.status).toBe(scenario.status);
    expect((await productsOf(fresh)).map(({ sku, name, price }) => [sku, name, price])).toEqual(
      scenario.leaves.map(row => [...row]),
    );
    const { kept, counted } = await totalsOf(fresh);
    expect(kept).toEqual(counted);
    fresh.remove();
  });
});

test('the first transaction is short on any machine, before the import knows its speed', async () => {
  const place = await createCatalog('sqlite');
  const { err } = await place.runHere(['import', place.file('p.ndjson', records(1000))]);
  expect(err).toContain('400 records done');
  place.remove();
});
