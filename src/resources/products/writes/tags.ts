/** The index rows of a product's tags. */
import { createIndexWriter } from '../../../storage/attributes/rows.ts';
import type { Database } from '../../../storage/database.ts';

/** @returns a function that writes the changed rows by the end of the transaction */
export const createTagWriter = (database: Pick<Database, 'build' | 'dialect'>) =>
  createIndexWriter(
    database,
    { table: 'product_tags', key: { tag: 'text', product_id: 'integer' } },
    selectDifferingTags,
  );

/** The rows of the tags that `one` has and `other` lacks. */
const selectDifferingTags = (one: readonly string[], other: readonly string[], id: number) =>
  [...new Set(one)].filter(tag => !other.includes(tag)).map(tag => [tag, id]);
