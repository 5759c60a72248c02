import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { causedBy, outboxOf } from '../../src/events/outbox.ts';
import { type ProductFields, replaceProduct } from '../../src/resources/products/schema.ts';
import { productStore } from '../../src/resources/products/store.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { databaseKinds } from '../support/service.ts';
import { createPlace, fieldsOf, type Place, productsOf, withDatabaseOf } from './program.ts';

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
    await migrate(database, Date.now);
    const store = productStore(database, outboxOf(database));
    await database.write(async session => {
      for (const fields of products) await store.insert(session, fields, causedBy('test', Date.now()));
    });
  });
}

describe.each(databaseKinds)('catalog export on %s', kind => {
  test.concurrent.each(['csv', 'ndjson'] as const)('as %s, then import: the same products', async format => {
    await fc.assert(
      fc.asyncProperty(fc.array(product, { minLength: 1, maxLength: 60 }), async inputs => {
        const [from, to] = [await createPlace(kind), await createPlace(kind)];
        const parsed = inputs.map((input, index) =>
          replaceProduct.parse({ ...input, sku: index % 3 === 0 ? null : `S ${index}` }),
        );
        await fill(from, parsed);
        const file = join(from.folder, `out.${format}`);
        expect((await from.run(['export', '--output', file])).status).toBe(0);
        const ended = await to.run(['import', file]);
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
    const place = await createPlace(kind);
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
    expect(await place.run(['export', '--status', 'gone'])).toMatchObject({ status: 2 });
    place.remove();
  });
});

test('an export that cannot be written leaves nothing behind', async () => {
  const place = await createPlace('sqlite');
  const ended = await place.run(['export', '--output', join(place.folder, 'missing', 'out.csv')]);
  expect(ended.status).toBe(1);
  expect(ended.err).toMatch(/^catalog export: cannot write .*\n$/);
  const target = place.file('out.csv', 'old');
  expect((await place.run(['export', '--output', target])).status).toBe(0);
  expect(readFileSync(target, 'utf8')).toStartWith('id,sku,');
  expect(readdirSync(place.folder).filter(name => name.endsWith('.partial'))).toEqual([]);
  expect(existsSync(join(place.folder, 'missing'))).toBe(false);
  place.remove();
});
