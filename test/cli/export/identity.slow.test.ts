/** Products without any key of their own: an import finds them by the id and creation time of an export. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createCatalog, ndjsonOf, type Place, productsOf, variantsOf } from '../program.ts';

const importRecords = (place: Place, records: readonly object[], ...options: readonly string[]) =>
  place.runHere(['import', place.file('in.ndjson', ndjsonOf(records)), ...options]);

/** The products of an export, as objects. */
async function exportRecords(place: Place): Promise<Record<string, unknown>[]> {
  const file = join(place.folder, 'out.ndjson');
  expect((await place.runHere(['export', '--output', file])).status).toBe(0);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

describeOnDatabases('the identity of exported products on %s', kind => {
  test('finds the product that has both, and its variants by their options', async () => {
    const place = await createCatalog(kind);
    const options = [{ name: 'Size', values: ['S', 'M'] }];
    const variants = [{ options: { Size: 'S' } }, { options: { Size: 'M' }, price: 12 }];
    await importRecords(place, [
      { name: 'Tee', price: 10, options, variants },
      { name: 'Cap', price: 5 },
    ]);
    const [tee, cap] = await exportRecords(place);
    const sizes = await variantsOf(place);
    const ended = await importRecords(place, [
      { ...tee, variants: [{ options: { Size: 'M' }, sku: 'T-M', price: 11 }], brand: 'Acme' },
      { ...cap, id: String(cap?.id), name: 'Hat' },
    ]);
    expect(ended.err).not.toContain('of an earlier one');
    // The first record has a key of its own, which no product has.
    expect(ended.out).toContain('1 created, 1 updated, 0 unchanged');
    const again = await importRecords(place, [
      { ...tee, variants: [{ options: { Size: 'M' }, price: 13 }], brand: 'Acme' },
    ]);
    expect(again.out).toContain('0 created, 1 updated, 0 unchanged');
    expect((await productsOf(place)).map(({ name, brand }) => [name, brand])).toEqual([
      ['Tee', 'Acme'],
      ['Hat', null],
      ['Tee', 'Acme'],
    ]);
    expect((await variantsOf(place)).slice(0, 2).map(({ id, price }) => [id, price])).toEqual([
      [sizes[0]?.id ?? 0, null],
      [sizes[1]?.id ?? 0, 13],
    ]);
    expect(await place.runHere(['check'])).toMatchObject({ status: 0 });
    place.remove();
  });

  test('does not find a product by one of the two, or written otherwise', async () => {
    const place = await createCatalog(kind);
    await importRecords(place, [
      { name: 'A', price: 1 },
      { name: 'B', price: 2 },
    ]);
    const [first] = await exportRecords(place);
    const { id, createdAt } = first ?? {};
    const at = String(createdAt);
    const before = await productsOf(place);
    const foreign = [
      { id },
      { createdAt },
      { id: 3, createdAt },
      { id: `${id}.0`, createdAt },
      { id: 2 ** 31, createdAt },
      { id: [id], createdAt },
      { id, createdAt: null },
      { id, createdAt: Date.parse(at) },
      { id, createdAt: at.replace('Z', '+00:00') },
      { id, createdAt: new Date(Date.parse(at) + 1).toISOString() },
      { id, createdAt, sku: 'S-1' },
      { id, createdAt, externalId: 'E-1' },
    ];
    const ended = await importRecords(
      place,
      foreign.map(record => ({ name: 'C', price: 3, ...record })),
    );
    expect(ended.out).toContain('12 created, 0 updated, 0 unchanged, 0 rejected');
    expect((await productsOf(place)).slice(0, 2)).toEqual(before);
    place.remove();
  });

  test.each([
    ['in one transaction', []],
    ['each record in a transaction of its own', ['--batch', '1']],
  ] as const)(
    'records that repeat it change nothing when they are imported again, %s',
    async (_, options) => {
      const place = await createCatalog(kind);
      await importRecords(place, [
        { name: 'A', price: 1 },
        { name: 'B', price: 2 },
      ]);
      const [a, b] = await exportRecords(place);
      const records = [{ ...a, name: 'A1' }, b ?? {}, { ...a, name: 'A2' }];
      const ended = await importRecords(place, records, ...options);
      expect(ended.out).toContain('0 created, 2 updated, 1 unchanged');
      expect(ended.err).toContain('1 × records have the id and createdAt of an earlier one');
      const first = await productsOf(place);
      expect(first.map(({ name }) => name)).toEqual(['A2', 'B']);
      expect((await importRecords(place, records, ...options)).out).toContain(
        '0 created, 0 updated, 3 unchanged',
      );
      expect(await productsOf(place)).toEqual(first);
      place.remove();
    },
  );

  test('records that repeat it with other skus of variants are other products', async () => {
    const place = await createCatalog(kind);
    await importRecords(place, [{ name: 'A', price: 1 }]);
    const [a] = await exportRecords(place);
    const options = [{ name: 'Size', values: ['S'] }];
    const records = ['A-S', 'B-S'].map(sku => ({
      ...a,
      options,
      variants: [{ options: { Size: 'S' }, sku }],
    }));
    const ended = await importRecords(place, records);
    expect(ended.out).toContain('2 created, 0 updated');
    expect(ended.err).not.toContain('of an earlier one');
    place.remove();
  });

  test('a product that was deleted, or is of another catalog, is created', async () => {
    const [from, to] = [await createCatalog(kind), await createCatalog(kind)];
    for (const place of [from, to]) await importRecords(place, [{ name: 'A', price: 1 }]);
    const records = await exportRecords(from);
    const foreign = records.map(one => ({ ...one, createdAt: '2020-01-01T00:00:00.000Z', name: 'X' }));
    expect((await importRecords(to, foreign)).out).toContain('1 created, 0 updated');
    expect((await productsOf(to)).map(({ name }) => name)).toEqual(['A', 'X']);
    from.remove();
    to.remove();
  });
});

test('products that are too long for an import are counted', async () => {
  const place = await createCatalog('sqlite');
  const toValues = (key: string) =>
    Array.from({ length: 50 }, (_, index) => `${key} ${index} ${'é'.repeat(980)}`);
  const toRecord = (half: string) => ({
    ...{ sku: 'A', name: 'A', price: 1 },
    ...Object.fromEntries(
      Array.from({ length: 45 }, (_, index) => [`attributes.${half}${index}`, toValues(`${half}${index}`)]),
    ),
  });
  const ended = await importRecords(place, [toRecord('a'), toRecord('b'), { sku: 'B', name: 'B', price: 1 }]);
  expect(ended.status).toBe(0);
  const note =
    '1 of 2 products is longer than 8 MiB, the most that an import reads; catalog copy and catalog backup take such products along';
  for (const [format, isRead] of [
    ['csv', false],
    ['ndjson', false],
    // Elements of a JSON array are measured in UTF-16 units, not in bytes.
    ['json', true],
  ] as const) {
    const file = join(place.folder, `out.${format}`);
    expect((await place.runHere(['export', '--output', file])).err).toBe(
      `2 products written to ${file}\n${isRead ? '' : `${note}\n`}`,
    );
    const again = await place.runHere(['import', file]);
    expect(again.out).toContain(isRead ? '2 unchanged, 0 rejected' : '1 unchanged, 1 rejected');
    if (!isRead) expect(again.err).toContain(': is longer than 8 MiB\n');
  }
  place.remove();
});

test('the summary names columns of these names as not used unless they identify a product', async () => {
  const place = await createCatalog('sqlite');
  const importCsv = async (text: string) => (await place.runHere(['import', place.file('in.csv', text)])).err;
  expect(await importCsv('id,createdAt,name,price\n7,2026-01-01,A,1\n')).toContain(
    'columns not used: id, createdAt',
  );
  expect(await importCsv('id,name,price\n7,B,1\n')).toContain('columns not used: id');
  const out = join(place.folder, 'out.csv');
  await place.runHere(['export', '--output', out]);
  expect(await importCsv(readFileSync(out, 'utf8'))).toContain('columns not used: updatedAt\n');
  place.remove();
});
