/** The written rows, and the sample catalog, which consists of them. */
import { describe, expect, test } from 'bun:test';
import { formatCsvHeader, formatCsvRow } from '../../src/files/write.ts';
import { sampleProducts } from '../../src/sample/products.ts';

describe('rows', () => {
  test('texts are quoted, tags joined and absent values left empty', () => {
    const fields = ['name', 'price', 'tags', 'sku', 'more'];
    expect(formatCsvHeader(fields)).toBe('name,price,tags,sku,more\r\n');
    expect(
      formatCsvRow(fields, { name: 'a "b", c', price: 1.5, tags: ['x', 'y'], sku: null, more: { z: 1 } }),
    ).toBe('"a ""b"", c",1.5,x;y,,"{""z"":1}"\r\n');
    expect(formatCsvRow(['tags'], { tags: ['a;b', ' c'] })).toBe('"[""a;b"","" c""]"\r\n');
    expect(formatCsvRow(['name'], {})).toBe('""\r\n');
  });

  test('numbers are never guarded, and texts only if the guard is requested', () => {
    expect(formatCsvRow(['more', 'name'], { more: -1, name: '-1' }, true)).toBe("-1,'-1\r\n");
    expect(formatCsvRow(['name'], { name: '=1+1' })).toBe('=1+1\r\n');
  });
});

test('the sample catalog has 240 distinct products in 15 categories', () => {
  const distinct = (values: readonly string[]): number => new Set(values).size;
  expect(sampleProducts.length).toBe(240);
  expect(distinct(sampleProducts.map(item => item.sku))).toBe(240);
  expect(distinct(sampleProducts.map(item => item.name))).toBe(240);
  expect(distinct(sampleProducts.map(item => item.category))).toBe(15);
  expect(sampleProducts.filter(item => item.status === 'archived').length).toBe(10);
});
