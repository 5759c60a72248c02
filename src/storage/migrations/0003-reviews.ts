/** Reviews of products: one per user and product. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const reviews: Migration = {
  name: '0003-reviews',
  async up(session, { build, dialect }) {
    const { id, text, integer, moment } = dialect.types;
    const statements = [
      sql`create table reviews (
        id ${id},
        product_id ${integer} not null references products (id) on delete cascade,
        user_id ${integer} not null references users (id) on delete cascade,
        author_name ${text} not null,
        rating ${integer} not null check (rating between 1 and 5),
        body ${text},
        created_at ${moment} not null,
        updated_at ${moment} not null,
        unique (product_id, user_id)
      )`,
      sql`create index reviews_by_product on reviews (product_id, id)`,
      sql`create index reviews_by_user on reviews (user_id)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
