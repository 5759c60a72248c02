/** The statements of variants, each prepared once. */
import { sql } from 'kysely';
import { createBulkInsert } from '../../storage/bulk.ts';
import { buildVersion } from '../../storage/changes/versions.ts';
import type { Database } from '../../storage/database.ts';
import type { Total } from '../../storage/list/request.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { type StoredVariant, type VariantRow, variantColumns, variantNames, variants } from './row.ts';

export const storedColumns = ['id', 'document', 'updated_at'] as const;

export function buildVariantStatements(database: Pick<Database, 'build' | 'dialect'>) {
  const { build, dialect } = database;
  return {
    byId: prepareQuery<{ id: number }, StoredVariant>(build, argument =>
      build.selectFrom('product_variants').select(storedColumns).where('id', '=', argument.id),
    ),
    versioned: prepareQuery<{ id: number }, StoredVariant & { version: number }>(
      build,
      argument => sql`select id, document, updated_at, ${buildVersion(dialect, variants.name)} as version
        from product_variants where id = ${argument.id}`,
    ),
    bySku: prepareQuery<{ sku: string }, { product_id: number }>(build, argument =>
      build.selectFrom('product_variants').select('product_id').where('sku', '=', argument.sku),
    ),
    insert: createBulkInsert(database, 'product_variants', variantColumns),
    updateOne: prepareQuery<{ [Column in keyof VariantRow]: VariantRow[Column] } & { id: number }, unknown>(
      build,
      argument =>
        sql`update product_variants set ${sql.join(
          variantNames.map(name => sql`${sql.ref(name)} = ${argument[name]}`),
        )} where id = ${argument.id}`,
    ),
    sameCombination: prepareQuery<{ productId: number; combination: string }, { id: number }>(
      build,
      argument => sql`select id from product_variants
        where product_id = ${argument.productId} and combination = ${argument.combination}`,
    ),
    lastPosition: prepareQuery<{ productId: number }, { position: number }>(
      build,
      argument => sql`select position from product_variants where product_id = ${argument.productId}
        order by position desc, id desc limit 1`,
    ),
    allOf: prepareQuery<{ productId: number }, StoredVariant>(
      build,
      argument => sql`select id, document, updated_at from product_variants
        where product_id = ${argument.productId} order by position, id`,
    ),
    total: prepareQuery<{ productId: number }, Total>(
      build,
      argument => sql`select coalesce((select variant_count from products where id = ${argument.productId}), 0) as total,
        ${buildVersion(dialect, variants.name)} as version`,
    ),
  };
}
