/** Stored images, which products use them, and the images that a product no longer uses. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const media: Migration = {
  name: '0026-expand-media',
  async up(session, { build, dialect }) {
    const { text, integer, moment } = dialect.types;
    const statements = [
      sql`create table media (
        hash ${text} primary key,
        type ${text} not null,
        size ${integer} not null,
        width ${integer} not null,
        height ${integer} not null,
        colour ${text} not null,
        created_at ${moment} not null
      )`,
      sql`create table media_uses (
        hash ${text} not null references media (hash),
        product_id ${integer} not null references products (id) on delete cascade,
        primary key (hash, product_id)
      )`,
      sql`create index media_uses_by_product on media_uses (product_id)`,
      sql`create table media_unused (
        hash ${text} primary key,
        since ${moment} not null
      )`,
      sql`create index media_unused_by_since on media_unused (since)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
