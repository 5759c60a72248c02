/** Removes images that a product loses from its variants too. */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../../events/outbox.ts';
import type { Database, Transaction } from '../../../storage/database.ts';
import { computeChangeMoment } from '../../../storage/moments.ts';
import { prepareQuery } from '../../../storage/prepared.ts';
import { takeTurn } from '../../../turns/index.ts';
import { readPages } from '../../../turns/slices.ts';
import {
  buildVariantChange,
  type StoredVariant,
  toKeptVariant,
  toVariantFields,
  toVariantRow,
  variantOf,
} from '../../variants/row.ts';
import type { Image } from '../members/images.ts';

/** The images of a product before and after a change. */
interface ImageChange {
  readonly before: readonly Image[];
  readonly after: readonly Image[];
}

const rowsAtOnce = 500;

/** @returns a function that removes images from the variants of a locked product */
export function createVariantImageRemover(
  { build, dialect }: Pick<Database, 'build' | 'dialect'>,
  outbox: Outbox,
) {
  const someAfter = prepareQuery<{ productId: number; after: number }, StoredVariant>(
    build,
    argument => sql`select id, document, updated_at from product_variants
        where product_id = ${argument.productId} and id > ${argument.after}
        order by id limit ${sql.lit(rowsAtOnce)} ${dialect.forUpdate}`,
  );
  const write = prepareQuery<StoredVariant & Record<string, unknown>, unknown>(build, argument =>
    build
      .updateTable('product_variants')
      .set({ document: argument.document, updated_at: argument.updated_at })
      .where('id', '=', argument.id),
  );

  return async (
    session: Transaction,
    productId: number,
    { before: had, after: has }: ImageChange,
    cause: Cause,
  ): Promise<void> => {
    const kept = new Set(has.map(({ id }) => id));
    const gone = new Set(had.map(({ id }) => id).filter(id => !kept.has(id)));
    if (gone.size === 0) return;
    const pages = readPages<StoredVariant>(last =>
      session.all(someAfter({ productId, after: last?.id ?? 0 })),
    );
    for await (const some of pages) {
      for (const before of some) {
        await takeTurn();
        const old = variantOf(before);
        if (old.imageId === null || !gone.has(old.imageId)) continue;
        const at = computeChangeMoment(cause.at, before.updated_at);
        const { document } = toVariantRow({ ...toVariantFields(old), imageId: null }, at, toKeptVariant(old));
        const { id } = before;
        await session.run(write({ id, document, updated_at: at }));
        await outbox.record(session, buildVariantChange('updated', before, { id, document }), cause);
      }
    }
  };
}
