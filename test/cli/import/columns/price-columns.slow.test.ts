/** Columns of prices whose names have a currency: `Preis EUR`, `Price (USD)`, `price_eur`. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Imports, startImports } from '../../../support/samples/imports.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';

describeOnDatabases('currencies in the names of columns, imported on %s', kind => {
  let imports: Imports;
  beforeAll(async () => {
    imports = await startImports(kind);
  });
  afterAll(() => imports[Symbol.asyncDispose]());

  test.each([
    ['Preis EUR', '12,50', 12.5, 'EUR'],
    ['Price (USD)', '1,234.50', 1234.5, 'USD'],
    ['price_gbp', '12.5', 12.5, 'GBP'],
    ['Preis in €', '1.234,50 €', 1234.5, 'EUR'],
    ['VK brutto €', '9', 9, 'EUR'],
    ['Preis inkl. MwSt. [CHF]', "1'234.50", 1234.5, 'CHF'],
    ['EUR Preis', '3,20', 3.2, 'EUR'],
    ['priceUsd', '3.20', 3.2, 'USD'],
    ['Cena zł', '3,20', 3.2, 'PLN'],
    ['prix_euro', '3,20', 3.2, 'EUR'],
    ['Price US$', '3.20', 3.2, 'USD'],
    ['VK€', '3', 3, 'EUR'],
    ['price_try', '3', 3, 'TRY'],
  ])('a column "%s" with %s is the price %d in %s', async (column, cell, price, currency) => {
    const ended = await imports.run(
      `sku\tname\t${column}\nP-${column}\tLamp\t${cell}\n`,
      '--currency',
      'SEK',
    );
    expect(ended).toMatchObject({ status: 0 });
    expect(ended.err).toContain(`the column "${column}" is read as price in ${currency}\n`);
    expect(ended.err).not.toContain('unused');
    expect(await imports.shown(`P-${column}`)).toMatchObject({ price, currency });
  });

  test('a sign of several currencies means the one that --currency names', async () => {
    await imports.take('sku,name,Price ($)\nS-1,Lamp,5\n', '--currency', 'CAD');
    expect(await imports.shown('S-1')).toMatchObject({ price: 5, currency: 'CAD' });
  });

  test('a column that --map names has the currency in its name, in JSON too', async () => {
    const options = ['--map', 'price=amounts.usd,compareAtPrice=listUSD', '--currency', 'SEK'];
    await imports.take([{ sku: 'M-1', name: 'Lamp', amounts: { usd: 5 }, listUSD: '7.50' }], ...options);
    expect(await imports.shown('M-1')).toMatchObject({ price: 5, compareAtPrice: 7.5, currency: 'USD' });
  });

  test.each([[], ['--decimal', 'comma']])('a number of JSON has a decimal point: %j', async (...options) => {
    await imports.take([{ sku: 'J-1', name: 'Lamp', usd: 1.125 }], '--map', 'price=usd', ...options);
    expect(await imports.shown('J-1')).toMatchObject({ price: 1.125, currency: 'USD' });
  });

  test.each([
    ['price_eur', 'price_usd'],
    ['Preis EUR', 'VK €'],
  ])('of the columns "%s" and "%s", --map decides', async (first, second) => {
    const file = `sku,name,${first},${second}\nT-1,Lamp,5,6\n`;
    const ended = await imports.run(file);
    expect(ended).toMatchObject({ status: 1 });
    expect(ended.err).toContain(
      `"${first}" and "${second}" are all columns of prices: --map price=COLUMN decides which is read\n`,
    );
    await imports.take(file, '--map', `price=${second}`);
    expect(await imports.shown('T-1')).toMatchObject({ price: 6 });
  });

  test('other amounts are read in the currency of the price only', async () => {
    const header = 'sku,name,price_eur,compare_at_price_eur,compare_at_price_usd,base_price_usd';
    const ended = await imports.run(`${header}\nO-1,Lamp,5,8,9,10\n`);
    expect(ended.err).toContain('compare_at_price_usd, base_price_usd');
    expect(await imports.shown('O-1')).toMatchObject({ price: 5, compareAtPrice: 8, currency: 'EUR' });
  });

  test('a column of the field’s own name takes precedence', async () => {
    await imports.take('sku,name,price,price_usd\nF-1,Lamp,5,6\n', '--currency', 'SEK');
    expect(await imports.shown('F-1')).toMatchObject({ price: 5, currency: 'SEK' });
  });

  test.each(['EK EUR', 'Versand €', 'Price per ft', 'Top price', 'Price EUR USD', 'Preis netto EUR'])(
    'a column "%s" is not the price by itself',
    async column => {
      const ended = await imports.run(`sku,name,${column}\nN-1,Lamp,5\n`);
      expect(ended).toMatchObject({ status: 1 });
      expect(ended.err).toContain('there is no column "price": name it with --map price=COLUMN');
    },
  );

  test('an amount, a column or an option with another currency is refused', async () => {
    const ended = await imports.run(
      'sku,name,Preis EUR,currency\nX-1,Lamp,$5,\nX-2,Lamp,5,USD\nX-3,Lamp,1.234,\n',
    );
    expect(ended.out).toContain('3 rejected');
    for (const problem of [
      'line 2: price is in USD, but its column is in EUR (column "Preis EUR", it is "$5")',
      'line 3: price is in EUR, but the currency is USD (column "Preis EUR", it is 5)',
      'line 4: price is ambiguous: add --decimal point or --decimal comma (column "Preis EUR", it is "1.234")',
    ])
      expect(ended.err).toContain(`${problem}\n`);
    const set = await imports.run('sku,name,Preis EUR\nX-4,Lamp,5\n', '--set', 'currency=USD');
    expect(set.err).toContain('line 2: price is in EUR, but the currency is USD');
  });
});
