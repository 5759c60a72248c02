/** Few hits are told apart by their own words, many by the index: both must say the same. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { queryWords, rankClasses } from '../../src/resources/search/ranking.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { isMet } from '../../src/storage/search/expression.ts';
import { idAt, searchIndex } from '../../src/storage/search/index.ts';
import { searchReader } from '../../src/storage/search/read.ts';
import { documentWords } from '../../src/storage/search/words.ts';
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
const query = fc.array(fc.constantFrom(...vocabulary, 'lam', 'oa', 'x'), { minLength: 1, maxLength: 3 });

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

test('the words of a document meet what the index finds it by, in every class', async () => {
  const index = searchIndex(database);
  const reader = searchReader(database);
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 12 }),
      query,
      async (texts, asked) => {
        const documents = texts.map(([title, body], at) => ({ id: at + 1, title, body }));
        await database.write(async session => {
          for (let id = 1; id <= 12; id++)
            await index.remove(session, 'article', { id, title: '', body: '' });
        });
        await database.write(session => index.addMany(session, 'article', documents));
        for (const { hits, upTo } of rankClasses(queryWords(asked.join(' ')))) {
          for (const expression of [hits, upTo]) {
            const positions = await reader.page(database.read, expression, ['article'], { limit: 50 });
            const met = documents.filter(document => isMet(expression, new Set(documentWords(document))));
            expect(positions.map(idAt)).toEqual(met.map(({ id }) => id));
            found += met.length;
          }
        }
      },
    ),
  );
  expect(found).toBeGreaterThan(100);
});
