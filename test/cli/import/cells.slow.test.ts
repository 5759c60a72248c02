/** Cells as merchandise management systems write them: padded, with units and currencies in columns of their own. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type Imports, startImports } from '../../support/samples/imports.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

describeOnDatabases('cells of a table, imported on %s', kind => {
  let imports: Imports;
  beforeAll(async () => {
    imports = await startImports(kind);
  });
  afterAll(() => imports[Symbol.asyncDispose]());

  test.each([
    ['EUR     ', 'EUR'],
    ['eur', 'EUR'],
    ['€', 'EUR'],
    ['zł', 'PLN'],
    ['kr', 'NOK'],
  ])('the currency "%s" is %s', async (cell, currency) => {
    await imports.take(`sku,name,price,currency\nC-1,Lamp,5,${cell}\n`, '--currency', 'NOK');
    expect(await imports.shown('C-1')).toMatchObject({ price: 5, currency });
  });

  test('a word that names no currency is refused as it is', async () => {
    const ended = await imports.run('sku,name,price,currency\nC-2,Lamp,5,Taler\n');
    expect(ended.err).toContain('currency must be three capital letters (ISO 4217) (it is "Taler")');
  });

  test('cells of spaces are empty, except in texts that may be blank', async () => {
    const header =
      'sku,name,price,brand,category,gtin,tags,stock.onHand,weight.value,weight.unit,attributes.note';
    await imports.take(`${header}\nB-1   ,Lamp   ,5.00   ,    ,   ,  ,  ,   ,  , , \n`);
    expect(await imports.shown('B-1')).toMatchObject({
      ...{ name: 'Lamp', price: 5, brand: null, category: null, gtin: null, tags: [], stock: null },
      ...{ weight: null, attributes: { note: ' ' } },
    });
  });

  test.each([
    ['1.5', 'KG', [], { value: 1.5, unit: 'kg' }],
    ['2', 'lbs ', [], { value: 2, unit: 'lb' }],
    ['3', '', ['--weight-unit', 'g'], { value: 3, unit: 'g' }],
    ['', 'kg', [], null],
    ['0,00', 'kg', ['--decimal', 'comma'], null],
    ['', '', ['--set', 'weight.unit=kg'], null],
    ['4', '', ['--set', 'weight.unit=kg'], { value: 4, unit: 'kg' }],
  ] as const)('the weight "%s" with the unit "%s" and %j is %j', async (value, unit, options, weight) => {
    const sku = `W-${value}${unit}`;
    await imports.take(
      `sku;name;price;weight.value;weight.unit\n${sku};Lamp;5;${value};${unit}\n`,
      ...options,
    );
    expect(await imports.shown(sku)).toMatchObject({ weight });
  });

  test('the weights of objects have their units elsewhere, too', async () => {
    const records = [
      { sku: 'N-1', name: 'Lamp', price: 5, net: '1.250', uom: 'KG' },
      { sku: 'N-2', name: 'Lamp', price: 5, net: '0.000', uom: 'KG' },
      { sku: 'N-3', name: 'Lamp', price: 5, net: '2.000', uom: '' },
    ];
    await imports.take(records, '--map', 'weight.value=net,weight.unit=uom', '--weight-unit', 'lb');
    const weights = await Promise.all(records.map(async ({ sku }) => (await imports.shown(sku)).weight));
    expect(weights).toEqual([{ value: 1.25, unit: 'kg' }, null, { value: 2, unit: 'lb' }]);
  });

  test('a weight without any unit, and one with an unknown unit, are refused', async () => {
    const rows = 'W-1,Lamp,5,1,\nW-2,Lamp,5,1,stone\n';
    const ended = await imports.run(`sku,name,price,weight.value,weight.unit\n${rows}`);
    expect(ended.out).toContain('2 rejected');
    expect(ended.err).toContain('2 rejected: weight.unit must be one of g, kg, oz, lb');
  });

  test('an export in which a spreadsheet wrote all numbers with commas changes nothing', async () => {
    const heavy = { sku: 'D-1', name: 'Decimal', price: 5.25, compareAtPrice: 6.125, currency: 'KWD' };
    await imports.take([{ ...heavy, weight: { value: 1.234, unit: 'kg' }, attributes: { length: 2.375 } }]);
    const before = await imports.shown('D-1');
    const written = readFileSync(await imports.exported('decimal.csv'), 'utf8');
    const rewritten = written.replace(/(?<=^|,)(\d+)\.(\d+)(?=,|$)/gm, '"$1,$2"');
    for (const number of ['5,25', '6,125', '1,234', '2,375']) expect(rewritten).toContain(`"${number}"`);
    await imports.take(rewritten, '--decimal', 'comma');
    expect(await imports.shown('D-1')).toEqual(before);
  });

  test('two columns of one attribute are refused, unless --map names one of them', async () => {
    const file = 'sku,name,price,attributes.Größe,attributes.grosse\nA-1,Lamp,5,40,L\n';
    const ended = await imports.run(file);
    expect([ended.status, ended.err]).toEqual([
      1,
      'catalog import: of the columns, "attributes.Größe" and "attributes.grosse" are both attributes.grosse; rename one of them\n',
    ]);
    await imports.take(
      file,
      '--map',
      'attributes.grosse=attributes.grosse,attributes.width=attributes.Größe',
    );
    expect((await imports.shown('A-1')).attributes).toEqual({ grosse: 'L', width: 40 });
  });

  test('--map names columns that have commas', async () => {
    const file = '"Name, short";SKU;"Price (net, EUR)"\nLamp;M-1;5\n';
    await imports.take(file, '--map', 'name=Name, short,price=Price (net, EUR)');
    expect(await imports.shown('M-1')).toMatchObject({ name: 'Lamp', price: 5 });
    const ended = await imports.run(file, '--map', 'name=SKU, price');
    expect(ended.err).toContain('the first record has no column "SKU, price" for name');
  });
});
