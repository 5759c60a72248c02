/**
 * Updates the search index after categories were renamed or moved. This happens after the commit, a few products at a
 * time, since there may be very many. Until then, products are found by the words of their former path.
 */
import { sql } from 'kysely';
import type { Consumer } from '../../events/dispatcher.ts';
import type { Queue } from '../../events/queue.ts';
import type { Clock } from '../../ports/clock.ts';
import { getPathsAbove, renamePath } from '../../storage/categories/names.ts';
import { createCategoryTree } from '../../storage/categories/tree.ts';
import { createCollectionVersions } from '../../storage/changes/versions.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepareByPaths } from '../../storage/list/category-plan.ts';
import { createSearchIndex, rewordedCollection } from '../../storage/search/index.ts';
import { toDocumentWords } from '../../storage/search/text/words.ts';
import { productOf } from '../products/row.ts';
import { toSearchTextInSlices } from '../products/search-text.ts';
import type { ProductStore } from '../products/store.ts';
import type { Categorized } from './assign.ts';
import type { StoredCategory } from './row.ts';

const queueName = 'category-search';
/** Products per transaction: a few milliseconds of work. */
const productsAtOnce = 16;
/** The maximum number of categories that one transaction visits: most may be empty. */
const categoriesAtOnce = 100;

/** How far the products of a category have been reindexed. */
interface Progress {
  /** The category that was renamed or moved, and its former path. */
  readonly id: number;
  readonly former: string;
  /** Former paths of ancestors whose products were still being reindexed: they may have moved this category too. */
  readonly others?: readonly string[];
  /** Whether products that have it as a further category are next, after those that have it as their main category. */
  besides: boolean;
  /** The current category at or below it, and the last product of that category. */
  category: number;
  product: number;
}

/** Queues the reindexing of a category's products for after the commit. The transaction must own the tree. */
export async function queueSearchTexts(
  { build, queue }: Pick<Database, 'build'> & { readonly queue: Queue },
  session: Session,
  { id, path }: Pick<StoredCategory, 'id' | 'path'>,
  at: number,
): Promise<void> {
  const above = sql.join(getPathsAbove(path));
  const query = sql<{ payload: string }>`select payload from deliveries
    where queue = ${queueName} and failed_at is null
      and key in (select 'category:' || id from categories where path in (${above}))`;
  const others = new Set<string>();
  for (const { payload } of await session.all(query.compile(build)))
    for (const one of listFormerPaths(parseProgress(payload))) others.add(one);
  const progress = { id, former: path, others: [...others], besides: false, category: 0, product: 0 };
  await add(queue, session, progress, at);
}

/** The paths of categories below which products may still be indexed with the words of former paths. */
export async function readRewordedPaths(session: Session, build: Database['build']): Promise<string[]> {
  const paths = sql<{ path: string }>`select path from categories
    where 'category:' || id in (select key from deliveries where queue = ${queueName} and failed_at is null)`;
  return (await session.all(paths.compile(build))).map(({ path }) => path);
}

// Boundary: `add` has written this text.
const parseProgress = (payload: string) => JSON.parse(payload) as Progress;
const listFormerPaths = ({ former, others = [] }: Progress): readonly string[] => [former, ...others];

const add = (queue: Queue, session: Session, progress: Progress, at: number) =>
  queue.add(session, {
    queue: queueName,
    key: `category:${progress.id}`,
    payload: JSON.stringify(progress),
    at,
  });

interface Parts {
  readonly database: Database;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly products: Pick<ProductStore, 'lockMany'>;
}

export function createSearchTextConsumer({ database, queue, clock, products }: Parts): Consumer {
  const search = createSearchIndex(database);
  const versions = createCollectionVersions(database);
  const tree = createCategoryTree(database);
  const next = createNextProductsReader(database);
  const readPath = (session: Session, id: number) =>
    session.first(
      sql<{ path: string }>`select path from categories where id = ${id}`.compile(database.build),
    );

  /** Products that left the category in the meantime were written as if indexed with the words of its new path. */
  const releaseWords = (session: Transaction, progress: Progress) => {
    for (const path of listFormerPaths(progress))
      search.release(session, toDocumentWords({ title: '', body: path }));
  };

  return {
    queue: queueName,
    kind: 'internal',
    async deliver(session: Transaction, payload) {
      const progress = parseProgress(payload);
      await tree.share(session);
      const category = await readPath(session, progress.id);
      // Deleted: it had no products and no descendants.
      if (category === undefined) return releaseWords(session, progress);
      const { ids, isLast } = await next(session, category.path, progress);
      for (const row of await products.lockMany(session, ids)) {
        const product = productOf(row);
        const before = { ...product, ...toFormerCategories(product, category.path, progress.former) };
        const [had, has] = [await toSearchTextInSlices(before), await toSearchTextInSlices(product)];
        await search.change(session, 'product', had, { id: row.id, ...has });
      }
      if (ids.length > 0) versions.advance(session, rewordedCollection);
      if (isLast) releaseWords(session, progress);
      else await add(queue, session, progress, clock.now());
    },
  };
}

/** The categories of a product before `former` became `path`. */
function toFormerCategories({ category, categories }: Categorized, path: string, former: string) {
  const toFormerPath = (one: string) => renamePath(one, path, former);
  return {
    category: category === null ? null : toFormerPath(category),
    categories: categories.map(toFormerPath),
  };
}

/** @returns a function that reads the next products below a path, and advances the progress past them */
function createNextProductsReader({ build }: Pick<Database, 'build'>) {
  const buildProductsQuery = (progress: Progress, limit: number) => {
    const { category, product, besides } = progress;
    return besides
      ? sql<{ id: number }>`select product_id as id from product_categories
          where category_id = ${category} and product_id > ${product} order by product_id limit ${limit}`
      : sql<{ id: number }>`select id from products
          where category_id = ${category} and id > ${product} order by id limit ${limit}`;
  };
  const nextCategories = prepareByPaths(
    build,
    (ids, _, { after }) => sql<{ id: number }>`select id from (${ids}) as below where id > ${after}
      order by id limit ${sql.lit(categoriesAtOnce)}`,
  );
  /** Adds the next products of the current category. @returns whether there may be more of them */
  const addProducts = async (session: Session, progress: Progress, ids: number[]) => {
    const limit = productsAtOnce - ids.length;
    const found = await session.all(buildProductsQuery(progress, limit).compile(build));
    ids.push(...found.map(({ id }) => id));
    progress.product = found.at(-1)?.id ?? progress.product;
    return found.length === limit;
  };
  return async (session: Session, path: string, progress: Progress) => {
    const ids: number[] = [];
    if (await addProducts(session, progress, ids)) return { ids, isLast: false };
    const categories = await session.all(nextCategories([path], '', { after: progress.category }));
    for (const { id } of categories) {
      progress.category = id;
      progress.product = 0;
      if (await addProducts(session, progress, ids)) return { ids, isLast: false };
    }
    if (categories.length === categoriesAtOnce) return { ids, isLast: false };
    if (progress.besides) return { ids, isLast: true };
    Object.assign(progress, { besides: true, category: 0, product: 0 });
    return { ids, isLast: false };
  };
}
