/** Words that no document has any longer correct no searches, once the database of an older release is upgraded. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { createDialectSpelling, createSearchIndex } from '../../../src/storage/search/index.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { olderDatabase } from '../../support/service/older-database.ts';

describeOnDatabases('an upgrade of the search index on %s', kind => {
  test('removes words of former indexes for searches with typing errors, and keeps those of documents', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0038');
    const spelling = createDialectSpelling(database);
    const name = 'Brotbackform soft\u00adener';
    await run(sql`insert into products (name, price, status, created_at, updated_at, document) values (${name}, 1, 'active',
      1, 1, ${`[null,[],\n${JSON.stringify([name, 1, 'EUR', null, null, [], '2026-11-21T00:00:00.000Z']).slice(1)}`})`);
    // As releases before 0038 split it.
    const words = ['brotbackform', 'soft', 'ener'];
    await database.write(async session => {
      await createSearchIndex(database).addMany(session, 'product', [{ id: 1, words: words.join(' ') }]);
      spelling.keep(session, words);
    });
    expect(await spelling.isWhole(database.read)).toBe(true);

    await migrate(database, () => 2);
    expect(await spelling.isWhole(database.read)).toBe(true);
    const listed = sql<{
      word: string;
    }>`select word from search_spellings where spelling = word order by word`;
    expect(await database.read.all(listed.compile(database.build))).toEqual(
      ['brotbackform', 'softener'].map(word => ({ word })),
    );
    await remove();
  });
});
