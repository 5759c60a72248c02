/** The output of `catalog export`, and its import. */
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { createCause, createCommandOutbox } from '../../../src/events/outbox.ts';
import { productOf } from '../../../src/resources/products/row.ts';
import { type Product, type ProductFields, replaceProduct } from '../../../src/resources/products/schema.ts';
import { createProductStore } from '../../../src/resources/products/store.ts';
import { replaceVariant, type Variant, type VariantFields } from '../../../src/resources/variants/schema.ts';
import { createVariantStore } from '../../../src/resources/variants/store.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

import {
  createCatalog,
  createPlace,
  type Place,
  productsOf,
  variantsOf,
  versionOf,
  withDatabaseOf,
  writtenIn,
} from '../program.ts';

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
  brand: fc.option(words(100)),
  gtin: fc.option(fc.constantFrom('4006381333931', '00012345678905', '96385074')),
  mpn: fc.option(words(100)),
  compareAtPrice: fc.option(fc.double({ min: 0, max: 1e12, noNaN: true })),
  weight: fc.option(
    fc.record({
      value: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
      unit: fc.constantFrom('g' as const, 'kg' as const, 'oz' as const, 'lb' as const),
    }),
  ),
  categories: fc.uniqueArray(fc.constantFrom('Gear', 'Gear > Bags; small', 'Sale | now', '[x]'), {
    maxLength: 3,
  }),
  attributes: fc.dictionary(
    fc.constantFrom('colour', 'watt', 'a.b-c_d', 'x9', 'size'),
    fc.oneof(
      characters,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0),
      fc.boolean(),
      fc.array(characters, { maxLength: 3 }),
      fc.constantFrom('', '42', '042', 'TRUE', '[]', '"', '""', '1e5', ' x '),
    ),
  ),
  options: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('Size', 'Colour, "main"', 'Länge'),
      values: fc.uniqueArray(fc.constantFrom('S', 'M;L', '1.5', 'x y'), { minLength: 1 }),
    }),
    { maxLength: 3, selector: ({ name }) => name },
  ),
  images: fc.uniqueArray(
    fc.record(
      {
        url: fc.constantFrom(
          'https://a.example/1.jpg',
          'https://a.example/w_1,h_2/x.jpg?a=1;b=2',
          'http://b.example/|x',
          'https://a.example/c,http://d',
        ),
        alt: fc.option(characters, { nil: undefined }),
      },
      { requiredKeys: ['url'] },
    ),
    { selector: ({ url }) => url },
  ),
  stock: fc.option(
    fc.record({ tracked: fc.boolean(), onHand: fc.integer({ min: 0, max: 1e6 }), backorder: fc.boolean() }),
  ),
});

/** @param draw returns random numbers for variants; without it, products with options get none */
async function fill(place: Place, products: readonly ProductFields[], draw?: () => number): Promise<void> {
  await withDatabaseOf(place, async database => {
    const outbox = createCommandOutbox(database);
    const store = createProductStore(database, outbox);
    const variants = createVariantStore(database, outbox, store);
    await database.write(async session => {
      for (const [index, fields] of products.entries()) {
        const { id } = await store.insert(session, fields, createCause('test', Date.now()));
        const locked = draw === undefined ? undefined : await store.lock(session, id);
        if (draw === undefined || locked === undefined || fields.options.length === 0) continue;
        const drawn = someVariants(productOf(locked), `V ${index}`, draw);
        if (drawn.length > 0) await variants.insert(session, locked, drawn, createCause('test', Date.now()));
      }
    });
  });
}

/** Some of the combinations that the options of a product allow. */
function someVariants({ options, images }: Product, name: string, draw: () => number): VariantFields[] {
  const combinations = options.reduce(
    (all, option) => all.flatMap(one => option.values.map(value => ({ ...one, [option.name]: value }))),
    [{}] as Record<string, string>[],
  );
  const one = <Value>(...values: readonly Value[]): Value | undefined => values[draw() % values.length];
  return combinations
    .filter(() => draw() % 3 > 0)
    .map((chosen, index) =>
      replaceVariant.parse({
        options: chosen,
        sku: one(null, `${name}.${index}`),
        gtin: one(null, '4006381333931'),
        price: one(null, 0.1, 1e12, draw()),
        compareAtPrice: one(null, 12.5),
        weight: one(null, { value: 1.5, unit: 'kg' }),
        stock: one(null, { onHand: 3 }, { tracked: false, onHand: 0, backorder: true }),
        imageId: one(null, images[0]?.id),
        position: one(undefined, draw() % 5),
      }),
    );
}

