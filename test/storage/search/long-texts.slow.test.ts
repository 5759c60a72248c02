/** Long documents of older releases are found by their codes, tags and other short texts, once the database is upgraded. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { createProductReader } from '../../../src/resources/search/reader.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { createDialectSpelling, createSearchIndex, searchTypes } from '../../../src/storage/search/index.ts';
import { toDocumentWords } from '../../../src/storage/search/text/words.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { olderDatabase } from '../../support/service/older-database.ts';

const manyWords = Array.from({ length: 2500 }, (_, number) =>
  Array.from(String(number), digit => 'abcdefghij'[Number(digit)]).join(''),
);
const lao = '\u0edc'.repeat(40);

/** The descriptions of products, and the words by which the index has them; no SKU or tag is among these. */
const products = [
  [manyWords.join(' '), toDocumentWords({ title: 'Lamp', body: manyWords.join(' ') }).join(' ')],
  [lao, lao.normalize('NFKD')],
  // Short enough: it is left as it is.
  [manyWords.slice(0, 50).join(' '), 'untouched'],
] as const;

describeOnDatabases('an upgrade of long documents on %s', kind => {
  test('indexes their short texts first, and rewrites only documents that may differ', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0045');
    for (const [index, [description]] of products.entries()) {
      const list = ['Lamp', 1, 'EUR', description, `KUDU-${index}`, ['kudutag'], '2026-11-21T00:00:00.000Z'];
      await run(sql`insert into products (name, price, status, created_at, updated_at, document) values ('Lamp', 1, 'active',
        1, 1, ${`[null,[],\n${JSON.stringify(list).slice(1)}`})`);
    }
    const before = products.map(([, words], at) => ({ id: at + 1, words }));
    await database.write(session => createSearchIndex(database).addMany(session, 'product', before));
    await database.write(session => createDialectSpelling(database).rebuild(session));

    await migrate(database, () => 2);
    const reader = createProductReader(database);
    const find = (word: string) =>
      reader.page(database.read, [[[{ word }]]], searchTypes, { limit: 10 }).then(({ length }) => length);
    const words = ['kudu0', 'kudutag', 'untouched', 'bjjd', 'bjje', 'bjjh'];
    expect(await Promise.all(words.map(find))).toEqual([1, 2, 1, 1, 0, 0]);
    expect(await createDialectSpelling(database).isWhole(database.read)).toBe(true);
    await remove();
  });
});
