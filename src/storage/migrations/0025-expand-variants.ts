/**
 * Variants of products. A SKU is unique among products and variants together, though they are in two tables. Writing
 * the SKU of a variant briefly claims it in the table of products, so that another transaction that writes the same SKU
 * waits for this one to end. Writing the SKU of a product checks the variants afterwards. On SQLite, which has one
 * writer, checks are enough.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const variants: Migration = {
  name: '0025-expand-variants',
  async up(session, { build, dialect }) {
    const { id, text, integer, real, moment } = dialect.types;
    const statements = [
      sql`alter table products add column variant_count ${integer} not null default 0`,
      sql`create table product_variants (
        id ${id},
        product_id ${integer} not null references products (id),
        sku ${text} unique,
        code ${text},
        gtin ${text},
        combination ${text} not null,
        price ${real} check (price >= 0),
        available ${integer} not null,
        position ${integer} not null,
        created_at ${moment} not null,
        updated_at ${moment} not null,
        document ${text} not null,
        unique (product_id, combination)
      )`,
      sql`create index product_variants_by_code on product_variants (code) where code is not null`,
      sql`create index product_variants_by_id on product_variants (product_id, id)`,
      sql`create index product_variants_by_position on product_variants (product_id, position, id)`,
      sql`create index product_variants_by_created_at on product_variants (product_id, created_at, id)`,
      sql`create index product_variants_by_price on product_variants (product_id, price)`,
      sql`create index product_variants_by_available on product_variants (product_id, available, id)`,
      sql`create index product_variants_by_gtin on product_variants (gtin) where gtin is not null`,
      ...(dialect.name === 'sqlite' ? uniqueOnSqlite : uniqueOnPostgres),
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};

const uniqueOnSqlite = ['insert', 'update of sku'].flatMap((event, index) => [
  sql`create trigger ${sql.raw(`variant_sku_${index}`)} after ${sql.raw(event)} on product_variants
    when new.sku is not null and exists (select 1 from products where sku = new.sku)
    begin select raise(abort, 'UNIQUE constraint failed: product_variants.sku'); end`,
  sql`create trigger ${sql.raw(`product_sku_${index}`)} after ${sql.raw(event)} on products
    when new.sku is not null and exists (select 1 from product_variants where sku = new.sku)
    begin select raise(abort, 'UNIQUE constraint failed: products.sku'); end`,
]);

const uniqueOnPostgres = [
  // The claim has an id that no product has, and is deleted before another transaction can see it.
  sql`create function claim_variant_sku() returns trigger language plpgsql as $$
    begin
      insert into products (id, name, price, status, sku, created_at, updated_at, document)
        overriding system value values (-new.id, '', 0, 'active', new.sku, 0, 0, '');
      delete from products where id = -new.id;
      return new;
    end $$`,
  sql`create trigger claim_variant_sku_on_insert before insert on product_variants
    for each row when (new.sku is not null) execute function claim_variant_sku()`,
  sql`create trigger claim_variant_sku_on_update before update of sku on product_variants
    for each row when (new.sku is not null and new.sku is distinct from old.sku)
    execute function claim_variant_sku()`,
  sql`create function refuse_variant_sku() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from product_variants where sku = new.sku) then
        raise unique_violation using message = 'a variant has this sku', detail = 'Key (sku) already exists.';
      end if;
      return null;
    end $$`,
  sql`create trigger refuse_variant_sku_on_insert after insert on products
    for each row when (new.sku is not null) execute function refuse_variant_sku()`,
  sql`create trigger refuse_variant_sku_on_update after update of sku on products
    for each row when (new.sku is not null and new.sku is distinct from old.sku)
    execute function refuse_variant_sku()`,
];
