/** The queries of stock adjustments. Each records the resulting quantities, and never changes. */
import { getMemberNames } from '../../json-object.ts';
import { type ColumnType, createBulkInsert } from '../../storage/bulk.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { createLister } from '../../storage/list/index.ts';
import { toIsoDate } from '../../storage/moments.ts';
import type { Row } from '../../storage/tables.ts';
import type { StockItem } from './locked.ts';
import type { Adjustment } from './schema.ts';

export type StoredAdjustment = Row<'stock_adjustments'>;

export type NewAdjustment = Omit<StoredAdjustment, 'id'>;

const types = {
  product_id: 'integer',
  variant_id: 'integer',
  sku: 'text',
  delta: 'integer',
  reason: 'text',
  on_hand: 'integer',
  reserved: 'integer',
  actor: 'text',
  created_at: 'double precision',
} as const satisfies { readonly [Column in keyof NewAdjustment]: ColumnType };
const columns = getMemberNames(types);

export function toAdjustment(row: StoredAdjustment): Adjustment {
  return {
    id: row.id,
    productId: row.product_id,
    variantId: row.variant_id,
    sku: row.sku,
    delta: row.delta,
    reason: row.reason,
    onHand: row.on_hand,
    reserved: row.reserved,
    actor: row.actor,
    createdAt: toIsoDate(row.created_at),
  };
}

export function createAdjustmentStore(database: Database) {
  const { build } = database;
  const into = createBulkInsert(database, 'stock_adjustments', types);
  const variants = build.selectFrom('product_variants').select(['id', 'product_id']);
  return {
    list: createLister<StoredAdjustment>(database, { table: 'stock_adjustments', columns }),

    /** Existing products and variants by sku. */
    async itemsBySku(session: Session, skus: readonly string[]): Promise<ReadonlyMap<string, StockItem>> {
      const items = new Map<string, StockItem>();
      if (skus.length === 0) return items;
      const ofProducts = build.selectFrom('products').select(['id', 'sku']).where('sku', 'in', skus);
      for (const { id, sku } of await session.all(ofProducts.compile()))
        items.set(sku ?? '', { productId: id });
      const ofVariants = variants.select('sku').where('sku', 'in', skus);
      for (const { id, product_id, sku } of await session.all(ofVariants.compile()))
        items.set(sku ?? '', { productId: product_id, variantId: id });
      return items;
    },

    /** Existing variants by id. */
    async itemsByVariant(session: Session, variantIds: readonly number[]) {
      if (variantIds.length === 0) return new Map();
      const found = await session.all(variants.where('id', 'in', variantIds).compile());
      return new Map(found.map(({ id, product_id }) => [id, { productId: product_id, variantId: id }]));
    },

    async insert(session: Transaction, adjustments: readonly NewAdjustment[]): Promise<StoredAdjustment[]> {
      const rows = adjustments.map(adjustment => columns.map(name => adjustment[name]));
      const ids = await session.insertMany(into, rows);
      return adjustments.map((adjustment, index) => ({ id: ids[index] ?? 0, ...adjustment }));
    },
  };
}
