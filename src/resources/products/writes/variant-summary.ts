/**
 * Summarizes the variants of a product: their number, the price range, and whether any can be bought. Reads only the
 * ends of indexes, so that ten thousand variants cost the same as ten.
 */
import { sql } from 'kysely';
import type { Cause } from '../../../events/outbox.ts';
import type { Database, Session, Transaction } from '../../../storage/database.ts';
import { prepareQuery } from '../../../storage/prepared.ts';
import {
  type Kept,
  type LockedProduct,
  type ProductRow,
  productJson,
  productOf,
  toKeptProduct,
  toProductFields,
  toProductRow,
} from '../row.ts';
import type { Product, ProductFields } from '../schema.ts';

interface Ends {
  readonly low: number | null;
  readonly high: number | null;
  /** Whether any variant has no price of its own. */
  readonly inherits: number;
  readonly available: number;
}

export interface SummarizedChange {
  readonly before: LockedProduct;
  readonly old: Product;
  /** With the shown price, which changes nothing, or a new price of the product's own. */
  readonly fields: ProductFields;
  /** Whether their price is the product's own in any case. */
  readonly isOwnPrice?: boolean;
  /** The new number of variants, if it changes. */
  readonly variantCount?: number;
}

/** @returns a function that returns the fields of a product, and what the service maintains, with the new summary */
export function createVariantSummarizer({ build }: Pick<Database, 'build'>) {
  const ends = prepareQuery<{ id: number }, Ends>(build, ({ id }) => {
    const own = sql`from product_variants where product_id = ${id}`;
    return sql<Ends>`select
      (select price ${own} and price is not null order by price limit 1) as low,
      (select price ${own} and price is not null order by price desc limit 1) as high,
      case when exists (select 1 ${own} and price is null) then 1 else 0 end as inherits,
      case when exists (select 1 ${own} and available = 1) then 1 else 0 end as available`;
  });

  return async (
    session: Session,
    change: SummarizedChange,
  ): Promise<{ fields: ProductFields; kept: Kept }> => {
    const { before, old, fields, variantCount: count = old.variantCount } = change;
    if (count === 0 && old.variantCount === 0) return { fields, kept: toKeptProduct(old) };
    const ownPrice = computeOwnPrice(change);
    const written = { ...fields, price: ownPrice };
    if (count === 0) {
      const variants = { count, prices: undefined, available: false };
      return { fields: written, kept: { ...toKeptProduct(old), variants } };
    }
    const { low, high, inherits, available } = (await session.first(ends({ id: before.id }))) ?? nothing;
    const all = [low, high, inherits === 1 ? ownPrice : null].filter(one => one !== null);
    const prices = all.length === 0 ? undefined : { min: Math.min(...all), max: Math.max(...all) };
    const variants = { count, prices, available: available === 1 };
    return { fields: written, kept: { ...toKeptProduct(old), variants } };
  };
}

/** An unchanged shown price comes from the variants, and does not replace the product's own. */
const computeOwnPrice = ({ before, old, fields: { price }, isOwnPrice }: SummarizedChange): number =>
  price === old.price && isOwnPrice !== true ? (before.base_price ?? old.price) : price;

const nothing: Ends = { low: null, high: null, inherits: 0, available: 0 };

/**
 * @returns a function that returns the row that a product should have, given how many variants it has; `at` is the time
 * of the change, without it that of the last one
 */
export function createSummaryRowBuilder(summarize: ReturnType<typeof createVariantSummarizer>) {
  return async (
    session: Session,
    before: LockedProduct,
    variantCount: number,
    at?: number,
  ): Promise<ProductRow> => {
    const old = productOf(before);
    const fields = toProductFields(old, before.base_price);
    const next = await summarize(session, { before, old, fields, variantCount });
    return toProductRow(next.fields, at ?? Date.parse(old.updatedAt), next.kept);
  };
}

/** @returns a function that writes the summary of a locked product's variants, if it has changed */
export function createSummaryUpdater(
  buildRow: ReturnType<typeof createSummaryRowBuilder>,
  update: (session: Transaction, changes: Omit<SummarizedChange, 'old'>[], cause: Cause) => Promise<unknown>,
) {
  /** @param added the change in the number of variants */
  return async (session: Transaction, before: LockedProduct, added: number, cause: Cause): Promise<void> => {
    const old = productOf(before);
    const variantCount = old.variantCount + added;
    const { document } = await buildRow(session, before, variantCount);
    if (productJson({ id: before.id, document }) === productJson(before)) return;
    const fields = toProductFields(old, before.base_price);
    await update(session, [{ before, fields, variantCount }], cause);
  };
}
