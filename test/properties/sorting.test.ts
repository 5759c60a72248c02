/** Texts sorted in slices: as `sort` sorts them, however much they have in common. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
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
