/**
 * The product whose image a category shows, and the URL of the image. The id of an image is unique only within its
 * product, so that the id alone is ambiguous. Existing categories keep theirs until they are next written.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const categoryImages: Migration = {
  name: '0030-expand-category-images',
  async up(session, { build, dialect }) {
    const { text, integer } = dialect.types;
    const statements = [
      sql`alter table categories add column image_product_id ${integer}
        references products (id) on delete set null`,
      sql`alter table categories add column image_url ${text}`,
      sql`create index categories_by_image_product on categories (image_product_id)
        where image_product_id is not null`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
