/** Documents of older releases are no longer found by all digits of a decimal number, once the database is upgraded. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createProductReader } from '../../../src/resources/search/reader.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { createDialectSpelling, createSearchIndex, searchTypes } from '../../../src/storage/search/index.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { olderDatabase } from '../../support/service/older-database.ts';

/** The names of products, and their words in the index. */
const products = [
  ['Rice 2.5kg', 'rice 2 5kg 25kg'],
  ['Pipe 1/4in', 'pipe 1 4in 14in'],
  ['Tap M8x1.25', 'tap m8x1 25 m8x125'],
  // It has no decimal number, and its words were wrong before: it is left as it is.
  ['Version 2.5', 'untouched'],
] as const;

describeOnDatabases('an upgrade of the search index on %s', kind => {
  test('takes out digits joined across a point, and rewrites only documents with them', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0044');
    for (const [name] of products) {
      const members = [name, 1, 'EUR', null, null, [], '2026-11-21T00:00:00.000Z'];
      const document = `[null,[],\n${JSON.stringify(members).slice(1)}`;
      await run(sql`insert into products (name, price, status, created_at, updated_at, document)
        values (${name}, 1, 'active', 1, 1, ${document})`);
    }
    const before = products.map(([, title], at) => ({ id: at + 1, title, body: '' }));
    await database.write(session => createSearchIndex(database).addMany(session, 'product', before));

    await migrate(database, () => 2);
    const reader = createProductReader(database);
    const count = (word: string) => reader.frequency(database.read, [[[{ word }]]], searchTypes);
    const words = ['rice', '5kg', '4in', 'm8x1', 'untouched', '25kg', '14in', 'm8x125'];
    expect(await Promise.all(words.map(count))).toEqual([1, 1, 1, 1, 1, 0, 0, 0]);
    expect(await createDialectSpelling(database).isWhole(database.read)).toBe(true);
    await remove();
  });
});
