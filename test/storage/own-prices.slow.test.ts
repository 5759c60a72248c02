/** Products with variants of releases that did not show their own price. */
import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { storedProduct } from '../../src/resources/products/members/stored.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { olderDatabase, storeList } from '../support/service/older-database.ts';

describeOnDatabases('own prices on %s', kind => {
  test('are shown after the upgrade of products with variants, and change nothing else', async () => {
    const { database, run, remove } = await olderDatabase(kind, '0042');
    const at = '2026-01-15T09:30:00.000Z';
    const plain = [null, [], 'Coat', 20, 'EUR', null, null, [], at];
    const varied = [...plain, ...Array(13).fill(null), 2, { min: 20, max: 60 }];
    const whole = storedProduct.jsonOf(1, storeList(varied)).slice('{"id":1,'.length);
    const rows: [document: string, variants: number, own: number | null][] = [
      [storeList(varied), 2, 50],
      [whole, 2, 50],
      [storeList([...plain, ...Array(13).fill(null), 1]), 1, 20],
      [storeList(plain), 0, null],
    ];
    for (const [document, variants, own] of rows)
      await run(sql`insert into products
        (name, price, status, created_at, updated_at, document, variant_count, base_price)
        values ('Coat', 20, 'active', 1, 1, ${document}, ${variants}, ${own})`);
    expect(await migrate(database, () => 2)).toContain('0042-own-prices');
    const query = sql<{ document: string }>`select document from products order by id`;
    const documents = (await database.read.all(query.compile(database.build))).map(row => row.document);
    const before = rows.map(([document]) => storedProduct.membersOf(document));
    expect(documents.map(storedProduct.membersOf)).toEqual(
      before.map((members, index) => {
        const own = rows[index]?.[2] ?? null;
        return own === null ? members : { ...members, basePrice: own };
      }),
    );
    for (const document of documents) {
      const members = storedProduct.membersOf(document);
      expect(storedProduct.jsonOf(1, document)).toBe(
        storedProduct.jsonOf(1, storedProduct.documentOf(members)),
      );
    }
    await remove();
  });
});
