/** The rows by which products are found by attribute or option: each value of each product once. */
import { sql } from 'kysely';
import { takeTurn } from '../../turns/index.ts';
import { createBulk, createBulkInsert } from '../bulk.ts';
import type { Database, Transaction } from '../database.ts';
import { type FilterValues, type IndexedValue, toIndexedValues, toToken } from './values.ts';

/** The filter values of a product before and after a change: empty before its creation and after its deletion. */
interface FilterChange {
  readonly id: number;
  readonly before: FilterValues;
  readonly after: FilterValues;
}

type Row = readonly [key: string, value: string, id: number];
type FullRow = readonly [...Row, kind: number, number: number | null];

/** All transactions write in the order of the index: by key, value and product. */
const order = { sortedBy: 3 } as const;

/**
 * @returns a function that writes the changed rows by the end of the transaction
 * @param isDeferred whether to wait until then; a transaction that changes very many products would hold all their rows
 */
export function createAttributeIndex(
  database: Pick<Database, 'build' | 'dialect'>,
  { isDeferred = true }: { readonly isDeferred?: boolean } = {},
) {
  const table = 'product_attributes';
  const key = { key: 'text', value: 'text', product_id: 'integer' } as const;
  const columns = { ...key, kind: 'integer', number: 'double precision' } as const;
  const added = createBulkInsert(database, table, columns, order);
  const removed = createBulk(
    database,
    table,
    key,
    rows => sql`delete from product_attributes where (key, value, product_id) in (${rows})`,
    order,
  );

  return async (session: Transaction, changes: readonly FilterChange[]): Promise<void> => {
    const [gone, fresh]: [Row[], FullRow[]] = [[], []];
    for (const { id, before, after } of changes) {
      await takeTurn();
      for (const [key, value] of selectDifferingValues(before, after)) gone.push([key, value.text, id]);
      for (const [key, value] of selectDifferingValues(after, before))
        fresh.push([key, value.text, id, value.kind, value.number]);
    }
    for (const [statement, rows] of [[removed, gone] as const, [added, fresh] as const]) {
      if (rows.length === 0) continue;
      if (isDeferred) session.writeDeferred(statement, rows);
      else await session.writeMany(statement, rows);
    }
  };
}

/** The values that `one` has and `other` lacks; equal texts of different kinds differ. */
function* selectDifferingValues(one: FilterValues, other: FilterValues): Generator<[string, IndexedValue]> {
  for (const key in one) {
    const value = one[key];
    if (value === undefined || value === other[key]) continue;
    const others = new Set(Object.hasOwn(other, key) ? toIndexedValues(other[key] ?? []).map(toToken) : []);
    for (const own of toIndexedValues(value)) if (!others.has(toToken(own))) yield [key, own];
  }
}
