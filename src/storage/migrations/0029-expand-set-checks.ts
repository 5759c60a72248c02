/**
 * On PostgreSQL, checks once for all rows of a statement whether a variant has the SKU of a new product: checking row
 * by row was a tenth of an import's work. The rule is that of 0025.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const setChecks: Migration = {
  name: '0029-expand-set-checks',
  async up(session, { build, dialect }) {
    if (dialect.name === 'sqlite') return;
    const statements = [
      // LIMIT keeps the lookup by index for each row, whether there is one or thousands.
      sql`create function refuse_variant_skus() returns trigger language plpgsql as $$
        begin
          if exists (select from added cross join lateral
              (select from product_variants where sku = added.sku limit 1) as taken) then
            raise unique_violation using message = 'a variant has this sku', detail = 'Key (sku) already exists.';
          end if;
          return null;
        end $$`,
      sql`drop trigger refuse_variant_sku_on_insert on products`,
      sql`create trigger refuse_variant_sku_on_insert after insert on products
        referencing new table as added for each statement execute function refuse_variant_skus()`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
