/** Products that had options before options counted as attributes (docs/decisions/0042). */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { migrations } from '../../src/storage/migrations/index.ts';
import { describeRest, migrate } from '../../src/storage/migrations/migrate.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { olderDatabase, storeList } from '../support/service/older-database.ts';

describeOnDatabases('options as attributes on %s', kind => {
  test('find products that had options before the upgrade', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0037');
    const options = [{ name: 'Größe', values: ['M', '42'] }];
    const attributes = { watt: 5, groesse: 'M' };
    const list = [
      null,
      [],
      'Coat',
      1,
      'EUR',
      null,
      null,
      [],
      '2026-01-15T09:30:00.000Z',
      ...Array(12).fill(null),
    ];
    list[16] = attributes;
    const documents = [
      storeList([...list, options]),
      // The older form of documents, before they were lists.
      JSON.stringify({ category: null, categories: [], name: 'Coat', attributes, options }).slice(1),
      storeList([...list.slice(0, 5), 'Has "values":[ in its text', ...list.slice(6)]),
    ];
    for (const document of documents)
      await run(sql`insert into products (name, price, status, created_at, updated_at, document)
        values ('Coat', 1, 'active', 1, 1, ${document})`);
    // Written by a replica of the previous release after the migration has read the product.
    await run(
      sql`insert into product_attributes (key, value, product_id, kind) values ('grosse', 'M', 1, 0)`,
    );
    // Two programs that start at once both prepare the migrations; each is run by one of them.
    const both = await Promise.all([migrate(database, () => 2), migrate(database, () => 2)]);
    const ran = both.flat().toSorted();
    expect(ran).toEqual(migrations.map(({ name }) => name).filter(name => name >= '0037'));
    const rest = describeRest(ran, database);
    if (kind === 'sqlite') expect(rest).toBeUndefined();
    else
      expect(rest).toMatch(
        /^0037-options-as-attributes, .* catalog check --repair .* attributes or variants of products$/,
      );
    const query = sql`select product_id, key, value, kind, number from product_attributes order by product_id, value`;
    const written = [1, 2].flatMap(product_id => [
      { product_id, key: 'grosse', value: '42', kind: 1, number: 42 },
      { product_id, key: 'grosse', value: 'M', kind: 0, number: null },
    ]);
    expect(await database.read.all(query.compile(database.build))).toEqual(written);
    await remove();
  });
});
