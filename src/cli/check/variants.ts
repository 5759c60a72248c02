/** Checks what products show of their variants against the variants themselves. */
import { sql } from 'kysely';
import {
  fieldsOf,
  type LockedProduct,
  lockedColumns,
  type ProductRow,
  productOf,
  rowOf,
} from '../../resources/products/row.ts';
import { variantSummaries } from '../../resources/products/variant-summary.ts';
import { collectionVersions } from '../../storage/changes/versions.ts';
import type { Session } from '../../storage/database.ts';
import type { Check, Storage } from './check.ts';
import { readDocument } from './content.ts';
import { pagesOf } from './rows.ts';

interface Counted extends LockedProduct {
  readonly counted: number;
}

export function variantsCheck(database: Storage): Check {
  const { build } = database;
  const summarize = variantSummaries(database);
  const select = sql<Counted>`select * from (
      select ${lockedColumns(database.dialect)}, variant_count,
        cast((select count(*) from product_variants where product_id = products.id) as integer) as counted
      from products where variant_count > 0 or id in (select product_id from product_variants)
    ) as products_with_variants`;

  /** The row of a product by what its variants come to. */
  async function rightRow(session: Session, before: Counted, at: number): Promise<ProductRow> {
    const old = productOf(before);
    const fields = fieldsOf(old, before.base_price);
    const next = await summarize(session, before, old, fields, before.counted);
    return rowOf(next.fields, at, next.kept);
  }

  /** Products whose row is another one. */
  async function* differing(session: Session): AsyncGenerator<Counted> {
    for await (const rows of pagesOf(session, build, select)) {
      for (const before of rows) {
        // What is no JSON is found elsewhere.
        if (readDocument(before) === undefined) continue;
        const { document } = await rightRow(session, before, before.updated_at);
        if (document !== before.document) yield before;
      }
    }
  }

  return {
    name: 'variants of products',
    async find(session) {
      const lines: string[] = [];
      for await (const { id } of differing(session)) {
        lines.push(`product ${id}: it shows another number, price or availability than its variants have`);
      }
      return lines;
    },
    async repair(session, now) {
      for await (const before of differing(session)) {
        const row = await rightRow(session, before, Math.max(now, before.updated_at));
        await session.run(build.updateTable('products').set(row).where('id', '=', before.id).compile());
      }
      collectionVersions(database).advance(session, 'products');
    },
  };
}