const products = fc.array(product, { minLength: 1, maxLength: 60 });
const draws = fc.array(fc.nat(1000), { minLength: 50, maxLength: 50 });

/** Variants without the members that each catalog sets itself. */
const sold = (all: readonly Variant[]) =>
  all.map(({ id: _id, createdAt: _created, updatedAt: _updated, ...rest }) => rest);

describeOnDatabases('catalog export on %s', kind => {
  test.each(['csv', 'ndjson', 'json'] as const)('as %s is imported as the same products', async format => {
    await fc.assert(
      fc.asyncProperty(products, draws, async (inputs, numbers) => {
        let drawn = 0;
        const draw = () => numbers[drawn++ % numbers.length] ?? 0;
        const [from, to] = [await createCatalog(kind), await createCatalog(kind)];
        const parsed = inputs.map((input, index) =>
          replaceProduct.parse({
            ...input,
            // Each fourth product has neither.
            sku: index % 4 === 0 || index % 4 === 3 ? null : `S ${index}`,
            externalId: index % 4 === 1 || index % 4 === 3 ? null : `external ${index}`,
          }),
        );
        await fill(from, parsed, draw);
        const file = join(from.folder, `out.${format}`);
        expect((await from.runHere(['export', '--output', file])).status).toBe(0);
        const ended = await to.runHere(['import', file]);
        expect(ended).toMatchObject({ status: 0 });
        const expected = parsed.map(fields =>
          format !== 'csv'
            ? fields
            : { ...fields, currency: fields.currency ?? 'EUR', description: fields.description || null },
        );
        const shown = (fields: ProductFields) => ({
          ...fields,
          images: fields.images.map(({ url, alt = null }) => ({ url, alt })),
        });
        expect((await writtenIn(to)).map(shown)).toEqual(expected.map(shown));
        expect(sold(await variantsOf(to))).toEqual(sold(await variantsOf(from)));
        // The file does not differ from the products; another catalog cannot find those without any key.
        const [version, before] = [await versionOf(from), await productsOf(from)];
        const said = (await from.runHere(['import', file])).out;
        expect(said).toStartWith(`0 created, 0 updated, ${inputs.length} unchanged, 0 rejected`);
        expect([await versionOf(from), await productsOf(from)]).toEqual([version, before]);
        expect((await to.runHere(['import', file])).out).toContain(' created, 0 updated, ');
        from.remove();
        to.remove();
      }),
      { numRuns: 2 },
    );
  });

  test('applies filters and writes CSV and NDJSON to standard output', async () => {
    const place = await createCatalog(kind);
    const base = { name: 'Lamp', price: 1, currency: 'EUR' };
    await fill(place, [
      replaceProduct.parse({ ...base, category: 'a', tags: ['x', 'y'], attributes: { colour: 'red' } }),
      replaceProduct.parse({ ...base, category: 'b', status: 'archived' }),
      replaceProduct.parse({ ...base, category: 'a', status: 'archived' }),
    ]);
    const csv = await place.run(['export', '--category', 'a', '--status', 'active']);
    const [first] = await productsOf(place);
    expect(csv.out).toBe(
      [
        'id,sku,name,price,currency,description,category,tags,status,brand,gtin,mpn,externalId,compareAtPrice,basePrice,' +
          'weight.value,weight.unit,categories,options,images,stock.tracked,stock.onHand,stock.backorder,variants,' +
          'attributes.colour,createdAt,updatedAt',
        `1,,Lamp,1,EUR,,a,x;y,active,,,,,,,,,,,,,,,,red,${first?.createdAt},${first?.updatedAt}`,
        '',
      ].join('\r\n'),
    );
    const ndjson = await place.run(['export', '--format', 'ndjson', '--output', '-', '--status', 'archived']);
    expect(
      ndjson.out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).id),
    ).toEqual([2, 3]);
    expect(await place.runHere(['export', '--status', 'gone'])).toMatchObject({ status: 2 });
    // A mistyped category leaves an existing file as it is.
    const kept = place.file('kept.csv', 'old');
    expect(await place.runHere(['export', '--category', 'Gone', '--output', kept])).toEqual({
      status: 1,
      out: '',
      err: 'catalog export: --category: there is no category "Gone"\n',
    });
    expect(readFileSync(kept, 'utf8')).toBe('old');
    place.remove();
  });
});

test('an export that cannot be written leaves no file', async () => {
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

test('formulas are guarded unless an option says otherwise, and imported as they were', async () => {
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
  for (const target of [same, raw]) expect(await writtenIn(target)).toEqual([formulas]);
  for (const { remove } of [place, same, raw]) remove();
});

test('--safe-for-spreadsheets is refused for formats other than CSV', async () => {
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
