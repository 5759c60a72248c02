/** The tree of categories. Each row has its path, so that a category and all below it are one range of an index. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const categories: Migration = {
  name: '0020-expand-categories',
  async up(session, { build, dialect }) {
    const { id, text, integer, moment } = dialect.types;
    const statements = [
      sql`create table categories (
        id ${id},
        parent_id ${integer} references categories (id),
        name ${text} not null,
        slug ${text} not null unique,
        path ${text} not null unique,
        depth ${integer} not null,
        description ${text},
        position ${integer} not null,
        image_id ${integer},
        created_at ${moment} not null,
        updated_at ${moment} not null,
        path_at ${moment} not null
      )`,
      sql`create index categories_by_parent on categories (parent_id, position, id)`,
      sql`create index categories_by_name on categories (name, id)`,
      sql`create index categories_by_position on categories (position, id)`,
      sql`create index categories_by_created_at on categories (created_at, id)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
