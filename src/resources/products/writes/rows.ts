/** What a change makes of a product's row. */
import type { Session } from '../../../storage/database.ts';
import { momentOfChange } from '../../../storage/moments.ts';
import { type CategoriesByPath, categoryColumnsOf } from '../../categories/assign.ts';
import { momentIn } from '../categories.ts';
import type { Image } from '../members/images.ts';
import { columnsOf, type LockedProduct, type ProductRow, writtenOf } from '../row.ts';
import type { Product, ProductFields } from '../schema.ts';
import type { variantSummaries } from './variant-summary.ts';

export interface ProductChange {
  readonly before: LockedProduct;
  /** With the price that is shown, or another one to be its own. */
  readonly fields: ProductFields;
  /** How many variants it has, where that is another number now. */
  readonly variantCount?: number;
  /** Those that the fields may name, where it is not those it has: with one that has been uploaded. */
  readonly images?: readonly Image[];
}

/** A change, and what it is compared with. */
export interface Sent extends ProductChange {
  readonly old: Product;
  readonly isMoved: boolean;
}

/** A change with the row that it makes. */
export interface Written extends Sent {
  readonly members: Omit<Product, 'id'>;
  readonly row: ProductRow & ReturnType<typeof categoryColumnsOf>;
  /** What those of its columns were that may stay. */
  readonly columns: Readonly<Record<string, unknown>>;
}

/** @returns a function that gives the row of a change at `now`, epoch milliseconds, and what its columns were */
export function rowsAfter(summarize: ReturnType<typeof variantSummaries>) {
  return async (
    session: Session,
    { before, fields, old, variantCount, images, isMoved }: Sent,
    known: CategoriesByPath,
    now: number,
  ): Promise<Pick<Written, 'members' | 'row' | 'columns'>> => {
    const at = momentIn(momentOfChange(now, before.updated_at), isMoved ? known : undefined);
    const next = await summarize(session, before, old, fields, variantCount);
    const { members, row } = writtenOf(next.fields, at, { ...next.kept, images: images ?? old.images });
    const { category_id, base_price } = before;
    const placesBefore = { category_id, further_categories: old.categories.length };
    return {
      members,
      row: { ...row, ...(isMoved ? categoryColumnsOf(fields, known) : placesBefore) },
      columns: { ...columnsOf(old), base_price, ...placesBefore },
    };
  };
}
