/** The rows by which products are found by attribute or option: each value of each product once. */
import type { Database } from '../database.ts';
import { createIndexWriter } from './rows.ts';
import { type FilterValues, toIndexedValues, toToken } from './values.ts';

/**
 * @returns a function that writes the changed rows by the end of the transaction
 * @param isDeferred whether to wait until then; a transaction that changes very many products would hold all their rows
 */
export const createAttributeIndex = (
  database: Pick<Database, 'build' | 'dialect'>,
  { isDeferred = true }: { readonly isDeferred?: boolean } = {},
) =>
  createIndexWriter(
    database,
    {
      table: 'product_attributes',
      key: { key: 'text', value: 'text', product_id: 'integer' },
      others: { kind: 'integer', number: 'double precision' },
      isDeferred,
    },
    selectDifferingValues,
  );

/** The rows of the values that `one` has and `other` lacks; equal texts of different kinds differ. */
function* selectDifferingValues(one: FilterValues, other: FilterValues, id: number) {
  for (const key in one) {
    const value = one[key];
    if (value === undefined || value === other[key]) continue;
    const others = new Set(Object.hasOwn(other, key) ? toIndexedValues(other[key] ?? []).map(toToken) : []);
    for (const own of toIndexedValues(value))
      if (!others.has(toToken(own))) yield [key, own.text, id, own.kind, own.number];
  }
}
