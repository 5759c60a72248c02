/**
 * Stock: what each order item has reserved, and of which variant, and adjustments of stock. Existing orders have
 * reserved nothing. Programs that do not know stock would cancel orders without releasing it, so this migration keeps
 * them out.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const stock: Migration = {
  name: '0022-stock',
  async up(session, { build, dialect }) {
    const { id, text, integer, moment } = dialect.types;
    const statements = [
      sql`alter table order_items add column variant_id ${integer}`,
      sql`alter table order_items add column options ${text}`,
      sql`alter table order_items add column reserved ${integer} not null default 0`,
      sql`create table stock_adjustments (
        id ${id},
        product_id ${integer} not null,
        variant_id ${integer},
        sku ${text},
        delta ${integer} not null,
        reason ${text} not null,
        on_hand ${integer} not null,
        reserved ${integer} not null,
        actor ${text} not null,
        created_at ${moment} not null
      )`,
      sql`create index stock_adjustments_by_product on stock_adjustments (product_id, id)`,
      sql`create index stock_adjustments_by_variant on stock_adjustments (variant_id, id)
        where variant_id is not null`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
