/** After an upgrade, older documents are found by parts of their words, if these mix letters and digits. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createSearchCheck } from '../../../src/cli/check/search.ts';
import { createProductReader } from '../../../src/resources/search/reader.ts';
import { describeRest, migrate } from '../../../src/storage/migrations/migrate.ts';
import { createDialectSpelling, createSearchIndex, searchTypes } from '../../../src/storage/search/index.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { olderDatabase } from '../../support/service/older-database.ts';

/** A stored document as a list; the omitted rest has default values. */
const listed = (name: string, description: string | null, sku: string | null) =>
  `[null,[],\n${JSON.stringify([name, 1, 'EUR', description, sku, [], '2026-11-21T00:00:00.000Z']).slice(1)}`;

/** Documents of products, and the words by which the older index finds them. */
const products: readonly (readonly [document: string, words: string, archived: boolean])[] = [
  [listed('Earcups WH-1000XM5', null, null), 'earcups wh 1000xm5 wh1000xm5', false],
  [
    `"category":null,"categories":[],"name":"Card RTX4070","price":1,"status":"archived","description":null,"sku":null,
    "tags":[],"brand":null,"gtin":null,"mpn":"QZ77CAR","attributes":{},"options":[],"rating":{"average":null,"count":0}}`,
    'card rtx4070 qz77car',
    true,
  ],
  [listed('Lamp', '<p>Fits Phonix12</p>', null), 'lamp fits phonix12', false],
  [listed('Screen 27" QHD', null, null), 'screen 27 qhd', false],
  // The indexed words were wrong before the upgrade, which leaves them as they are.
  [listed('Oak Table', null, 'SKU-000123'), 'untouched', false],
];

describeOnDatabases('an upgrade of the search index on %s', kind => {
  test('finds documents by parts of words, and rewrites only documents with such words', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0033');
    for (const [document, , archived] of products) {
      await run(sql`insert into products (name, price, status, created_at, updated_at, document)
      values ('A', 1, ${archived ? 'archived' : 'active'}, 1, 1, ${document})`);
    }
    await run(sql`insert into posts (title, body, author_id, author_name, created_at, updated_at)
    values ('Seen: Vorta300', 'A note.', 1, 'a', 1, 1)`);
    const index = createSearchIndex(database);
    const before = products.map(([, words, archived], at) => ({ id: at + 1, words, archived }));
    await database.write(async session => {
      await index.addMany(session, 'product', before);
      await index.addMany(session, 'post', [{ id: 1, words: 'seen vorta300 a note' }]);
    });
    await database.exclusively(session => createDialectSpelling(database).rebuild(session));

    // Two programs that start at once both prepare the migrations, and one of them runs each.
    const ran = await Promise.all([migrate(database, () => 2), migrate(database, () => 2)]);
    const ofIndex = ran.flat().toSorted().slice(0, 2);
    expect(ofIndex).toEqual(['0033-expand-parts-of-words', '0034-expand-inches']);
    const rest = describeRest(ran.flat().toSorted(), database);
    if (kind === 'sqlite') expect(rest).toBeUndefined();
    else
      expect(rest).toMatch(
        /^0033-expand-parts-of-words, 0034-expand-inches, 0037-.*: .* catalog check --repair /,
      );
    const reader = createProductReader(database);
    const found = async (word: string) => {
      const places = [searchTypes, ['archived']] as const;
      const counts = places.map(types => reader.frequency(database.read, [[[{ word }]]], types));
      return (await Promise.all(counts)).reduce((sum, count) => sum + count);
    };
    for (const word of [
      'xm5',
      'wh1000',
      '1000xm',
      'rtx',
      '4070',
      '77car',
      'phonix',
      'vorta',
      '300',
      '27in',
      'untouched',
    ])
      expect([word, await found(word)]).toEqual([word, 1]);
    for (const word of ['car', 'p', 'sku000123']) expect([word, await found(word)]).toEqual([word, 0]);
    expect(await createSearchCheck(database).find(database.read)).toEqual([
      'product 5 is indexed under words that differ from its text',
    ]);
    await remove();
  });
});
