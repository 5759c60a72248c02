import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { causedBy, outboxOf } from '../../src/events/outbox.ts';
import { type ProductFields, replaceProduct } from '../../src/resources/products/schema.ts';
import { productStore } from '../../src/resources/products/store.ts';
import { describeOnDatabases } from '../support/databases.ts';

import { createCatalog, createPlace, fieldsOf, type Place, productsOf, withDatabaseOf } from './program.ts';

// Each test starts several processes.
setDefaultTimeout(30_000);

const characters = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom('a', '"', ',', ';', '|', '\n', '\r', '\t', '[', '=', ' ', "'", 'ü', '\uFEFF'),
    maxLength: 12,
  }),
);
const words = (maximum: number) => characters.map(text => `x${text}`.slice(0, maximum));
const product = fc.record({
  name: words(200),
  price: fc.double({ min: 0, max: 1e12, noNaN: true }),
  currency: fc.option(fc.constantFrom('EUR', 'USD')),
  status: fc.constantFrom('active' as const, 'archived' as const),
  description: fc.option(characters),
  category: fc.option(words(100)),
  tags: fc.array(
    characters.map(text => `${text}t`),
    { maxLength: 4 },
  ),
});

async function fill(place: Place, products: readonly ProductFields[]): Promise<void> {
  await withDatabaseOf(place, async database => {
    const store = productStore(database, outboxOf(database));
    await database.write(async session => {
      for (const fields of products) await store.insert(session, fields, causedBy('test', Date.now()));
    });
  });
}

describeOnDatabases('catalog export on %s', kind => {
  test.each(['csv', 'ndjson'] as const)('as %s, then import: the same products', async format => {
    await fc.assert(
      fc.asyncProperty(fc.array(product, { minLength: 1, maxLength: 60 }), async inputs => {
        const [from, to] = [await createCatalog(kind), await createCatalog(kind)];
        const parsed = inputs.map((input, index) =>
          replaceProduct.parse({ ...input, sku: index % 3 === 0 ? null : `S ${index}` }),
        );
        await fill(from, parsed);
        const file = join(from.folder, `out.${format}`);
        expect((await from.runHere(['export', '--output', file])).status).toBe(0);
        const ended = await to.runHere(['import', file]);
        expect(ended).toMatchObject({ status: 0 });
        const expected = parsed.map(fields =>
          format === 'ndjson'
            ? fields
            : { ...fields, currency: fields.currency ?? 'EUR', description: fields.description || null },
        );
        expect((await productsOf(to)).map(fieldsOf)).toEqual(expected);
        from.remove();
        to.remove();
      }),
      { numRuns: 2 },
    );
  });

  test('filters, formats and standard output', async () => {
    const place = await createCatalog(kind);
    const base = { name: 'Lamp', price: 1, currency: 'EUR' };
    await fill(place, [
      replaceProduct.parse({ ...base, category: 'a', tags: ['x', 'y'] }),
      replaceProduct.parse({ ...base, category: 'b', status: 'archived' }),
      replaceProduct.parse({ ...base, category: 'a', status: 'archived' }),
    ]);
    const csv = await place.run(['export', '--category', 'a', '--status', 'active']);
    const [first] = await productsOf(place);
    expect(csv.out).toBe(
      `id,sku,name,price,currency,description,category,tags,status,createdAt,updatedAt\r\n1,,Lamp,1,EUR,,a,x;y,active,${first?.createdAt},${first?.updatedAt}\r\n`,
    );
    const ndjson = await place.run(['export', '--format', 'ndjson', '--output', '-', '--status', 'archived']);
    expect(
      ndjson.out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).id),
    ).toEqual([2, 3]);
    expect(await place.runHere(['export', '--status', 'gone'])).toMatchObject({ status: 2 });
    place.remove();
  });
});

test('an export that cannot be written leaves nothing behind', async () => {
  const place = await createCatalog('sqlite');
  const ended = await place.runHere(['export', '--output', join(place.folder, 'missing', 'out.csv')]);
  expect(ended.status).toBe(1);
  expect(ended.err).toMatch(/^catalog export: cannot write .*\n$/);
  const target = place.file('out.csv', 'old');
  expect((await place.runHere(['export', '--output', target])).status).toBe(0);
  expect(readFileSync(target, 'utf8')).toStartWith('id,sku,');
  expect(readdirSync(place.folder).filter(name => name.endsWith('.partial'))).toEqual([]);
  expect(existsSync(join(place.folder, 'missing'))).toBe(false);
  place.remove();
});

test('formulas are guarded unless told otherwise, and imported as they were', async () => {
  const [place, same, raw] = [
    await createCatalog('sqlite'),
    await createCatalog('sqlite'),
    await createCatalog('sqlite'),
  ];
  const formulas = replaceProduct.parse({
    name: '=HYPERLINK("http://evil.example","x")',
    price: 1,
    currency: 'EUR',
    sku: '-1',
    description: "'@SUM(A1)",
    category: 'lamps;=1+1',
    tags: ['+a', 'b'],
  });
  await fill(place, [formulas]);
  const asIs = '--no-safe-for-spreadsheets';
  const [guarded, plain] = await Promise.all([place.run(['export']), place.run(['export', asIs])]);
  const beforeTimes = (text: string) => text.split('\r\n')[1]?.split(',active,')[0];
  expect(beforeTimes(guarded.out)).toBe(
    `1,'-1,"'=HYPERLINK(""http://evil.example"",""x"")",1,EUR,''@SUM(A1),'lamps;'=1+1,'+a;b`,
  );
  expect(beforeTimes(plain.out)).toBe(
    `1,-1,"=HYPERLINK(""http://evil.example"",""x"")",1,EUR,'@SUM(A1),lamps;=1+1,+a;b`,
  );
  expect((await same.run(['import', '-'], guarded.out)).status).toBe(0);
  expect((await raw.runHere(['import', raw.file('plain.csv', plain.out), asIs])).status).toBe(0);
  for (const target of [same, raw]) expect((await productsOf(target)).map(fieldsOf)).toEqual([formulas]);
  for (const { remove } of [place, same, raw]) remove();
});

test('--safe-for-spreadsheets is refused for what is no CSV', async () => {
  const place = await createPlace('sqlite');
  const refused = [['export'], ['import', '-']].map(command =>
    place.runHere([...command, '--format', 'ndjson', '--safe-for-spreadsheets']),
  );
  for (const { status, err } of await Promise.all(refused)) {
    expect(status).toBe(2);
    expect(err).toContain('--safe-for-spreadsheets is for CSV only');
  }
  place.remove();
});
