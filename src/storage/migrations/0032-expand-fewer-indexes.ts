/**
 * Two indexes for each category and brand instead of four: by name, and one in the order of ids with all else that lists
 * filter and sort by. A new product changes its end, where it changed a page somewhere in each. Lists in the other
 * orders are in memory, or sort what they find there (docs/decisions/0037). Releases before find their rows by it too.
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
