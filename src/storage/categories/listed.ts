/** SQL for the products that are listed in the categories of some paths, or below these. */
import { type RawBuilder, sql } from 'kysely';
import type { Arguments, Placeholders } from '../prepared.ts';
import { getPathsBelow } from './names.ts';

/** A path, and the limits of the paths below it (names.ts): arguments of a statement. */
export interface PlaceArguments {
  readonly path: RawBuilder<unknown>;
  readonly low: RawBuilder<unknown>;
  readonly high: RawBuilder<unknown>;
}

/** The values of `getPlaceArguments`, by the names of the arguments. */
export function buildPlaceValues(paths: readonly string[], prefix = ''): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [number, path] of paths.entries()) {
    const { low, high } = getPathsBelow(path);
    values[`${prefix}path${number}`] = path;
    values[`${prefix}low${number}`] = low;
    values[`${prefix}high${number}`] = high;
  }
  return values;
}

/** The arguments for some paths. @param prefix begins their names */
export function getPlaceArguments(
  argument: Placeholders<Arguments>,
  count: number,
  prefix = '',
): PlaceArguments[] {
  const getArgument = (name: string) => argument[prefix + name] ?? sql`null`;
  return Array.from({ length: count }, (_, number) => ({
    path: getArgument(`path${number}`),
    low: getArgument(`low${number}`),
    high: getArgument(`high${number}`),
  }));
}

/** The condition that a category has one of these paths, or is below it. */
function isIn(places: readonly PlaceArguments[]): RawBuilder<unknown> {
  const each = places.map(
    ({ path, low, high }) => sql`path = ${path} or (path >= ${low} and path < ${high})`,
  );
  return sql`(${sql.join(each, sql` or `)})`;
}

/** Selects the ids of the categories of these paths and of all below them. */
export const buildCategoryIds = (places: readonly PlaceArguments[]): RawBuilder<unknown> =>
  sql`select id from categories where ${isIn(places)}`;

/** Selects the ids of products that are listed in some categories in addition to their main one. */
export const buildIdsInFurtherCategories = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select product_id from product_categories where category_id in (${ids})`;

/** The condition that the main category of a product is not one of these. */
export const isElsewhere = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(products.category_id is null or products.category_id not in (${ids}))`;

/**
 * The condition that a product, which other conditions find, is listed in some categories. The unary `+` keeps SQLite
 * from finding products by the index of the column.
 * @param hasFurther whether products may be listed there in addition to their main category
 */
export function isListed(ids: RawBuilder<unknown>, hasFurther: boolean): RawBuilder<unknown> {
  const own = sql`+products.category_id in (${ids})`;
  if (!hasFurther) return own;
  return sql`(${own} or (products.further_categories > 0 and exists (select 1 from product_categories
    where product_categories.product_id = products.id and product_categories.category_id in (${ids}))))`;
}

/** The same for very many categories: looks up the categories of each product instead of listing all that match. */
export function isListedBelow(places: readonly PlaceArguments[], hasFurther: boolean): RawBuilder<unknown> {
  const own = sql`exists (select 1 from categories
    where categories.id = products.category_id and ${isIn(places)})`;
  if (!hasFurther) return own;
  return sql`(${own} or (products.further_categories > 0 and exists (select 1 from product_categories
    join categories on categories.id = product_categories.category_id
    where product_categories.product_id = products.id and ${isIn(places)})))`;
}

/** Selects the ids of all products that are listed in some categories, as `product_id`, each once. */
export const buildListedProductIds = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select id as product_id from products where category_id in (${ids}) union ${buildIdsInFurtherCategories(ids)}`;
