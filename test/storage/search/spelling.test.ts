/** The vocabulary for correcting typing errors holds all committed words, and no others. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transaction } from '../../../src/storage/database.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { createSearchIndex } from '../../../src/storage/search/index.ts';
import { createVocabulary } from '../../../src/storage/search/vocabulary.ts';
import { openSqlite } from '../../../src/storage/sqlite/index.ts';

test('a word is kept even if the transactions around it are rolled back and run again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-spelling-'));
  const database = openSqlite(join(folder, 'catalog.db'));
  try {
    await migrate(database, Date.now);
    const words = createVocabulary(database);
    const index = createSearchIndex(database);
    const add = (id: number, title: string) => (session: Transaction) =>
      index.add(session, 'article', { id, title, body: '' });
    const failing = (id: number, title: string) => async (session: Transaction) => {
      await add(id, title)(session);
      throw new Error('told to fail');
    };
    const results = await Promise.allSettled([
      database.write(add(1, 'lantern')),
      database.write(add(2, 'lantern')),
      database.write(failing(3, 'teapot')),
      database.write(failing(4, 'teapot')),
      database.write(add(5, 'saucer')),
    ]);
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, false, true]);
    const near = (word: string) => words.near(database.read, word);
    expect(await near('lantren')).toEqual(['lantern']);
    expect(await near('saucers')).toEqual(['saucer']);
    expect(await near('teapto')).toEqual([]);
    await database.write(add(6, 'teapot lantern'));
    expect(await near('teapto')).toEqual(['teapot']);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
