/**
 * Summarizes the variants of a product: their number, the price range, and whether any can be bought. Reads only the
 * ends of indexes, so that ten thousand variants cost the same as ten.
 */
import { sql } from 'kysely';
import type { Database, Session } from '../../../storage/database.ts';
import { prepareQuery } from '../../../storage/prepared.ts';
import { type Kept, type LockedProduct, toKeptProduct } from '../row.ts';
import type { Product, ProductFields } from '../schema.ts';

interface Ends {
  readonly low: number | null;
  readonly high: number | null;
  /** Whether any variant has no price of its own. */
  readonly inherits: number;
  readonly available: number;
}

interface Changed {
  /** The number of variants, if it has changed. */
  readonly count?: number | undefined;
  /** The price of variants without one; must be given if the changed price is always the product's own. */
  readonly ownPrice?: number;
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
    before: LockedProduct,
    old: Product,
    fields: ProductFields,
    { count = old.variantCount, ownPrice = computeOwnPrice(before, old, fields) }: Changed = {},
  ): Promise<{ fields: ProductFields; kept: Kept }> => {
    if (count === 0 && old.variantCount === 0) return { fields, kept: toKeptProduct(old) };
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
const computeOwnPrice = (before: LockedProduct, old: Product, { price }: ProductFields): number =>
  price === old.price ? (before.base_price ?? old.price) : price;

const nothing: Ends = { low: null, high: null, inherits: 0, available: 0 };
