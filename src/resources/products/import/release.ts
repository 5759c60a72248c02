/**
 * Clears the skus and external ids that products and variants lose by a plan: others of the plan may get them, and
 * unique indexes do not wait for the end of the transaction.
 */
import type { Database, Transaction } from '../../../storage/database.ts';
import { splitIntoParts } from '../../../turns/slices.ts';
import { variantOf } from '../../variants/row.ts';
import type { ImportUpdate } from './entry.ts';

/** Rows per statement. */
const rowsAtOnce = 500;

/** @returns a function that clears them before anything is written; the updates then write all columns that it clears */
export function createReleaser({ build }: Pick<Database, 'build'>) {
  async function clear(session: Transaction, ids: readonly number[], table: 'products' | 'product_variants') {
    for (const some of splitIntoParts(ids, rowsAtOnce)) {
      const free =
        table === 'products'
          ? build.updateTable('products').set({ sku: null, external_id: null }).where('id', 'in', some)
          : build.updateTable('product_variants').set({ sku: null }).where('id', 'in', some);
      await session.run(free.compile());
    }
  }

  return async (session: Transaction, updates: readonly ImportUpdate[]): Promise<void> => {
    const products = updates.filter(({ before, after }) =>
      givesUp([before.sku, after.sku], [before.externalId, after.externalId]),
    );
    const variants = updates
      .flatMap(({ changes }) => changes)
      .filter(({ before, fields }) => givesUp([variantOf(before).sku, fields.sku]));
    await clear(
      session,
      products.map(({ stored }) => stored.id),
      'products',
    );
    await clear(
      session,
      variants.map(({ before }) => before.id),
      'product_variants',
    );
  };
}

const givesUp = (...pairs: readonly (readonly [before: string | null, after: string | null])[]): boolean =>
  pairs.some(([before, after]) => before !== null && before !== after);
