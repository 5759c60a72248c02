/** Documents of older releases in scripts without spaces are found by pairs and words, once the database is upgraded. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createProductReader } from '../../../src/resources/search/reader.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { createSearchIndex, searchTypes } from '../../../src/storage/search/index.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { olderDatabase } from '../../support/service/older-database.ts';

/** The names of products, and the words by which they are found there. */
const products = [
  ['รองเท้าวิ่ง', 'รองเท้าวิ่ง'],
  ['手机壳', '手 机 壳'],
  // It needs no other words, and its own were wrong before: it is left as it is.
  ['Küche', 'untouched'],
] as const;

describeOnDatabases('an upgrade of the search index on %s', kind => {
  test('divides texts without spaces, and rewrites only documents with such texts', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0038');
    for (const [name] of products)
      await run(sql`insert into products (name, price, status, created_at, updated_at, document) values (${name}, 1, 'active',
        1, 1, ${`[null,[],\n${JSON.stringify([name, 1, 'EUR', null, null, [], '2026-11-21T00:00:00.000Z']).slice(1)}`})`);
    const before = products.map(([, words], at) => ({ id: at + 1, words }));
    await database.write(session => createSearchIndex(database).addMany(session, 'product', before));

    await migrate(database, () => 2);
    const reader = createProductReader(database);
    const count = (word: string) => reader.frequency(database.read, [[[{ word }]]], searchTypes);
    expect(await Promise.all(['วิ่ง', '手机', '壳', 'untouched', 'รองเท้าวิ่ง'].map(count))).toEqual([
      1, 1, 1, 1, 0,
    ]);
    await remove();
  });
});
