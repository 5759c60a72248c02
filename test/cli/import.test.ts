import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseKinds } from '../support/service.ts';
import { createPlace, fieldsOf, type Place, productsOf, totalsOf, versionOf } from './program.ts';

// Each test starts several processes.
setDefaultTimeout(30_000);

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
      Buffer.from(',1\nA-2,Chair,20\n'),
    ]),
    status: 2,
    says: ['1 created', 'line 2: is not valid UTF-8 text'],
    leaves: [rows.chair],
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
  { name: 'an empty file', file: 'p.csv', content: '', status: 0, says: ['0 created'], leaves: [] },
];

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is no such product');
  return value;
}

describe.each(databaseKinds)('catalog import on %s', kind => {
  let place: Place;
  beforeAll(async () => {
    place = await createPlace(kind, { DEFAULT_CURRENCY: 'CHF' });
  });
  afterAll(() => place.remove());

  test.concurrent.each(scenarios.map(scenario => [scenario.name, scenario] as const))(
    '%s',
    async (_, scenario) => {
      const fresh = await createPlace(kind, { DEFAULT_CURRENCY: 'CHF' });
      if (scenario.before !== undefined) await fresh.run(['import', '-', '--format', 'csv'], scenario.before);
      const file = fresh.file(scenario.file, scenario.content);
      const ended = await fresh.run(['import', file, ...(scenario.options ?? [])]);
      for (const text of scenario.says) expect(ended.out + ended.err).toMatch(text);
      expect(ended.status).toBe(scenario.status);
      // Migrates, so that an import that never began leaves tables to look into.
      if (scenario.status === 1) await fresh.run(['migrate']);
      expect((await productsOf(fresh)).map(({ sku, name, price }) => [sku, name, price])).toEqual(
        scenario.leaves.map(row => [...row]),
      );
      const { kept, counted } = await totalsOf(fresh);
      expect(kept).toEqual(counted);
      fresh.remove();
    },
  );

  test('fields: defaults on create, kept on update, null removes; dates and version only of what changed', async () => {
    const run = (records: readonly object[]) =>
      place.run(
        ['import', '-', '--format', 'ndjson'],
        records.map(record => JSON.stringify(record)).join('\n'),
      );
    expect((await place.run(['import', place.file('p.csv', csv)])).status).toBe(0);
    const first = await productsOf(place);
    expect(fieldsOf(found(first[0]))).toEqual({ ...lamp, status: 'active' });
    const version = await versionOf(place);

    await run([{ sku: 'A-1', name: 'Lamp', price: 10.5 }]);
    expect(await productsOf(place)).toEqual(first);
    expect(await versionOf(place)).toBe(version);

    await run([{ sku: 'A-1', name: 'Lamp', price: 10.5, description: null, status: 'archived' }]);
    const [changed, ...others] = await productsOf(place);
    expect(others).toEqual(first.slice(1));
    expect(fieldsOf(found(changed))).toEqual({ ...lamp, description: null, status: 'archived' });
    expect(changed?.createdAt).toBe(first[0]?.createdAt);
    expect(changed?.updatedAt === first[0]?.updatedAt).toBe(false);
    expect(await versionOf(place)).toBe(version + 1);
    const { kept, counted } = await totalsOf(place);
    expect(kept).toEqual(counted);
  });

  test('rejects go to a file, each with its line, reason, details and text', async () => {
    const rejects = join(place.folder, 'rejects.ndjson');
    const file = place.file('bad.csv', 'sku,name,price\nR-1,,x\nR-2,"open,1\n');
    const ended = await place.run(['import', file, '--rejects', rejects]);
    expect(ended.status).toBe(2);
    expect(ended.err).not.toContain('line 2');
    const lines = readFileSync(rejects, 'utf8').trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line))).toEqual([
      {
        line: 2,
        error: 'name is required; price must be a number',
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
    const ended = await place.run(['import', '-'], `name,price\n${',1\n'.repeat(25)}`);
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
