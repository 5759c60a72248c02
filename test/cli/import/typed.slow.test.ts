/** A cell of a table has no type. For a defined attribute, it is read as the definition says. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Imports, startImports } from '../../support/samples/imports.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

const definitions = [
  { key: 'size', label: 'Size', type: 'choice', choices: ['38', '40', 'true'] },
  { key: 'code', label: 'Code', type: 'text' },
  { key: 'length', label: 'Length', type: 'number', unit: 'cm' },
  { key: 'organic', label: 'Organic', type: 'boolean' },
  { key: 'since', label: 'Since', type: 'date' },
];

/** The key of an attribute, the content of the cell, and the resulting value. */
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
  ['organic', 'Ja', true],
  ['organic', 'nein', false],
  ['since', '2026-01-31', '2026-01-31'],
  // Without a definition, the form of the cell determines the type.
  ['other', '12', 12],
  ['other', '0012', '0012'],
] as const;

/** Values that existed before their attributes were defined, and the later definitions. */
const late: Readonly<Record<string, { value: unknown; type: string; choices?: readonly string[] }>> = {
  late_1: { value: 12, type: 'text' },
  late_2: { value: 12.5, type: 'text' },
  late_3: { value: true, type: 'text' },
  late_4: { value: '12', type: 'number' },
  late_5: { value: 'yes', type: 'boolean' },
  late_6: { value: 1, type: 'boolean' },
  late_7: { value: 'true', type: 'boolean' },
  late_8: { value: 5, type: 'choice', choices: ['5'] },
  late_9: { value: ' 2024-01-01 ', type: 'date' },
  late_10: { value: '1,5', type: 'number' },
  late_11: { value: ['a', '12'], type: 'text' },
  late_12: { value: ['yes'], type: 'boolean' },
};
const before = Object.fromEntries(Object.entries(late).map(([key, { value }]) => [key, value]));

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

  test('a decimal comma is read with --decimal comma', async () => {
    await imports.take(csvOf('length', '"12,5"'), '--decimal', 'comma');
    expect((await attributesNow()).length).toBe(12.5);
  });

  /** The cell, and the resulting value of an attribute without a definition, without and with `--decimal comma`. */
  test.each([
    ['12,5', '12,5', 12.5],
    ['-0,25', '-0,25', -0.25],
    ['12.5', 12.5, 12.5],
    ['1.234,5', '1.234,5', '1.234,5'],
    ['12,50', '12,50', '12,50'],
    ['1,2,3', '1,2,3', '1,2,3'],
    ['oak, 12,5', 'oak, 12,5', 'oak, 12,5'],
  ])('%s without a definition', async (cell, plain, withComma) => {
    const sku = `T-${Bun.hash.crc32(cell)}`;
    const file = csvOf('free', `"${cell}"`).replace('T-1', sku);
    const freeNow = async () => (await imports.shown(sku))?.attributes?.free;
    await imports.take(file);
    expect(await freeNow()).toBe(plain);
    // A value that would be written like the cell stays.
    await imports.take(file, '--decimal', 'comma');
    expect(await freeNow()).toBe(plain);
    await imports.take(file.replace(sku, `${sku}-new`), '--decimal', 'comma');
    expect((await imports.shown(`${sku}-new`))?.attributes?.free).toBe(withComma);
  });

  test('an export whose decimals a spreadsheet rewrote with commas changes nothing', async () => {
    await imports.take([{ sku: 'D-1', name: 'Decimal', price: 1, attributes: { free: 7.1 } }]);
    const { out } = await imports.run(
      csvOf('free', '"7,1"').replaceAll('T-1,Typed', 'D-1,Decimal'),
      '--decimal',
      'comma',
    );
    expect(out).toContain('0 created, 0 updated, 1 unchanged');
  });

  test.each(refused)('%s: %s is refused, as it is written', async (key, cell, says) => {
    const before = await attributesNow();
    const { status, err } = await imports.run(csvOf(key, cell));
    expect(status).toBe(2);
    expect(err).toContain(`attributes.${key}: ${says}`);
    expect(await attributesNow()).toEqual(before);
  });

  test('the summary shows each reason with the value of the record', async () => {
    const file = 'sku,name,price,attributes.organic,attributes.since\nR-1,Refused,1,perhaps,tomorrow\n';
    const { err } = await imports.run(file);
    const organic = 'must be true or false, not "perhaps"';
    const since = 'must be a date (2026-01-31) or a moment (2026-01-31T12:00:00Z), not "tomorrow"';
    expect(err).toContain(`  as line 2: attributes.organic: ${organic}\n`);
    expect(err).toContain(`  as line 2: attributes.since: ${since}\n`);
  });

  test('an export is read back unchanged', async () => {
    await imports.take(csvOf('code', '"""12"""'));
    await imports.take(csvOf('size', '38'));
    const file = await imports.exported('typed.csv');
    const again = await imports.place.runHere(['import', file]);
    expect([again.status, again.out]).toEqual([0, expect.stringContaining('0 created, 0 updated')]);
  });

  test('an export of values older than their definitions is read back unchanged', async () => {
    await imports.take([{ sku: 'L-1', name: 'Late', price: 1, attributes: before }]);
    for (const [key, { value: _value, ...definition }] of Object.entries(late))
      expect((await imports.send('POST', '/v1/attributes', { key, label: key, ...definition })).status).toBe(
        201,
      );
    const file = await imports.exported('late.csv');
    for (const options of [[], ['--decimal', 'comma'], ['--batch', '1']]) {
      const again = await imports.place.runHere(['import', file, ...options]);
      expect([again.status, again.out]).toEqual([0, expect.stringContaining('0 created, 0 updated')]);
      expect((await imports.shown('L-1')).attributes).toEqual(before);
    }
    // Values that differ are read by their type, beside those that do not differ.
    await imports.take(
      'sku,name,price,attributes.late_1,attributes.late_2,attributes.late_5\nL-1,Late,1,12,13,no\n',
    );
    expect((await imports.shown('L-1')).attributes).toEqual({ ...before, late_2: '13', late_5: false });
    // The same holds for values that all products get.
    await imports.take('sku,name,price\nL-1,Late,1\n', '--set', 'attributes.late_1=12');
    expect((await imports.shown('L-1')).attributes).toMatchObject({ late_1: '12', late_3: true });
  });

  test('attribute columns of a shop are read by their definitions, too', async () => {
    const woo = [
      'ID,Type,SKU,Name,Published,Regular price,Attribute 1 name,Attribute 1 value(s),Attribute 2 name,Attribute 2 value(s)',
      '1,simple,W-1,Shoe,1,20,Size,38,Code,12',
    ].join('\n');
    const file = imports.place.file('woo.csv', `${woo}\n`);
    const { status, err } = await imports.place.runHere(['import', file, '--preset', 'woocommerce']);
    expect([status, err]).toEqual([0, expect.any(String)]);
    expect((await imports.shown('W-1')).attributes).toMatchObject({ size: '38', code: '12' });
  });

  test('an amount that is set for all products has its currency', async () => {
    const cells = 'sku,name,price\nC-1,One,1\nC-2,Two,2\n';
    await imports.take(cells, '--set', 'price=352 AED');
    for (const sku of ['C-1', 'C-2'])
      expect(await imports.shown(sku)).toMatchObject({ price: 352, currency: 'AED' });
  });
});
