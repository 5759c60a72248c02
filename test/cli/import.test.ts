import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { completeFields } from '../../src/resources/products/schema.ts';
import { describeOnDatabases } from '../support/databases.ts';
import {
  createCatalog,
  createPlace,
  fieldsOf,
  type Place,
  productsOf,
  totalsOf,
  versionOf,
} from './program.ts';

const csv = [
  'sku,name,price,category,tags,description',
  'A-1,Lamp,10.5,lighting,desk;wood,"A lamp, small"',
  'A-2,Chair,20,seating,,',
  'A-3,Table,30,,,',
].join('\r\n');

const lamp = {
  sku: 'A-1',
  name: 'Lamp',
  price: 10.5,
  currency: 'CHF',
  status: 'active',
  description: 'A lamp, small',
  category: 'lighting',
  tags: ['desk', 'wood'],
};

interface Scenario {
  readonly name: string;
  readonly before?: string;
  readonly file: string;
  readonly content: string | Uint8Array;
  readonly options?: readonly string[];
  readonly status: number;
  /** On standard output and standard error. */
  readonly says: readonly (string | RegExp)[];
  /** Sku, name and price of all products afterwards. */
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
    name: 'the same again changes nothing',
    before: csv,
    file: 'p.csv',
    content: csv,
    status: 0,
    says: ['0 created, 0 updated, 3 unchanged, 0 rejected'],
    leaves: all,
  },
  {
    name: 'an update where a field differs, the others kept',
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
    name: 'lines that break a rule, with the others taken',
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
    name: 'Windows-1252, told by its bytes',
    file: 'p.csv',
    content: Buffer.from('sku,name,price\nA-1,L\xe4mp \x80,10.5\n', 'latin1'),
    status: 0,
    says: ['1 created', 'p.csv is not UTF-8 and is read as Windows-1252'],
    leaves: [['A-1', 'Lämp €', 10.5]],
  },
  {
    name: 'Windows-1252 that is said to be UTF-8',
    file: 'p.csv',
    content: Buffer.from('sku,name,price\nA-1,L\xe4mp,10.5\n', 'latin1'),
    options: ['--encoding', 'utf-8'],
    status: 2,
    says: ['0 created', 'line 2: is not valid UTF-8 text'],
    leaves: [],
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
    name: 'decimal commas, currencies, and what all products get',
    file: 'p.csv',
    content: 'sku;name;price\nA-1;Lamp;10,5\nA-2;Chair;20 EUR\nA-3;Table;1.030 €\n',
    options: ['--decimal', 'comma', '--set', 'status=archived', '--set', 'attributes.season=SS26'],
    status: 0,
    says: ['3 created', 'read 3 rows: 3 products, 0 variants, 0 images'],
    leaves: [rows.lamp, rows.chair, ['A-3', 'Table', 1030]],
  },
  {
    name: 'a mapped column that is not there',
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
    name: 'a required column that is not there',
    file: 'p.csv',
    content: 'sku,title,price\nA-1,Lamp,1\n',
    status: 1,
    says: [
      'catalog import: there is no column "name": name it with --map name=COLUMN, one of sku, title, price',
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
    name: 'why records were rejected is counted, and each names the value',
    file: 'p.csv',
    content: 'sku,name,price,tags\nA-1,Lamp,10.5,\nB-1,,"1,5",\nB-2,x,cheap,\nB-3,y,-1,"a; ;[b"\nB-4,z\n',
    status: 2,
    says: [
      'line 3: name is required; price must be a number: a decimal comma is read with --decimal comma (it is "1,5")',
      'line 4: price must be a number (it is "cheap")',
      'line 5: price must be 0 or more (it is -1)',
      /^catalog import: 1 rejected: name is required\ncatalog import: {3}as line 3: name is required; /m,
      'catalog import: 1 rejected: has 2 fields where the header has 4',
      '1 created, 0 updated, 0 unchanged, 4 rejected',
    ],
    leaves: [rows.lamp],
  },
];

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is no such product');
  return value;
}

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

  test('fields: defaults on create, kept on update, null removes; dates and version only of what changed', async () => {
    const run = (records: readonly object[]) =>
      place.runHere(['import', place.file('p.ndjson', records.map(line => JSON.stringify(line)).join('\n'))]);
    expect((await place.run(['import', '-'], csv)).status).toBe(0);
    const first = await productsOf(place);
    expect(fieldsOf(found(first[0]))).toEqual(completeFields({ ...lamp, status: 'active' }));
    const version = await versionOf(place);

    await run([{ sku: 'A-1', name: 'Lamp', price: 10.5 }]);
    expect(await productsOf(place)).toEqual(first);
    expect(await versionOf(place)).toBe(version);

    await run([{ sku: 'A-1', name: 'Lamp', price: 10.5, description: null, status: 'archived' }]);
    const [changed, ...others] = await productsOf(place);
    expect(others).toEqual(first.slice(1));
    expect(fieldsOf(found(changed))).toEqual(
      completeFields({ ...lamp, description: null, status: 'archived' }),
    );
    expect(changed?.createdAt).toBe(first[0]?.createdAt);
    expect(changed?.updatedAt === first[0]?.updatedAt).toBe(false);
    expect(await versionOf(place)).not.toBe(version);
    const { kept, counted } = await totalsOf(place);
    expect(kept).toEqual(counted);
  });

  test.each([
    ['a file', [], undefined],
    ['a file that is packed', [], 'gz'],
    ['a file, each record in a transaction of its own', ['--batch', '1'], undefined],
    ['a stream, in one transaction', ['--format', 'csv'], '-'],
  ] as const)('repeated skus in %s: imported again nothing is written', async (_, options, form) => {
    const fresh = await createCatalog(kind);
    // More than are read at once, where that matters.
    const many = options.length === 0 ? 1100 : 5;
    const filler = Array.from({ length: many }, (_, index) => `F-${index},Filler ${index},1,`);
    const [first, last] = ['A-1,First,1,early', 'A-1,Last,2,'];
    const [refused, again] = ['A-2,,3,', 'A-2,Twice,3,'];
    const text = [
      'sku,name,price,category',
      first,
      again,
      ...(form === '-' ? [] : filler),
      last,
      again,
      refused,
    ];
    const content = form === 'gz' ? gzipSync(text.join('\n')) : text.join('\n');
    const file = fresh.file(form === 'gz' ? 'r.csv.gz' : 'r.csv', content);
    const run = () =>
      form === '-'
        ? fresh.run(['import', '-', ...options], text.join('\n'))
        : fresh.runHere(['import', file, ...options]);
    const before = await run();
    expect(before.err).toContain('2 records have the sku of an earlier one; of each sku the last counts');
    const products = await productsOf(fresh);
    // What the last one leaves out, an earlier one has said.
    expect(products[0]).toMatchObject({ sku: 'A-1', name: 'Last', price: 2, category: 'early' });
    const version = await versionOf(fresh);
    const after = await run();
    expect(after.err).toContain('2 records have the sku of an earlier one');
    expect(after.out).toStartWith(
      `0 created, 0 updated, ${(text.length - 2).toLocaleString('en-US')} unchanged, 1 rejected`,
    );
    expect([await productsOf(fresh), await versionOf(fresh)]).toEqual([products, version]);
    fresh.remove();
  });

  test('repeated skus: an import that goes on where another was stopped knows what came before', async () => {
    const fresh = await createCatalog(kind);
    const lines = ['sku,name,price,category', 'A-1,First,1,early', 'A-2,Chair,20,', 'A-1,Last,2,'];
    await fresh.runHere(['import', fresh.file('before.csv', 'sku,name,price\nA-1,Before,9\n')]);
    const file = fresh.file('r.csv', lines.join('\n'));
    const ended = await fresh.runHere(['import', file, '--skip', '2']);
    expect(ended.out).toStartWith('0 created, 1 updated, 0 unchanged, 0 rejected');
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
  });

  test('of many rejects the first 20 are shown', async () => {
    const ended = await place.runHere(['import', place.file('r.csv', `name,price\n${',1\n'.repeat(25)}`)]);
    expect(ended.err.match(/^line /gm)?.length).toBe(20);
    expect(ended.out).toContain('25 rejected');
    expect(ended.status).toBe(2);
  });
});

