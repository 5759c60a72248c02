/**
 * The tags of products, for filters. The whole table is one index: rows are found by tag, and removed by the former
 * tags of a product, so that imports need not maintain a second index.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const productTags: Migration = {
  name: '0011-product-tags',
  async up(session, { build, dialect }) {
    const { text, integer } = dialect.types;
    const isSqlite = dialect.name === 'sqlite';
    const tags = isSqlite
      ? sql`json_each('{' || document, '$.tags')`
      : sql`jsonb_array_elements_text((('{' || document)::jsonb) -> 'tags') as tags(value)`;
    const statements = [
      sql`create table product_tags (
        tag ${text} not null,
        product_id ${integer} not null,
        primary key (tag, product_id)
      ) ${isSqlite ? sql`without rowid` : sql``}`,
      sql`insert into product_tags (tag, product_id)
        select distinct value, products.id from products cross join ${tags} order by 1, 2`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
