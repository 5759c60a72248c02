/**
 * Writes what the service maintains of products: their rating, and what orders and adjustments make of their stock. No
 * index row, total or text for searches depends on these.
 */
import type { Cause, Outbox } from '../../../events/outbox.ts';
import { createPartialUpdate } from '../../../storage/bulk.ts';
import type { Database, Transaction } from '../../../storage/database.ts';
import { computeChangeMoment } from '../../../storage/moments.ts';
import { mapInSlices } from '../../../turns/slices.ts';
import {
  buildProductChange,
  type LockedProduct,
  productOf,
  toKeptProduct,
  toProductFields,
  toProductRow,
  writtenColumns,
} from '../row.ts';
import type { Product } from '../schema.ts';

export interface KeptChange {
  readonly before: LockedProduct;
  readonly members: Partial<Pick<Product, 'rating' | 'stock'>>;
  /** What the rating is computed from, if it changes. */
  readonly sums?: Pick<LockedProduct, 'rating_sum' | 'rating_count'>;
}

const { document, updated_at, available } = writtenColumns;
const sums = { rating_sum: 'integer', rating_count: 'integer' } as const;

export function createKeptWriter(database: Pick<Database, 'build' | 'dialect'>, outbox: Outbox) {
  const columns = { document, updated_at, available, ...sums };
  const write = createPartialUpdate(database, 'products', columns, [['available'], Object.keys(sums)]);

  return async (session: Transaction, changes: readonly KeptChange[], cause: Cause): Promise<void> => {
    const rows = await mapInSlices(changes, change => toChangedRow(change, cause.at));
    await write(session, rows);
    await outbox.recordAll(
      session,
      rows.map(({ event }) => event),
      cause,
    );
  };
}

/** The changed columns, and the event. */
function toChangedRow({ before, members, sums = before }: KeptChange, now: number) {
  const { id, base_price, rating_sum, rating_count } = before;
  const old = productOf(before);
  const product = { ...old, ...members };
  const at = computeChangeMoment(now, before.updated_at);
  const row = toProductRow(toProductFields(product, base_price), at, toKeptProduct(product));
  return {
    id,
    before: { rating_sum, rating_count, available: Number(old.available) },
    after: { ...row, rating_sum: sums.rating_sum, rating_count: sums.rating_count },
    event: buildProductChange('updated', before, { id, document: row.document }),
  };
}
