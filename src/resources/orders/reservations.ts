/**
 * The effect of orders on stock. The quantity that an item reserved is stored with it, so that exactly this quantity is
 * deducted or released, even if tracking of the product was switched on or off since. Locks are taken in a fixed order:
 * the order, then products by id (docs/decisions/0027).
 */
import { sql } from 'kysely';
import type { Cause } from '../../events/outbox.ts';
import { buildErrorDetail, type ErrorDetail, HttpError } from '../../http/errors.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { takeTurn } from '../../turns/index.ts';
import { splitIntoParts } from '../../turns/slices.ts';
import type { Stock } from '../products/members/stock.ts';
import { type LockedProduct, productOf } from '../products/row.ts';
import type { LockedStock, StockItem, StockLocks } from '../stock/locked.ts';
import { countAvailable, deduct, isCounted, release, reserve } from '../stock/quantities.ts';
import { variantOf } from '../variants/row.ts';
import type { Variant } from '../variants/schema.ts';
import type { OrderedProduct } from './pricing.ts';
import type { NewOrder } from './schema.ts';

type Lines = NewOrder['items'];

export type Reservations = ReturnType<typeof createStockReservations>;

/** The quantity that an item reserved. */
interface Reservation extends StockItem {
  readonly quantity: number;
}

/** The most products that one statement reads without being measured: each document may have half a megabyte. */
const readAtOnce = 6;
/** The most bytes of documents that one statement reads; the event loop waits until it has ended. */
const maxBytesRead = 1_000_000;

type Line = Lines[number];

/** A row of a product, or of a variant, which has no `base_price`. */
interface OrderedRow extends Pick<LockedProduct, 'id' | 'document' | 'base_price'> {
  readonly kind: 'product' | 'variant';
}

interface ReadPlan {
  /** The most products that one statement reads. */
  readonly atOnce: number;
  /** The lines to lock; those whose stock turns out to be counted are locked too. */
  readonly counted: Lines;
}

interface OrderedLines {
  readonly locked: LockedStock;
  /** The lines that are not locked. */
  readonly others: ReadonlyMap<Line, OrderedProduct>;
}

export function createStockReservations(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  stock: StockLocks,
) {
  const reservationsOf = prepareQuery<{ orderId: number }, Reservation>(
    build,
    ({ orderId }) => sql`select product_id as "productId", variant_id as "variantId", reserved as quantity
      from order_items where order_id = ${orderId} and reserved > 0 order by id`,
  );
  const clearReserved = prepareQuery<{ orderId: number }, unknown>(
    build,
    ({ orderId }) => sql`update order_items set reserved = 0 where order_id = ${orderId}`,
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

  /** Reads the products and variants of some lines with one statement: as they all are at one moment. */
  function readRows(session: Session, lines: Lines): Promise<OrderedRow[]> {
    const products = new Set(lines.map(({ productId }) => productId));
    const variants = lines.flatMap(({ variantId }) => variantId ?? []);
    const ofVariants = sql`union all select 'variant', id, document, null
      from product_variants where id in (${sql.join(variants)})`;
    const query = sql<OrderedRow>`select 'product' as kind, id, document, base_price
      from products where id in (${sql.join([...products])}) ${variants.length === 0 ? sql`` : ofVariants}`;
    return session.all(query.compile(build));
  }

  /** The products and variants of lines, read without a lock. @param atOnce the most products of one statement */
  async function readUnlocked(session: Session, lines: Lines, atOnce: number) {
    const found = new Map<Line, OrderedProduct>();
    for (const part of splitIntoParts([...groupByProduct(lines).values()], atOnce)) {
      const some = part.flat();
      const products = new Map<number, Pick<OrderedProduct, 'product' | 'basePrice'>>();
      const variants = new Map<number, Variant>();
      for (const row of await readRows(session, some)) {
        if (row.kind === 'variant') variants.set(row.id, variantOf(row));
        else {
          const product = productOf(row);
          products.set(row.id, { product, basePrice: row.base_price ?? product.price });
        }
        await takeTurn();
      }
      for (const line of some) {
        const { product, basePrice = 0 } = products.get(line.productId) ?? {};
        const variant = line.variantId == null ? undefined : variants.get(line.variantId);
        const own = variant?.productId === line.productId ? variant : undefined;
        found.set(line, { product, basePrice, variant: own });
      }
    }
    return found;
  }

  /** Statements one after another show different moments where other transactions commit between them. */
  async function planRead(session: Session, lines: Lines): Promise<ReadPlan> {
    const ids = [...groupByProduct(lines).keys()];
    if (dialect.lock === undefined || ids.length <= readAtOnce) return { atOnce: readAtOnce, counted: [] };
    const query = sql<{
      bytes: number;
    }>`select cast(coalesce(sum(octet_length(document)), 0) as integer) as bytes
      from products where id in (${sql.join(ids)})`;
    const { bytes = 0 } = (await session.first(query.compile(build))) ?? {};
    return bytes <= maxBytesRead
      ? { atOnce: ids.length, counted: [] }
      : { atOnce: readAtOnce, counted: lines };
  }

  /** Reads all lines as they are at one moment: locked rows stay as they are, and the others are read after the last lock. */
  async function readTogether(session: Session, lines: Lines, plan: ReadPlan): Promise<OrderedLines> {
    const { atOnce, counted } = plan;
    const locked = await stock.lock(session, counted);
    const rest = lines.filter(line => locked.get(line) === undefined);
    const others = await readUnlocked(session, rest, atOnce);
    const more = rest.filter(line => !counted.includes(line) && hasCountedStock(line, others.get(line)));
    if (more.length === 0) return { locked, others };
    return readTogether(session, lines, { atOnce, counted: [...counted, ...more] });
  }

  return {
    /** Reads the products of an order that is about to be placed; those with counted stock are locked. */
    async read(session: Session, lines: Lines) {
      const { locked, others } = await readTogether(session, lines, await planRead(session, lines));
      return {
        /** The current product and variant of each line. */
        named: lines.map((line): OrderedProduct => locked.get(line) ?? others.get(line) ?? unknown),
        /**
         * Reserves counted stock; returns the reserved quantity of each line.
         * @throws HttpError 409 OUT_OF_STOCK naming each line that exceeds the stock
         */
        async reserve(transaction: Transaction, cause: Cause): Promise<readonly number[]> {
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

const unknown: OrderedProduct = { product: undefined, basePrice: 0, variant: undefined };

const groupByProduct = (lines: Lines) => Map.groupBy(lines, ({ productId }) => productId);

function hasCountedStock({ variantId }: Line, { product, variant }: OrderedProduct = unknown): boolean {
  const stock = variantId == null ? product?.stock : variant?.stock;
  return isCounted(stock ?? null);
}

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