test('a dry run without a database makes none', async () => {
  const place = await createPlace('sqlite');
  const ended = await place.run(['import', '-', '--dry-run'], csv);
  expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('3 created') });
  expect(await Bun.file(join(place.folder, 'data', 'catalog.db')).exists()).toBe(false);
  place.remove();
});

/** File, content, and what is said in one line. */
const unusable: readonly (readonly [file: string, content: string | Uint8Array, says: string])[] = [
  ['p.csv', '', 'p.csv has no records: it is empty'],
  ['p.csv', 'sku,name,price\n', 'p.csv has no records: nothing follows the header row'],
  ['p.json', '[]', 'p.json has no records: its list is empty'],
  ['p.ndjson.gz', gzipSync(''), 'p.ndjson.gz has no records: it is empty'],
  ['p.csv.gz', gzipSync(csv).subarray(0, 60), 'p.csv.gz is a gzip file that is damaged or cut off: '],
  [
    'p.xlsx',
    'PK\u0003\u0004…',
    'p.xlsx is a spreadsheet (.xlsx, .ods) or a ZIP archive: save it as CSV (UTF-8)',
  ],
  ['p.csv', Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 'p.csv is an Excel file (.xls): save it as CSV (UTF-8)'],
  ['p.csv', Buffer.from('\uFEFFsku,name', 'utf16le'), 'p.csv has no records: nothing follows the header row'],
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

test('what cannot be imported is reported in one line, and leaves the catalog as it was', async () => {
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
