/**
 * Locks, reads and changes the stock of products and variants, which is stored in their rows. Products are locked in
 * order of id, after the order that reserves them, so that no two transactions deadlock. A transaction that changes a
 * variant must have locked its product.
 */
import type { Cause, Outbox } from '../../events/outbox.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';
import type { Stock } from '../products/members/stock.ts';
import { type LockedProduct, productOf } from '../products/row.ts';
import type { Product } from '../products/schema.ts';
import type { ProductStore } from '../products/store.ts';
import { createKeptWriter } from '../products/writes/kept.ts';
import { type StoredVariant, variantOf } from '../variants/row.ts';
import type { Variant } from '../variants/schema.ts';
import type { VariantChange, VariantStore } from '../variants/store.ts';

/** An item whose stock is counted: a variant, or a product without variants. */
export interface StockItem {
  readonly productId: number;
  readonly variantId?: number | null | undefined;
}

/** A locked item. */
export interface Stocked {
  readonly product: Product;
  /** The product's own price, even if it is shown with the price of its variants. */
  readonly basePrice: number;
  readonly variant: Variant | undefined;
  /** The stock, including the changes of this transaction so far. */
  readonly stock: Stock | null;
}

export interface LockedStock {
  /** The total text of all locked products. */
  readonly characters: number;
  /** Undefined for an item that does not exist, and for a variant of another product. */
  get(item: StockItem): Stocked | undefined;
  /** Sets the stock; `save` writes it. */
  set(item: StockItem, stock: Stock): void;
  /** Writes all stock that was set, with an event for each row. */
  save(session: Transaction, cause: Cause): Promise<void>;
}

export type StockLocks = ReturnType<typeof createStockLocks>;

interface LockedItem extends Stocked {
  readonly row: LockedProduct;
  readonly variantRow: StoredVariant | undefined;
  stock: Stock | null;
  isChanged: boolean;
}

const toItemKey = ({ productId, variantId }: StockItem) => `${productId} ${variantId ?? ''}`;

export function createStockLocks(
  database: Pick<Database, 'build' | 'dialect'>,
  outbox: Outbox,
  products: Pick<ProductStore, 'lockMany'>,
  variants: Pick<VariantStore, 'findMany' | 'update'>,
) {
  const writeKept = createKeptWriter(database, outbox);

  async function writeVariants(
    session: Transaction,
    held: readonly LockedItem[],
    cause: Cause,
  ): Promise<void> {
    for (const ofProduct of Map.groupBy(held, ({ product }) => product.id).values()) {
      const changes = ofProduct.flatMap(({ variantRow: before, stock }): VariantChange[] =>
        before === undefined ? [] : [{ before, stock }],
      );
      const [first] = ofProduct;
      if (first !== undefined) await variants.update(session, first.row, changes, cause);
    }
  }

  return {
    async lock(
      session: Session,
      items: readonly StockItem[],
      measured?: (bytes: number) => void,
    ): Promise<LockedStock> {
      const ids = [...new Set(items.map(({ productId }) => productId))];
      const rows = await products.lockMany(session, ids, measured);
      const variantRows = await variants.findMany(
        session,
        items.flatMap(({ variantId }) => variantId ?? []),
      );
      const held = new Map<string, LockedItem>();
      const parsed = new Map<number, Pick<LockedItem, 'row' | 'product'>>();
      for (const row of rows) {
        await takeTurn();
        parsed.set(row.id, { row, product: productOf(row) });
      }
      const add = (item: StockItem, variantRow?: StoredVariant, variant?: Variant) => {
        const found = parsed.get(item.productId);
        if (found === undefined) return;
        const { stock } = variant ?? found.product;
        const basePrice = found.row.base_price ?? found.product.price;
        held.set(toItemKey(item), { ...found, basePrice, variantRow, variant, stock, isChanged: false });
      };
      for (const { productId, variantId } of items) if (variantId == null) add({ productId });
      for (const row of variantRows) {
        const variant = variantOf(row);
        add({ productId: variant.productId, variantId: variant.id }, row, variant);
      }
      return {
        characters: rows.reduce((sum, { document }) => sum + document.length, 0),
        get: item => held.get(toItemKey(item)),
        set(item, stock) {
          const one = held.get(toItemKey(item));
          if (one === undefined) throw new Error(`${toItemKey(item)} is not locked`);
          one.stock = stock;
          one.isChanged = true;
        },
        async save(transaction, cause) {
          const changed = [...held.values()].filter(({ isChanged }) => isChanged);
          const ofProducts = changed.filter(({ variant }) => variant === undefined);
          const ofVariants = changed.filter(({ variant }) => variant !== undefined);
          const changes = ofProducts.map(({ row, product, stock }) => ({
            before: { ...row, value: product },
            members: { stock },
          }));
          await writeKept(transaction, changes, cause);
          await writeVariants(transaction, ofVariants, cause);
        },
      };
    },
  };
}
