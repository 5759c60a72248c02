/** The rows that products are found by their tags with. */
import { sql } from 'kysely';
import { createBulk, createBulkInsert } from '../../../storage/bulk.ts';
import type { Database, Transaction } from '../../../storage/database.ts';

/** A product's tags before and after a change; none before it is made and after it is deleted. */
export interface TagChange {
  readonly id: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** @returns a function that writes what has changed, in one order for all transactions */
export function createTagWriter(database: Pick<Database, 'build' | 'dialect'>) {
  const columns = { tag: 'text', product_id: 'integer' } as const;
  const added = createBulkInsert(database, 'product_tags', columns);
  const removed = createBulk(
    database,
    'product_tags',
    columns,
    rows => sql`delete from product_tags where (tag, product_id) in (${rows})`,
  );

  return (session: Transaction, changes: readonly TagChange[]): void => {
    const [gone, fresh]: [Row[], Row[]] = [[], []];
    for (const { id, before, after } of changes) {
      for (const tag of new Set(before)) if (!after.includes(tag)) gone.push([tag, id]);
      for (const tag of new Set(after)) if (!before.includes(tag)) fresh.push([tag, id]);
    }
    if (gone.length > 0) session.writeDeferred(removed, gone.sort(compareTags));
    if (fresh.length > 0) session.writeDeferred(added, fresh.sort(compareTags));
  };
}

type Row = [tag: string, id: number];

/** Neighbours in the index are written one after another. */
function compareTags([tag, id]: Row, [other, otherId]: Row): number {
  return tag < other ? -1 : tag > other ? 1 : id - otherId;
}
