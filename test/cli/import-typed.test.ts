/** A cell of a table has no type: of an attribute that is defined it is read as the definition says. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeOnDatabases } from '../support/databases.ts';
import { type Imports, startImports } from '../support/imports.ts';

const definitions = [
  { key: 'size', label: 'Size', type: 'choice', choices: ['38', '40', 'true'] },
  { key: 'code', label: 'Code', type: 'text' },
  { key: 'length', label: 'Length', type: 'number', unit: 'cm' },
  { key: 'organic', label: 'Organic', type: 'boolean' },
  { key: 'since', label: 'Since', type: 'date' },
];

/** What is in the cell, and what becomes of it. */
const read = [
  ['size', '38', '38'],
  ['size', ' 40 ', '40'],
  ['size', 'true', 'true'],
  ['size', '"""38"""', '38'],
  ['size', '"[""38"",40]"', ['38', '40']],
  ['code', '12', '12'],
  ['code', '0012', '0012'],
  ['code', '7.50', '7.50'],
  ['code', 'true', 'true'],
  ['length', '12.50', 12.5],
  ['length', '12.0', 12],
  ['organic', 'yes', true],
  ['organic', '0', false],
  ['since', '2026-01-31', '2026-01-31'],
  // Without a definition a value is what it looks like.
  ['other', '12', 12],
  ['other', '0012', '0012'],
] as const;

const refused = [
  ['size', '39', 'must be one of 38, 40, true, not "39"'],
  ['length', 'long', 'must be a number (in cm), not "long"'],
  ['length', '12 EUR', 'must be a number (in cm), not "12 EUR"'],
  ['organic', 'perhaps', 'must be true or false, not "perhaps"'],
  ['since', '31.1.2026', 'must be a date (2026-01-31) or a moment (2026-01-31T12:00:00Z), not "31.1.2026"'],
] as const;

describeOnDatabases('cells of attributes on %s', kind => {
  let imports: Imports;
  beforeAll(async () => {
    imports = await startImports(kind);
    for (const definition of definitions)
      expect((await imports.send('POST', '/v1/attributes', definition)).status).toBe(201);
  });
  afterAll(() => imports[Symbol.asyncDispose]());

  const csvOf = (key: string, cell: string) => `sku,name,price,attributes.${key}\nT-1,Typed,1,${cell}\n`;
  const attributesNow = async () => (await imports.shown('T-1'))?.attributes ?? {};

  test.each(read)('%s: %s is read', async (key, cell, value) => {
    await imports.take(csvOf(key, cell));
    expect((await attributesNow())[key]).toEqual(value);
  });

  test('a decimal comma where it is said', async () => {
    await imports.take(csvOf('length', '"12,5"'), '--decimal', 'comma');
    expect((await attributesNow()).length).toBe(12.5);
  });

  test.each(refused)('%s: %s is refused, as it is written', async (key, cell, says) => {
    const before = await attributesNow();
    const { status, err } = await imports.run(csvOf(key, cell));
    expect(status).toBe(2);
    expect(err).toContain(`attributes.${key}: ${says}`);
    expect(await attributesNow()).toEqual(before);
  });

  test('an export is read again as it was', async () => {
    await imports.take(csvOf('code', '"""12"""'));
    await imports.take(csvOf('size', '38'));
    const file = await imports.exported('typed.csv');
    const again = await imports.place.runHere(['import', file]);
    expect([again.status, again.out]).toEqual([0, expect.stringContaining('0 created, 0 updated')]);
  });

  test('a shop’s own columns are read so, too', async () => {
    const woo = [
      'ID,Type,SKU,Name,Published,Regular price,Attribute 1 name,Attribute 1 value(s),Attribute 2 name,Attribute 2 value(s)',
      '1,simple,W-1,Shoe,1,20,Size,38,Code,12',
    ].join('\n');
    const file = imports.place.file('woo.csv', `${woo}\n`);
    const { status, err } = await imports.place.runHere(['import', file, '--preset', 'woocommerce']);
    expect([status, err]).toEqual([0, expect.any(String)]);
    expect((await imports.shown('W-1')).attributes).toMatchObject({ size: '38', code: '12' });
  });

  test('an amount that all products get has its currency', async () => {
    const cells = 'sku,name,price\nC-1,One,1\nC-2,Two,2\n';
    await imports.take(cells, '--set', 'price=352 AED');
    for (const sku of ['C-1', 'C-2'])
      expect(await imports.shown(sku)).toMatchObject({ price: 352, currency: 'AED' });
  });
});
