/**
 * Further members of products: brand, GTIN, attributes, images, stock. Programs that do not know these members would
 * write products without them, so this migration keeps such programs out. Existing documents get the default values.
 * Most products have no brand and no GTIN, so the indexes omit nulls.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Migration } from './migration.ts';
import { readSlices, rowsAtOnce } from './product-slices.ts';

export const productDetails: Migration = {
  name: '0021-product-details',
  async up(session, { build, dialect }) {
    const { text, integer, real } = dialect.types;
    const run = (statement: RawBuilder<unknown>) => session.run(statement.compile(build));
    for (const column of [
      sql`brand ${text}`,
      sql`gtin ${text}`,
      sql`external_id ${text}`,
      sql`available ${integer} not null default 1`,
      sql`base_price ${real}`,
    ]) {
      await run(sql`alter table products add column ${column}`);
    }
    const isSqlite = dialect.name === 'sqlite';
    const price = isSqlite
      ? sql`(('{' || document) -> '$.price')`
      : sql`cast(cast('{' || document as json) -> 'price' as text)`;
    for await (const last of readSlices(session, build)) {
      await run(sql`update products set available = ${isActive('1', '0')},
        document = substr(document, 1, length(document) - 1) || ${sql.lit(members)} || ${price} ||
          ',"max":' || ${price} || '},"available":' || ${isActive("'true'", "'false'")} || '}'
        where id > ${last - rowsAtOnce} and id <= ${last}`);
    }
    for (const index of indexes) await run(index);
  },
};

const members =
  ',"brand":null,"gtin":null,"mpn":null,"externalId":null,"compareAtPrice":null,"weight":null,"categories":[]' +
  ',"attributes":{},"options":[],"images":[],"stock":null,"variantCount":0,"priceRange":{"min":';

const isActive = (yes: string, no: string) =>
  sql`case status when 'active' then ${sql.raw(yes)} else ${sql.raw(no)} end`;

const indexes = [
  sql`create unique index products_by_external_id on products (external_id) where external_id is not null`,
  sql`create index products_by_gtin on products (gtin) where gtin is not null`,
  sql`create index products_by_brand on products (brand, id, status) where brand is not null`,
  sql`create index products_by_brand_price on products (brand, price, id, status) where brand is not null`,
  sql`create index products_by_brand_name on products (brand, name, id, status) where brand is not null`,
  sql`create index products_by_brand_created_at on products (brand, created_at, id, status)
    where brand is not null`,
  sql`create index unavailable_products on products (id, status) where available = 0`,
  sql`create index unavailable_products_by_price on products (price, id, status) where available = 0`,
];
