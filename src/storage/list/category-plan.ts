/**
 * Lists filtered by a part of a tree: the products of categories and of all categories below them.
 *
 * Two indexes have the products of each category, in the order of ids and of names. There are three plans:
 * - merged: in these two orders, the ranges of a few categories are merged.
 * - gathered: few rows are read from the index by id, which has all columns that lists filter and sort by, and sorted.
 * - probed: if many rows match, rows are read in the order of the list, and those of other categories are skipped.
 * The cheapest plan is chosen; all of them give the same page (docs/decisions/0030, 0037).
 */

import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import {
  buildCategoryIds,
  buildIdsInFurtherCategories,
  buildPlaceValues,
  getPlaceArguments,
} from '../categories/listed.ts';
import type { Change, Collection } from '../changes/change.ts';
import type { Database, Session } from '../database.ts';
import { type Arguments, type Placeholders, prepareByShape, prepareQuery } from '../prepared.ts';
import type { CategoryPlan, Condition, ListRequest } from './request.ts';

/** The name of the column in conditions and events, whose values are paths of categories. */
export const categoryColumn = 'category';

/** Maximum number of ranges that one statement merges. */
const maxRanges = 64;
/** Rows that can be read within some milliseconds. */
const shortlyRead = 5000;
/** Orders in which an index has the products of each category. */
const indexedOrders = ['id', 'name'];
/** The cost of beginning a range; the unit is the lookup of a row by its id. */
const rangeCost = 12;
/** The cost of reading and sorting a row by the index of its category: without the table, and with it. */
const gatherCost = { alone: 0.25, further: 1 };
/** The cost of skipping a row: the indexes of the orders have its main category, but not its further ones. */
const passCost = { alone: 0.5, further: 1.5 };
/** Numbers of rows are only hints for the plan, and counted again after this long. */
const countedForMs = 60_000;
const cachedPlaces = 1000;

/** The categories that paths stand for. */
interface Place {
  /** The ids of the categories; undefined if they are too many to merge. */
  readonly ids: readonly number[] | undefined;
  /** Whether products are listed there by a further category, in addition to their main one. */
  readonly hasFurther: boolean;
}

export function findCategoryCondition(conditions: readonly Condition[]): Condition | undefined {
  return conditions.find(({ column }) => column === categoryColumn);
}

/** The paths that a condition names. */
export function getPaths(condition: Condition): readonly string[] {
  return (condition.operator === 'in' ? condition.values : [condition.value]).map(String);
}

/**
 * Prepares a query about the categories that paths stand for, once for each number of paths and shape.
 * @param query gets a statement that returns the ids of the categories, and `shape`, which its text may depend on
 */
export function prepareByPaths<Row>(
  build: Database['build'],
  query: (ids: RawBuilder<unknown>, shape: string, argument: Placeholders<Arguments>) => RawBuilder<Row>,
) {
  const find = prepareByShape<Arguments, Row>(build, (name, argument) => {
    const [count = '', shape = ''] = name.split(':');
    return query(buildCategoryIds(getPlaceArguments(argument, Number(count))), shape, argument);
  });
  return (paths: readonly string[], shape = '', further: Arguments = {}) =>
    find(`${paths.length}:${shape}`, { ...further, ...buildPlaceValues(paths) });
}

function buildStatements(build: Database['build']) {
  const rows = sql<{
    rows: number;
  }>`select cast(coalesce(sum(total), 0) as integer) as rows from product_totals`;
  return {
    some: prepareByPaths(build, ids => sql<{ id: number }>`${ids} limit ${sql.lit(maxRanges + 1)}`),
    further: prepareByPaths(
      build,
      ids => sql<{ product_id: number }>`${buildIdsInFurtherCategories(ids)} limit 1`,
    ),
    rows: prepareByPaths(build, ids => sql<{ rows: number }>`${rows} where category_id in (${ids})`),
    allRows: prepareQuery<Arguments, { rows: number }>(build, () => rows),
  };
}

