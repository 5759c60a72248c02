/** The row of a product after a change. */
import type { Session } from '../../../storage/database.ts';
import { computeChangeMoment } from '../../../storage/moments.ts';
import { type CategoriesByPath, toCategoryColumns } from '../../categories/assign.ts';
import { computeMoment } from '../categories.ts';
import type { Image } from '../members/images.ts';
import { type ProductRow, toProductColumns, toWrittenProduct } from '../row.ts';
import type { Product } from '../schema.ts';
import type { createVariantSummarizer, SummarizedChange } from './variant-summary.ts';

export interface ProductChange extends Omit<SummarizedChange, 'old'> {
  /** The images that the fields may name, if not the existing ones: for example with a new upload. */
  readonly images?: readonly Image[];
  /** Whether the caller then writes the variants, without the images that the product loses. */
  readonly writesVariants?: boolean;
}

/** A change, with the product before it. */
export interface Sent extends ProductChange, SummarizedChange {
  readonly isMoved: boolean;
}

/** A change with the resulting row. */
export interface Written extends Sent {
  readonly members: Omit<Product, 'id'>;
  readonly row: ProductRow & ReturnType<typeof toCategoryColumns>;
  /** The former values of columns that may stay unchanged. */
  readonly columns: Readonly<Record<string, unknown>>;
}

/** @returns a function that adds the row of a change at `now`, epoch milliseconds, and its former columns */
export function createRowBuilder(summarize: ReturnType<typeof createVariantSummarizer>) {
  return async (session: Session, change: Sent, known: CategoriesByPath, now: number): Promise<Written> => {
    const { before, fields, old, images, isMoved } = change;
    const at = computeMoment(computeChangeMoment(now, before.updated_at), isMoved ? known : undefined);
    const next = await summarize(session, change);
    const { members, row } = toWrittenProduct(next.fields, at, {
      ...next.kept,
      images: images ?? old.images,
    });
    const { category_id, base_price } = before;
    const placesBefore = { category_id, further_categories: old.categories.length };
    return {
      ...change,
      members,
      row: { ...row, ...(isMoved ? toCategoryColumns(fields, known) : placesBefore) },
      columns: { ...toProductColumns(old), base_price, ...placesBefore },
    };
  };
}
