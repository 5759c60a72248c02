/** Products of older releases are found without the markup of their texts, once the database is upgraded. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createProductReader } from '../../../src/resources/search/reader.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { createDialectSpelling, createSearchIndex, searchTypes } from '../../../src/storage/search/index.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { olderDatabase } from '../../support/service/older-database.ts';

/** The descriptions and attributes of products, and their words in the index. */
const products = [
  ['<STYLE>p {}</STYLE>Ash', {}, 'style p ash'],
  [null, { short: '<b>Beech</b>' }, 'b beech'],
  // It has no markup, and its words were wrong before: it is left as it is.
  ['Cedar & R&D, 5<6', {}, 'untouched'],
] as const;

describeOnDatabases('an upgrade of the search index on %s', kind => {
  test('takes markup out, and rewrites only products with markup', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0043');
    for (const [description, attributes] of products) {
      const members = ['Bowl', 1, 'EUR', description, null, [], '2026-11-21T00:00:00.000Z'];
      const others = [...Array(7).fill(null), attributes];
      const document = `[null,[],\n${JSON.stringify([...members, ...others]).slice(1)}`;
      await run(sql`insert into products (name, price, status, created_at, updated_at, document)
        values ('Bowl', 1, 'active', 1, 1, ${document})`);
    }
    const before = products.map(([, , body], at) => ({ id: at + 1, title: 'Bowl', body }));
    await database.write(session => createSearchIndex(database).addMany(session, 'product', before));

    await migrate(database, () => 2);
    const reader = createProductReader(database);
    const count = (word: string) => reader.frequency(database.read, [[[{ word }]]], searchTypes);
    const words = ['ash', 'beech', 'untouched', 'style', 'b'];
    expect(await Promise.all(words.map(count))).toEqual([1, 1, 1, 0, 0]);
    // Words that no product has any more are no corrections of misspelt ones.
    expect(await createDialectSpelling(database).isWhole(database.read)).toBe(true);
    await remove();
  });
});
