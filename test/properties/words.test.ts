/** The two ways to split a document give the same words: one for each write, one for imports. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { splitDocument, titleMarks, toDocumentWords } from '../../src/storage/search/text/words.ts';

const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('Straße', 'ÉCOLE', '日本語', 'a', '12', 'x'.repeat(80), titleMarks[0], '·'),
);
const sentence = fc.array(word, { maxLength: 12 }).map(words => words.join(' '));

function expectSame(title: string, body: string): void {
  const entries = toDocumentWords({ title, body });
  const { text, words } = splitDocument({ title, body });
  expect(text).toBe(entries.join(' '));
  const unmarked = entries.filter(entry => !titleMarks.some(mark => entry.startsWith(mark)));
  expect(new Set(words)).toEqual(new Set(unmarked));
}

test('a document as one text is its words with spaces between them', () => {
  fc.assert(fc.property(sentence, sentence, expectSame), { numRuns: 2000 });
});

test('both forms of a long document keep the same number of distinct words', () => {
  const long = Array.from({ length: 3000 }, (_, index) => `w${index}`).join(' ');
  const entries = toDocumentWords({ title: 'Long', body: long });
  expect(entries.length).toBe(2000);
  expect(splitDocument({ title: 'Long', body: long }).text).toBe(entries.join(' '));
});
