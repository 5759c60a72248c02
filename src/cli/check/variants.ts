/** Checks the documents of variants against their columns, and what products show of their variants against these. */
import { sql } from 'kysely';
import { buildLockedColumns, type LockedProduct, productJson } from '../../resources/products/row.ts';
import {
  createSummaryRowBuilder,
  createVariantSummarizer,
} from '../../resources/products/writes/variant-summary.ts';
import * as ofVariants from '../../resources/variants/row.ts';
import { storedVariant } from '../../resources/variants/stored.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Session } from '../../storage/database.ts';
import { type Check, formatColumns, readRowPages, type Storage } from './check.ts';
import { readDocument, readMembers } from './content.ts';

interface Counted extends LockedProduct {
  readonly counted: number;
}

export function createVariantChecks(database: Storage): Check[] {
  return [createColumnsCheck(database), createSummariesCheck(database)];
}

type VariantColumns = Omit<ofVariants.VariantRow, keyof ofVariants.StoredVariant> & ofVariants.StoredVariant;

/** The document is what is shown; the columns are derived from it. */
function createColumnsCheck(database: Storage): Check {
  const { build } = database;
  const names = sql.join(ofVariants.variantNames.map(name => sql.ref(name)));
  const select = sql<VariantColumns>`select id, ${names} from product_variants`;
  const derived = ofVariants.variantNames.filter(name => name !== 'document' && name !== 'updated_at');

  /** Variants whose columns or availability differ from their document; no `right` if that is not valid JSON. */
  async function* findDifferingVariants(session: Session) {
    for await (const rows of readRowPages(session, build, select)) {
      for (const row of rows) {
        if (readMembers(storedVariant, row) === undefined) yield { row, right: undefined, other: [] };
        else {
          const variant = ofVariants.variantOf(row);
          const [fields, kept] = [ofVariants.toVariantFields(variant), ofVariants.toKeptVariant(variant)];
          const right = ofVariants.toVariantRow(fields, row.updated_at, kept);
          const other = derived.filter(name => right[name] !== row[name]);
          if (other.length > 0 || ofVariants.variantOf({ ...row, ...right }).available !== variant.available)
            yield { row, right, other };
        }
      }
    }
  }

  return {
    name: 'documents of variants',
    find: session =>
      Array.fromAsync(findDifferingVariants(session), ({ row, right, other }) => {
        const what = other.length === 0 ? 'availability' : formatColumns(other);
        const problem = right === undefined ? 'is not valid JSON' : `differs from the ${what}`;
        return `variant ${row.id}: its document ${problem}`;
      }),
    async repair(session) {
      for await (const { row, right } of findDifferingVariants(session)) {
        if (right === undefined) continue;
        await session.run(
          build.updateTable('product_variants').set(right).where('id', '=', row.id).compile(),
        );
      }
      createCollectionVersions(database).advance(session, ofVariants.variants.name);
    },
  };
}

function createSummariesCheck(database: Storage): Check {
  const { build } = database;
  const buildSummaryRow = createSummaryRowBuilder(createVariantSummarizer(database));
  // Not `in`: PostgreSQL would read all variants for each page of products, and above 262,144 of them for each product.
  const select = sql<Counted>`select * from (
      select ${buildLockedColumns(database.dialect)}, variant_count,
        cast((select count(*) from product_variants where product_id = products.id) as integer) as counted
      from products where variant_count > 0
        or (select product_id from product_variants where product_id = products.id limit 1) is not null
    ) as products_with_variants`;

  /** Products whose document differs from the one that they should have. */
  async function* findDifferingProducts(session: Session): AsyncGenerator<Counted> {
    for await (const rows of readRowPages(session, build, select)) {
      // The check of documents finds those that are not valid JSON.
      const readable = rows.filter(row => readDocument(row) !== undefined);
      // All at once: PostgreSQL receives them together, instead of in one round trip each.
      const right = await Promise.all(readable.map(row => buildSummaryRow(session, row, row.counted)));
      for (const [index, before] of readable.entries())
        if (productJson({ ...before, ...right[index] }) !== productJson(before)) yield before;
    }
  }

  return {
    name: 'variants of products',
    find: session =>
      Array.fromAsync(
        findDifferingProducts(session),
        ({ id }) => `product ${id}: its number of variants, price or availability differs from its variants`,
      ),
    async repair(session, now) {
      for await (const before of findDifferingProducts(session)) {
        const row = await buildSummaryRow(session, before, before.counted, Math.max(now, before.updated_at));
        await session.run(build.updateTable('products').set(row).where('id', '=', before.id).compile());
      }
      createCollectionVersions(database).advance(session, 'products');
    },
  };
}
