/** The index rows of a product's tags. */
import { sql } from 'kysely';
import { createBulk, createBulkInsert } from '../../../storage/bulk.ts';
import type { Database, Transaction } from '../../../storage/database.ts';
import { takeTurn } from '../../../turns/index.ts';

/** A product's tags before and after a change; empty before its creation and after its deletion. */
export interface TagChange {
  readonly id: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** In index order, by tag and product, the same for all transactions. */
const order = { sortedBy: 2 } as const;

/** @returns a function that writes the changed rows by the end of the transaction */
export function createTagWriter(database: Pick<Database, 'build' | 'dialect'>) {
  const columns = { tag: 'text', product_id: 'integer' } as const;
  const added = createBulkInsert(database, 'product_tags', columns, order);
  const removed = createBulk(
    database,
    'product_tags',
    columns,
    rows => sql`delete from product_tags where (tag, product_id) in (${rows})`,
    order,
  );

  return async (session: Transaction, changes: readonly TagChange[]): Promise<void> => {
    const [gone, fresh]: [Row[], Row[]] = [[], []];
    for (const { id, before, after } of changes) {
      await takeTurn();
      for (const tag of new Set(before)) if (!after.includes(tag)) gone.push([tag, id]);
      for (const tag of new Set(after)) if (!before.includes(tag)) fresh.push([tag, id]);
    }
    if (gone.length > 0) session.writeDeferred(removed, gone);
    if (fresh.length > 0) session.writeDeferred(added, fresh);
  };
}

type Row = [tag: string, id: number];
