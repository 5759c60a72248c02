/** Inserts the variants of products that an import creates: of many products at once, with their events. */
import type { Cause, Outbox } from '../../events/outbox.ts';
import { createBulkInsert } from '../../storage/bulk.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { toKeptStock } from '../products/members/stock.ts';
import { buildVariantChange, toVariantRow, variantColumns, variantNames } from './row.ts';
import type { VariantFields } from './schema.ts';

/** Variants of a product that has none yet; each must have a distinct combination of options. */
export interface NewVariants {
  readonly productId: number;
  readonly variants: readonly VariantFields[];
}

/** @returns a function that inserts variants of products whose rows already include the summary */
export function createVariantInserter(database: Pick<Database, 'build' | 'dialect'>, outbox: Outbox) {
  const insert = createBulkInsert(database, 'product_variants', variantColumns);
  /** @throws StorageError `unique` if a sku is taken */
  return async (session: Transaction, products: readonly NewVariants[], cause: Cause): Promise<void> => {
    const stock = toKeptStock(null);
    const rows = products.flatMap(({ productId, variants }) =>
      variants.map((fields, index) =>
        toVariantRow(fields, cause.at, { productId, createdAt: cause.at, position: index + 1, stock }),
      ),
    );
    if (rows.length === 0) return;
    const ids = await session.insertMany(
      insert,
      rows.map(row => variantNames.map(name => row[name])),
    );
    const changes = rows.map(({ document }, index) =>
      buildVariantChange('created', undefined, { id: ids[index] ?? 0, document }),
    );
    await outbox.recordAll(session, changes, cause);
  };
}
