/**
 * Two indexes for category and for brand instead of four: by name, and one in the order of ids with all other columns
 * that lists filter and sort by. A new product changes only the end of that one, instead of a page in each index.
 * Lists in other orders are in memory, or sort the rows that this index finds (docs/decisions/0037). Earlier releases
 * use it, too.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Migration } from './migration.ts';

export const fewerIndexes: Migration = {
  name: '0032-expand-fewer-indexes',
  async up(session, { build }) {
    const run = (statement: RawBuilder<unknown>) => session.run(statement.compile(build));
    for (const name of ['products_by_category', 'products_by_brand']) {
      for (const suffix of ['', '_price', '_created_at'])
        await run(sql`drop index if exists ${sql.ref(`${name}${suffix}`)}`);
    }
    const listed = sql`id, price, created_at, status, available`;
    await run(sql`create index products_by_category on products (category_id, ${listed})`);
    await run(sql`create index products_by_brand on products (brand, ${listed}) where brand is not null`);
  },
};
