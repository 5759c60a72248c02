/** What the index finds by an expression are the documents that have such words. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import type { Expression } from '../../src/storage/search/expression.ts';
import { createSearchIndex, getDocumentId } from '../../src/storage/search/index.ts';
import { createSearchReader } from '../../src/storage/search/reading/index.ts';
import { titleMarks, toDocumentWords } from '../../src/storage/search/text/words.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';

const vocabulary = [
  'lamp',
  'lampe',
  'lamps',
  'Lämpchen',
  'oak',
  'oaken',
  '37',
  '377',
  '37708',
  'straße',
  'ラ',
  'a',
];
const text = fc.array(fc.constantFrom(...vocabulary), { maxLength: 6 }).map(words => words.join(' · '));
const term = fc.record({
  word: fc.constantFrom('lamp', 'lampe', 'lam', 'oa', 'oak', '37', '377', 'strasse', 'ラ', 'a', 'x'),
  mark: fc.constantFrom(undefined, ...titleMarks),
  prefix: fc.boolean(),
});
const some = { minLength: 1, maxLength: 2 };
const expressions: fc.Arbitrary<Expression> = fc.array(fc.array(fc.array(term, some), some), some);

const isMatch = (expression: Expression, entries: readonly string[]): boolean =>
  expression.every(group =>
    group.some(choice =>
      choice.every(({ word, mark = '', prefix }) =>
        entries.some(entry => (prefix === true ? entry.startsWith(mark + word) : entry === mark + word)),
      ),
    ),
  );

let folder: string;
let database: Database;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-classes-'));
  database = openSqlite(join(folder, 'catalog.db'));
  await migrate(database, Date.now);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the index finds exactly the documents whose words match the expression', async () => {
  const index = createSearchIndex(database);
  const reader = createSearchReader(database);
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 12 }),
      expressions,
      async (texts, expression) => {
        const documents = texts.map(([title, body], at) => ({ id: at + 1, title, body }));
        await database.write(async session => {
          for (let id = 1; id <= 12; id++)
            await index.remove(session, 'article', { id, title: '', body: '' });
        });
        await database.write(session => index.addMany(session, 'article', documents));
        const positions = await reader.page(database.read, expression, ['article'], { limit: 50 });
        const matching = documents.filter(document => isMatch(expression, toDocumentWords(document)));
        expect(positions.map(getDocumentId)).toEqual(matching.map(({ id }) => id));
        found += matching.length;
      },
    ),
  );
  expect(found).toBeGreaterThan(5);
});
