/** Sets of documents that have a word: as lists and as bits. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createGroupTest, findMatchingDocuments } from '../../../src/storage/search/memory/matching.ts';
import {
  contains,
  countDocuments,
  countSetBytes,
  getIds,
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

const largest = 12_000;
const toSet = (ids: readonly number[]) => toDocumentSet(Uint32Array.from(ids.toSorted((a, b) => a - b)));
const listMultiples = (step: number) =>
  toSet(Array.from({ length: Math.floor(largest / step) }, (_, index) => (index + 1) * step));
/** A few ids make a list, the multiples of a small number bits. */
const set = fc.oneof(
  fc.uniqueArray(fc.integer({ min: 1, max: largest }), { maxLength: 40 }).map(toSet),
  fc.integer({ min: 1, max: 20 }).map(listMultiples),
);
const groups = fc.array(fc.array(fc.array(set, { minLength: 1, maxLength: 3 }), { maxLength: 3 }), {
  minLength: 1,
  maxLength: 3,
});

const many = [[[listMultiples(1)]], [[listMultiples(2)], [listMultiples(3)]]];

test('the documents that match are those that are in all sets of a choice of each group', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(groups, all => {
      const isMatch = (id: number) =>
        all.every(group => group.some(choice => choice.every(one => contains(one, id))));
      const expected: number[] = [];
      for (let id = 1; id <= largest; id++) if (isMatch(id)) expected.push(id);
      const found = findMatchingDocuments(all);
      kinds.add(found.kind);
      expect(Array.from(getIds(found))).toEqual(expected);
      expect(countDocuments(found)).toBe(expected.length);
      const tests = all.map(createGroupTest);
      const tested: number[] = [];
      for (let id = 1; id <= largest; id++) if (tests.map(one => one(id)).every(Boolean)) tested.push(id);
      expect(tested).toEqual(expected);
    }),
    { numRuns: 60, examples: [[many], [[...many, [[listMultiples(500)]]]]] },
  );
  expect([...kinds].sort()).toEqual(['bits', 'list']);
});