/** @returns functions that add a plan to a request with a condition on categories */
export function createCategoryPlanner(database: Database, products: Collection) {
  const { build, changes, read } = database;
  const statements = buildStatements(build);
  const places = new LRUCache<string, Place>({ max: cachedPlaces });
  const counted = new LRUCache<string, { rows: number }>({ max: cachedPlaces, ttl: countedForMs });
  /** How often the places were forgotten: one that was read before that may be outdated. */
  let forgotten = 0;
  const forgetPlaces = (): void => {
    forgotten += 1;
    places.clear();
  };
  // Places depend on the tree, and on the further categories of products.
  changes.follow({ name: 'categories' }, forgetPlaces);
  changes.follow(products, committed => {
    if (committed === undefined || committed.some(hasFurtherCategories)) forgetPlaces();
  });

  async function readPlace(session: Session, paths: readonly string[]): Promise<Place> {
    const [rows, other] = await Promise.all([
      session.all(statements.some(paths)),
      session.first(statements.further(paths)),
    ]);
    return {
      ids: rows.length > maxRanges ? undefined : rows.map(({ id }) => id),
      hasFurther: other !== undefined,
    };
  }

  /** The number of products with their main category there, or of all products; possibly a minute old. */
  async function countProducts(paths: readonly string[] | undefined): Promise<number> {
    const name = JSON.stringify(paths ?? '');
    const cached = counted.get(name);
    if (cached !== undefined) return cached.rows;
    const query = paths === undefined ? statements.allRows({}) : statements.rows(paths);
    const rows = (await read.first(query))?.rows ?? 0;
    counted.set(name, { rows });
    return rows;
  }

  async function choosePlan(request: ListRequest, condition: Condition, place: Place): Promise<CategoryPlan> {
    const { ids, hasFurther } = place;
    const paths = getPaths(condition);
    const [mine, all] = [await countProducts(paths), await countProducts(undefined)];
    const { page, order } = request;
    const limit = page.kind === 'offset' ? page.perPage : page.limit + 1;
    const isInRanges = indexedOrders.includes(order.column) && ids !== undefined;
    const merged = isInRanges ? ids.length * rangeCost + limit : Number.POSITIVE_INFINITY;
    const passed = limit * (all / Math.max(1, mine));
    const probed = passed * (hasFurther ? passCost.further : passCost.alone);
    const gathered = mine * (hasFurther ? gatherCost.further : gatherCost.alone);
    // Reading all keys takes several parts, and each would gather all rows again.
    const isWhole = isInRanges && request.value !== undefined;
    const isGathered = !isWhole && gathered <= Math.min(merged, probed);
    const kind = isGathered ? 'gathered' : isWhole || merged <= probed ? 'merged' : 'probed';
    const rows = Math.min(gathered, merged, probed);
    // If the matching rows come last, all others are skipped first.
    const mayPassMany = kind === 'probed' && all - mine > shortlyRead;
    return {
      kind,
      ids: kind === 'merged' ? (ids ?? []) : [],
      isWide: ids === undefined || ids.length > passed,
      hasFurther,
      background: rows > shortlyRead || mayPassMany,
    };
  }

  return {
    /** Plans in the state of a snapshot. */
    async inSession(session: Session, request: ListRequest): Promise<ListRequest> {
      const condition = findCategoryCondition(request.conditions);
      if (condition === undefined) return request;
      return planRequest(request, condition, await readPlace(session, getPaths(condition)));
    },
    async now(request: ListRequest): Promise<ListRequest> {
      const condition = findCategoryCondition(request.conditions);
      if (condition === undefined) return request;
      await changes.check();
      const version = changes.version(products);
      const name = JSON.stringify(getPaths(condition));
      let place = places.get(name);
      if (place === undefined) {
        const before = forgotten;
        place = await readPlace(read, getPaths(condition));
        if (forgotten === before) places.set(name, place);
      }
      const planned = await planRequest(request, condition, place);
      // Later reads may see another state, in which the paths stand for other categories.
      return version === undefined ? planned : { ...planned, locatedAt: version };
    },
  };

  async function planRequest(planned: ListRequest, condition: Condition, place: Place): Promise<ListRequest> {
    // Drops a plan that was made in another state.
    const { resolved, categoryPlan, locatedAt, ...request } = planned;
    const { ids, hasFurther } = place;
    const isOne = !hasFurther && ids !== undefined && ids.length <= 1;
    if (!isOne || !indexedOrders.includes(request.order.column))
      return { ...request, categoryPlan: await choosePlan(request, condition, place) };
    // No category has the id -1; 0 would mean “no category” in the totals.
    const one = { column: 'category_id', operator: '=', value: ids[0] ?? -1 } as const;
    return { ...request, resolved: request.conditions.map(other => (other === condition ? one : other)) };
  }
}

function hasFurtherCategories({ before, after }: Change): boolean {
  return [before, after].some(values => {
    const further = values?.categories;
    return Array.isArray(further) && further.length > 0;
  });
}
