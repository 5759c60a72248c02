/** Sets of documents that have a word: as lists and as bits. */
import { expect, test } from 'bun:test';
import {
  contains,
  countDocuments,
  countSetBytes,
  putDocument,
  toDocumentSet,
} from '../../../src/storage/search/memory/set.ts';

test('a set that takes more bytes is another one, so that its size is counted again', () => {
  const bits = toDocumentSet(Uint32Array.from({ length: 100 }, (_, index) => index + 1));
  const size = countSetBytes(bits);
  const changed = putDocument(bits, 50, false);
  expect(changed).toBe(bits);
  const larger = putDocument(changed, 10_000, true);
  expect(larger).not.toBe(changed);
  expect(countSetBytes(larger)).toBeGreaterThan(size + 1000);
  expect(countDocuments(larger)).toBe(100);
  expect([10_000, 51, 50].map(id => contains(larger, id))).toEqual([true, true, false]);
});
