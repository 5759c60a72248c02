/** `--drop` without a preset: columns and members with the names of fields that mean something else in the file. */
import { expect, test } from 'bun:test';
import { ndjsonOf, onCatalog, productsOf } from '../../program.ts';

const rows = ['sku,Name,price,Status,tags', 'A,Mug,5,on sale,x', 'B,Cup,6,soon,y', 'A,Mug,7,sold,z'];

test('columns that the command line drops are not read, whatever their case', () =>
  onCatalog(async place => {
    const file = place.file('p.csv', rows.join('\n'));
    const ended = await place.runHere([
      'import',
      file,
      '--drop',
      'status',
      '--drop',
      'TAGS',
      '--drop',
      'gone',
    ]);
    expect(ended).toMatchObject({
      status: 0,
      out: expect.stringContaining('2 created, 1 updated, 0 unchanged'),
    });
    expect(ended.err).toContain('catalog import: --drop "gone": no column has this name');
    expect(ended.err).not.toContain('columns not used');
    expect(await productsOf(place)).toMatchObject([
      { sku: 'A', price: 7, status: 'active', tags: [] },
      { sku: 'B', price: 6, status: 'active', tags: [] },
    ]);
  }));

test('a dropped sku identifies no product, and neither gathers its records', () =>
  onCatalog(async place => {
    const file = place.file('p.csv', rows.join('\n'));
    await place.runHere(['import', file, '--drop', 'Status']);
    const ended = await place.runHere(['import', file, '--drop', 'Status', '--drop', 'sku', '--batch', '1']);
    expect(ended.out).toStartWith('3 created, 0 updated, 0 unchanged, 0 rejected');
    expect(ended.err).toContain('3 × records have neither a sku nor an external id');
  }));

test('a dropped column that is required is missing', () =>
  onCatalog(async place => {
    const file = place.file('p.csv', rows.join('\n'));
    const ended = await place.runHere(['import', file, '--drop', 'price']);
    expect(ended.status).toBe(1);
    expect(ended.err).toContain(
      'there is no column "price": name it with --map price=COLUMN, one of sku, Name',
    );
  }));

test('members of JSON that the command line drops are not read', () =>
  onCatalog(async place => {
    const record = { sku: 'A', name: 'Mug', price: 5, stock: 'plenty', status: null };
    const file = place.file('p.ndjson', ndjsonOf([record]));
    const ended = await place.runHere([
      'import',
      file,
      '--drop',
      'stock',
      '--drop',
      'status',
      '--drop',
      'gone',
    ]);
    expect(ended.err).toContain('catalog import: --drop "gone": no column has this name');
    expect(await productsOf(place)).toMatchObject([{ sku: 'A', status: 'active', stock: null }]);
  }));

test('a table for Vendure, whose variants would be lost, is refused, unless its options are dropped', () =>
  onCatalog(async place => {
    const header = 'name,slug,facets,optionGroups:en , optionValues:en,sku,price,stockOnHand';
    const file = place.file(
      'v.csv',
      [header, 'Mug,mug,,size,S,M-S,5,1', ',,,,L,M-L,6,1', 'Cup,cup,,,,C,7,1'].join('\n'),
    );
    const refused = await place.runHere(['import', file]);
    expect(refused).toMatchObject({ status: 1, out: '' });
    expect(refused.err).toContain(
      'looks like a table of products for Vendure, in which each row without a name is a variant of the product above it',
    );
    expect(await productsOf(place)).toEqual([]);
    const drops = ['--drop', 'optionGroups:en', '--drop', 'optionValues:en'];
    expect(refused.err).toContain(
      '--drop "optionGroups:en" --drop "optionValues:en" reads only the rows with a name',
    );
    expect((await place.runHere(['import', file, ...drops])).out).toStartWith(
      '2 created, 0 updated, 0 unchanged, 1 rejected',
    );
  }));
