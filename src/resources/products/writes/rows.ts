/** What a change makes of a product's row. */
import type { Session } from '../../../storage/database.ts';
import { computeChangeMoment } from '../../../storage/moments.ts';
import { type CategoriesByPath, toCategoryColumns } from '../../categories/assign.ts';
import { computeMoment } from '../categories.ts';
import type { Image } from '../members/images.ts';
import { type LockedProduct, type ProductRow, toProductColumns, toWrittenProduct } from '../row.ts';
import type { Product, ProductFields } from '../schema.ts';
import type { createVariantSummarizer } from './variant-summary.ts';

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
  readonly row: ProductRow & ReturnType<typeof toCategoryColumns>;
  /** What those of its columns were that may stay. */
  readonly columns: Readonly<Record<string, unknown>>;
}

/** @returns a function that gives the row of a change at `now`, epoch milliseconds, and what its columns were */
export function createRowBuilder(summarize: ReturnType<typeof createVariantSummarizer>) {
  return async (
    session: Session,
    { before, fields, old, variantCount, images, isMoved }: Sent,
    known: CategoriesByPath,
    now: number,
  ): Promise<Pick<Written, 'members' | 'row' | 'columns'>> => {
    const at = computeMoment(computeChangeMoment(now, before.updated_at), isMoved ? known : undefined);
    const next = await summarize(session, before, old, fields, variantCount);
    const { members, row } = toWrittenProduct(next.fields, at, {
      ...next.kept,
      images: images ?? old.images,
    });
    const { category_id, base_price } = before;
    const placesBefore = { category_id, further_categories: old.categories.length };
    return {
      members,
      row: { ...row, ...(isMoved ? toCategoryColumns(fields, known) : placesBefore) },
      columns: { ...toProductColumns(old), base_price, ...placesBefore },
    };
  };
}
