/** Tables of rows by which products are found: by tag, attribute or option. */
import { takeTurn } from '../../turns/index.ts';
import { type ColumnTypes, createBulkDelete, createBulkInsert } from '../bulk.ts';
import type { Database, Transaction } from '../database.ts';

type Row = readonly unknown[];

interface IndexTable {
  readonly table: string;
  /** The columns of the key; all transactions write rows in its order. */
  readonly key: ColumnTypes;
  readonly others?: ColumnTypes;
  /** Whether to write by the end of the transaction, which holds all rows until then. */
  readonly isDeferred?: boolean;
}

/** What a product is found by, before and after a change: nothing before its creation and after its deletion. */
export interface IndexedChange<Value> {
  readonly id: number;
  readonly before: Value;
  readonly after: Value;
}

/**
 * @param selectRows the rows for what the first value has and the second lacks, beginning with the columns of the key
 * @returns a function that removes and adds the rows that changes make a difference to
 */
export function createIndexWriter<Value>(
  database: Pick<Database, 'build' | 'dialect'>,
  { table, key, others = {}, isDeferred = true }: IndexTable,
  selectRows: (one: Value, other: Value, id: number) => Iterable<Row>,
) {
  const names = Object.keys(key);
  const order = { sortedBy: names.length };
  const added = createBulkInsert(database, table, { ...key, ...others }, order);
  const removed = createBulkDelete(database, table, key, order);

  return async (session: Transaction, changes: readonly IndexedChange<Value>[]): Promise<void> => {
    const [gone, fresh]: [Row[], Row[]] = [[], []];
    for (const { id, before, after } of changes) {
      await takeTurn();
      for (const row of selectRows(before, after, id)) gone.push(row.slice(0, names.length));
      for (const row of selectRows(after, before, id)) fresh.push(row);
    }
    for (const [statement, rows] of [[removed, gone] as const, [added, fresh] as const]) {
      if (rows.length === 0) continue;
      if (isDeferred) session.writeDeferred(statement, rows);
      else await session.writeMany(statement, rows);
    }
  };
}
