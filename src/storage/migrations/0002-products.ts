/**
 * Products, their stored totals, and the versions of collections. There is one index for each order of a list, overall
 * and within a category. Each ends with id, which breaks ties, and has status, so that no rows are read to skip the
 * other status. Archived products are few: they have small indexes of their own.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const products: Migration = {
  name: '0002-products',
  async up(session, { build, dialect }) {
    const { id, text, integer, real, moment } = dialect.types;
    const statements = [
      sql`create table products (
        id ${id},
        name ${text} not null,
        price ${real} not null check (price >= 0),
        status ${text} not null check (status in ('active', 'archived')),
        category ${text},
        sku ${text} unique,
        created_at ${moment} not null,
        updated_at ${moment} not null,
        document ${text} not null
      )`,
      sql`create index products_by_price on products (price, id, status)`,
      sql`create index products_by_name on products (name, id, status)`,
      sql`create index products_by_created_at on products (created_at, id, status)`,
      sql`create index products_by_category on products (category, id, status)`,
      sql`create index products_by_category_price on products (category, price, id, status)`,
      sql`create index products_by_category_name on products (category, name, id, status)`,
      sql`create index products_by_category_created_at on products (category, created_at, id, status)`,
      sql`create index archived_products on products (id) where status = 'archived'`,
      sql`create index archived_products_by_price on products (price, id) where status = 'archived'`,
      sql`create table product_totals (
        status ${text} not null,
        category ${text} not null,
        slot ${integer} not null,
        total ${integer} not null,
        primary key (category, status, slot)
      )`,
      sql`create table collection_versions (
        collection ${text} not null,
        slot ${integer} not null,
        version ${integer} not null,
        primary key (collection, slot)
      )`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
