/**
 * The categories of products: looks up the categories that products name by path, and writes the rows of further
 * categories. Categories that do not exist yet are created by the same transaction.
 */
import { sql } from 'kysely';
import type { Cause, Outbox } from '../../events/outbox.ts';
import { maxAtOnce, prepareByKeys } from '../../storage/batched-lookups.ts';
import { createBulkDelete, createBulkInsert } from '../../storage/bulk.ts';
import { getPathsAbove, splitPath } from '../../storage/categories/names.ts';
import { createCategoryTree } from '../../storage/categories/tree.ts';
import type { Database, Lookup, Transaction } from '../../storage/database.ts';
import { splitIntoParts } from '../../turns/slices.ts';
import { noImage, type StoredCategory } from './row.ts';
import { createCategoryWriter } from './write.ts';

/** The categories of a product, by path. */
export interface Categorized {
  readonly category: string | null;
  readonly categories: readonly string[];
}

/** A product's categories before and after a change; undefined before its creation and after its deletion. */
interface CategoryChange {
  readonly id: number;
  readonly before: Categorized | undefined;
  readonly after: Categorized | undefined;
}

type Named = Pick<StoredCategory, 'id' | 'path' | 'path_at'>;
export type CategoriesByPath = ReadonlyMap<string, Named>;

export type ProductCategories = ReturnType<typeof createProductCategories>;

export function createProductCategories(database: Database, outbox: Outbox) {
  const { build } = database;
  const tree = createCategoryTree(database);
  const writer = createCategoryWriter(database, outbox);
  const byPath: Lookup<string, Named> = {
    statement: prepareByKeys<Named, string>(size =>
      sql<Named>`select id, path, path_at from categories
        where path in (${sql.join(new Array(size).fill(null))})`.compile(build),
    ),
    keyOf: ({ path }) => path,
  };
  const product = { product_id: 'integer' } as const;
  const added = createBulkInsert(database, 'product_categories', {
    ...product,
    category_id: 'integer',
    position: 'integer',
  });
  // Each product has up to twenty rows.
  const removed = createBulkDelete(database, 'product_categories', product, { sizes: [64, 16, 4, 1] });

  async function lookUp(session: Transaction, paths: readonly string[], known: Map<string, Named>) {
    const [only] = paths;
    if (only !== undefined && paths.length === 1) {
      const row = await session.pick(byPath, only);
      if (row !== undefined) known.set(only, row);
      return;
    }
    for (const some of splitIntoParts(paths, maxAtOnce))
      for (const row of await session.all(byPath.statement(some))) known.set(row.path, row);
  }

  /**
   * Creates categories, except those that other transactions have created before releasing the lock of the tree.
   * @param paths sorted, so that ancestors come first
   */
  async function create(
    session: Transaction,
    paths: readonly string[],
    known: Map<string, Named>,
    cause: Cause,
  ) {
    for (const path of paths) {
      let parent: StoredCategory | undefined;
      const names = splitPath(path);
      for (const [level, above] of getPathsAbove(path).entries()) {
        const name = names[level] ?? '';
        const fields = { name, slug: null, position: null, description: null, ...noImage };
        parent =
          (await session.first(writer.byPath({ path: above }))) ??
          (await writer.create(session, parent, fields, cause));
      }
      if (parent !== undefined) known.set(path, parent);
    }
  }

  return {
    /** Keeps all paths unchanged until the transaction ends; must be called before reading a product for a change. */
    share: tree.share,

    /** The categories that products name, by path; creates the missing ones. The caller must have called `share`. */
    async find(session: Transaction, products: readonly Categorized[], cause: Cause) {
      const known = new Map<string, Named>();
      const paths = new Set<string>();
      for (const { category, categories } of products) {
        if (category !== null) paths.add(category);
        for (const path of categories) paths.add(path);
      }
      if (paths.size === 0) return known;
      await lookUp(session, [...paths], known);
      const missing = [...paths].filter(path => !known.has(path)).sort();
      if (missing.length === 0) return known;
      await tree.extend(session);
      await create(session, missing, known, cause);
      return known;
    },

    /** Writes the further categories of products. @param known must have all of them */
    async write(session: Transaction, changes: readonly CategoryChange[], known: CategoriesByPath) {
      const [gone, fresh]: [unknown[][], unknown[][]] = [[], []];
      for (const { id, before, after } of changes) {
        const [had, has] = [before?.categories ?? [], after?.categories ?? []];
        if (had.length === has.length && had.every((path, index) => path === has[index])) continue;
        if (had.length > 0) gone.push([id]);
        for (const [position, path] of has.entries()) fresh.push([id, known.get(path)?.id, position]);
      }
      if (gone.length > 0) await session.writeMany(removed, gone);
      if (fresh.length > 0) await session.writeMany(added, fresh);
    },
  };
}

/** The category columns of a product. @param known must have all its categories */
export function toCategoryColumns({ category, categories }: Categorized, known: CategoriesByPath) {
  const id = category === null ? null : (known.get(category)?.id ?? null);
  return { category_id: id, further_categories: categories.length };
}
