/**
 * The effect of orders on stock. The quantity that an item reserved is stored with it, so that exactly this quantity is
 * deducted or released, even if tracking of the product was switched on or off since. Locks are taken in a fixed order:
 * the order, then products by id (docs/decisions/0027).
 */
import type { Cause } from '../../events/outbox.ts';
import { buildErrorDetail, type ErrorDetail, HttpError } from '../../http/errors.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { takeTurn } from '../../turns/index.ts';
import { splitIntoParts } from '../../turns/slices.ts';
import type { Stock } from '../products/members/stock.ts';
import { productOf } from '../products/row.ts';
import type { Product } from '../products/schema.ts';
import type { LockedStock, StockItem, StockLocks } from '../stock/locked.ts';
import { countAvailable, deduct, isCounted, release, reserve } from '../stock/quantities.ts';
import { variantOf } from '../variants/row.ts';
import type { VariantStore } from '../variants/store.ts';
import type { OrderedProduct } from './pricing.ts';
import type { NewOrder } from './schema.ts';

type Lines = NewOrder['items'];

/** The products of an order that is about to be placed. */
interface Ordered {
  /** The current product and variant of each line; those with counted stock are locked. */
  readonly named: readonly OrderedProduct[];
  /**
   * Reserves counted stock; returns the reserved quantity of each line.
   * @throws HttpError 409 OUT_OF_STOCK naming each line that exceeds the stock
   */
  reserve(session: Transaction, cause: Cause): Promise<readonly number[]>;
}

export type Reservations = ReturnType<typeof createStockReservations>;

/** The quantity that an item reserved. */
interface Reservation extends StockItem {
  readonly quantity: number;
}

/** The number of products that one statement reads. */
const readAtOnce = 6;

export function createStockReservations(
  { build }: Pick<Database, 'build'>,
  variants: Pick<VariantStore, 'findMany'>,
  stock: StockLocks,
) {
  const reservationsOf = prepareQuery<{ orderId: number }, Reservation>(build, argument =>
    build
      .selectFrom('order_items')
      .select(['product_id as productId', 'variant_id as variantId', 'reserved as quantity'])
      .where('order_id', '=', argument.orderId)
      .where('reserved', '>', 0)
      .orderBy('id'),
  );
  const clearReserved = prepareQuery<{ orderId: number }, unknown>(build, argument =>
    build.updateTable('order_items').set({ reserved: 0 }).where('order_id', '=', argument.orderId),
  );

  async function end(
    session: Transaction,
    orderId: number,
    change: (stock: Stock, quantity: number) => Stock,
    cause: Cause,
  ): Promise<void> {
    const reserved = await session.all(reservationsOf({ orderId }));
    if (reserved.length === 0) return;
    const locked = await stock.lock(session, reserved);
    for (const item of reserved) {
      const before = locked.get(item)?.stock;
      // A deleted product or variant has no stock to change.
      if (before != null) locked.set(item, change(before, item.quantity));
    }
    await locked.save(session, cause);
    await session.run(clearReserved({ orderId }));
  }

  /** Reads in slices: a document may have half a megabyte, and an order a hundred of them. */
  async function readProducts(session: Session, ids: readonly number[]) {
    const found = new Map<number, { row: { base_price: number | null }; product: Product }>();
    for (const some of splitIntoParts(ids, readAtOnce)) {
      const query = build
        .selectFrom('products')
        .select(['id', 'document', 'base_price'])
        .where('id', 'in', some);
      for (const row of await session.all(query.compile())) {
        found.set(row.id, { row, product: productOf(row) });
        await takeTurn();
      }
    }
    return found;
  }

  /** The products and variants of the lines, read without a lock. */
  async function readOrderedProducts(session: Session, lines: Lines): Promise<OrderedProduct[]> {
    const productsById = await readProducts(session, [...new Set(lines.map(({ productId }) => productId))]);
    const variantRows = await variants.findMany(
      session,
      lines.flatMap(({ variantId }) => variantId ?? []),
    );
    const variantsById = new Map(variantRows.map(row => [row.id, variantOf(row)]));
    return lines.map(({ productId, variantId }) => {
      const found = productsById.get(productId);
      const variant = variantId == null ? undefined : variantsById.get(variantId);
      return {
        product: found?.product,
        basePrice: found?.row.base_price ?? found?.product.price ?? 0,
        variant: variant?.productId === productId ? variant : undefined,
      };
    });
  }

  return {
    async read(session: Session, lines: Lines): Promise<Ordered> {
      const before = await readOrderedProducts(session, lines);
      const counted = lines.map((line, index) => {
        const { product, variant } = before[index] ?? {};
        const stock = line.variantId == null ? product?.stock : variant?.stock;
        return isCounted(stock ?? null);
      });
      const locked = await stock.lock(
        session,
        lines.filter((_, index) => counted[index]),
      );
      const named = before.map((one, index): OrderedProduct => {
        const line = lines[index];
        if (line === undefined || !counted[index]) return one;
        // Deleted since it was read: the variant or, for a line without one, the product.
        const gone = {
          ...one,
          product: line.variantId == null ? undefined : one.product,
          variant: undefined,
        };
        return locked.get(line) ?? gone;
      });
      return {
        named,
        async reserve(transaction, cause) {
          const reserved = reserveLines(lines, locked);
          await locked.save(transaction, cause);
          return reserved;
        },
      };
    },
    /** Deducts what a locked order reserved, once it is paid. */
    deduct: (session: Transaction, orderId: number, cause: Cause) => end(session, orderId, deduct, cause),
    /** Releases what a locked order reserved, once it is cancelled. */
    release: (session: Transaction, orderId: number, cause: Cause) => end(session, orderId, release, cause),
  };
}

/** @returns the reserved quantity of each line @throws HttpError 409 OUT_OF_STOCK */
function reserveLines(lines: Lines, locked: LockedStock): number[] {
  const missing: ErrorDetail[] = [];
  const reserved = lines.map((line, index) => {
    const { quantity, productId, variantId } = line;
    const stock = locked.get(line)?.stock ?? null;
    if (!isCounted(stock)) return 0;
    const left = countAvailable(stock);
    if (quantity > left) {
      const name = variantId == null ? `product ${productId}` : `variant ${variantId}`;
      const message = `only ${left} of ${name} can be ordered, ${quantity} ${quantity === 1 ? 'was' : 'were'} requested`;
      missing.push(buildErrorDetail(['items', index, 'quantity'], 'stock', message));
      return 0;
    }
    locked.set(line, reserve(stock, quantity));
    return quantity;
  });
  if (missing.length > 0) throw new HttpError('OUT_OF_STOCK', { details: missing });
  return reserved;
}
