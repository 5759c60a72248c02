/** Texts sorted in slices, and keys kept sorted in memory: as `sort` sorts them, however much they have in common. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createSortedKeys } from '../../src/storage/list/sorted/keys.ts';
import { sortInSlices } from '../../src/turns/slices.ts';

test('very many texts are sorted in slices as they are all at once', async () => {
  // Of two letters many begin alike; beyond U+FFFF, code units have another order than characters.
  const letters = fc.constantFrom('ab', 'aé\u{1f600}\uffee').map(text => [...text]);
  const texts = letters.chain(some =>
    fc.uniqueArray(fc.array(fc.constantFrom(...some), { maxLength: 16 }), {
      selector: letters => letters.join(''),
      minLength: 0,
      maxLength: 3000,
      size: 'max',
    }),
  );
  await fc.assert(
    fc.asyncProperty(texts, async some => {
      const all = some.map(letters => letters.join(''));
      expect(await sortInSlices(all)).toEqual(all.toSorted());
    }),
    { numRuns: 10 },
  );
  const many = Array.from({ length: 20_000 }, (_, index) => `${'a'.repeat(index % 50)}${index}`);
  expect(await sortInSlices(many)).toEqual(many.toSorted());
});

test('every one of thousands of keys is found and removed, wherever it is in its piece', () => {
  const compare = (one: { value: number; id: number }, other: { value: number; id: number }) =>
    one.value - other.value || one.id - other.id;
  // 5003 is a prime number: every id is another one.
  const all = Array.from({ length: 5002 }, (_, index) => {
    const id = 1 + ((index * 1999) % 5003);
    return { value: id % 7, id };
  });
  const keys = createSortedKeys();
  for (const key of all) keys.add(key);
  for (const isPacked of [false, true]) {
    if (isPacked) keys.pack();
    const sorted = all.toSorted(compare);
    expect(keys.slice(0, keys.size())).toEqual(sorted);
    for (const [rank, key] of sorted.entries()) {
      expect([keys.rank(key), keys.delete(key), keys.delete(key)]).toEqual([rank, true, false]);
      keys.add(key);
    }
    expect(keys.slice(1020, 1030)).toEqual(sorted.slice(1020, 1030));
  }
  for (const key of all) expect(keys.delete(key)).toBe(true);
  expect([keys.size(), keys.slice(0, 10)]).toEqual([0, []]);
});
