/** Importing records that already exist: what changes and what does not. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { completeFields } from '../../src/resources/products/schema.ts';
import {
  createCatalog,
  csv,
  fieldsOf,
  ndjsonOf,
  type Place,
  productsOf,
  totalsOf,
  versionOf,
} from '../cli/program.ts';
import { describeOnDatabases } from '../support/service/databases.ts';

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

  test('a create fills in defaults, an update keeps absent fields, null removes; only changes give new dates and versions', async () => {
    const run = (records: readonly object[]) =>
      place.runHere(['import', place.file('p.ndjson', ndjsonOf(records))]);
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
  ] as const)('a second import of repeated skus from %s writes nothing', async (_, options, form) => {
    const fresh = await createCatalog(kind);
    // With the default batch, more records than one batch.
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
    expect(before.err).toContain(
      '2 records repeat the sku or externalId of an earlier record; the last one wins',
    );
    const products = await productsOf(fresh);
    // The last record wins, but what it leaves out comes from an earlier one.
    expect(products[0]).toMatchObject({ sku: 'A-1', name: 'Last', price: 2, category: 'early' });
    const version = await versionOf(fresh);
    const after = await run();
    expect(after.err).toContain('2 records repeat the sku or externalId of an earlier record');
    expect(after.out).toStartWith(
      `0 created, 0 updated, ${(text.length - 2).toLocaleString('en-US')} unchanged, 1 rejected`,
    );
    expect([await productsOf(fresh), await versionOf(fresh)]).toEqual([products, version]);
    fresh.remove();
  });

  test('words of records that a later transaction writes are kept for misspelt searches', async () => {
    const fresh = await createCatalog(kind);
    expect((await fresh.run(['import', '-'], 'sku,name,price\nA-1,Stool,1\n')).status).toBe(0);
    const later = ['B-1,Wheelbarrow,1', 'B-2,Candlestick,1', 'B-3,Wheelbarrow,1'];
    // A transaction that updates or refuses records removes words that no product has.
    const text = ['sku,name,price', 'A-1,Chair,1', ...later].join('\n');
    const { status } = await fresh.run(['import', '--batch', '2', fresh.file('later.csv', text)]);
    expect(status).toBe(0);
    expect(await fresh.runHere(['check'])).toMatchObject({ status: 0 });
    await fresh.remove();
  });
});
