/** The index rows of a product: its tags, its attributes and options, and its further categories. */
import { createAttributeIndex } from '../../../storage/attributes/index.ts';
import { createIndexWriter, type IndexedChange } from '../../../storage/attributes/rows.ts';
import { collectFilterValues, type Filterable } from '../../../storage/attributes/values.ts';
import type { Database, Transaction } from '../../../storage/database.ts';
import type { CategoriesByPath, Categorized, ProductCategories } from '../../categories/assign.ts';

export interface IndexedFields extends Categorized, Filterable {
  readonly tags: readonly string[];
}

/** @returns a function that writes the changed rows; `known` must have all current categories of the products */
export function createIndexedRowsWriter(
  database: Pick<Database, 'build' | 'dialect'>,
  categories: Pick<ProductCategories, 'write'>,
) {
  const writeTags = createTagWriter(database);
  const writeAttributes = createAttributeIndex(database);
  return async (
    session: Transaction,
    changes: readonly IndexedChange<IndexedFields | undefined>[],
    known: CategoriesByPath = new Map(),
  ): Promise<void> => {
    await writeTags(
      session,
      changes.map(({ id, before, after }) => ({ id, before: before?.tags ?? [], after: after?.tags ?? [] })),
    );
    await writeAttributes(
      session,
      changes.map(({ id, before, after }) => ({
        id,
        before: collectFilterValues(before ?? {}),
        after: collectFilterValues(after ?? {}),
      })),
    );
    await categories.write(session, changes, known);
  };
}

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
