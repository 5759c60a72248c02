/** SQL for the sources of the rows of a list, and for its conditions. */
import { type RawBuilder, sql } from 'kysely';
import {
  buildAttributeArguments,
  buildAttributeSql,
  chooseSize,
  toAttributeShape,
} from '../attributes/condition.ts';
import {
  buildCategoryIds,
  buildIdsInFurtherCategories,
  buildListedProductIds,
  buildPlaceValues,
  getPlaceArguments,
  isElsewhere,
  isListed,
  isListedBelow,
  type PlaceArguments,
} from '../categories/listed.ts';
import type { Arguments, Placeholders } from '../prepared.ts';
import { categoryColumn, getPaths } from './category-plan.ts';
import type { Comparison, Condition, ListRequest, Membership } from './request.ts';

/** Placeholders for arguments of a statement, by their names. */
export type Argument = Placeholders<Arguments>;

/** The arguments of conditions, by their names in the statements. */
export function buildConditionArguments(conditions: readonly Condition[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  conditions.forEach((condition, index) => {
    if (condition.operator === 'attribute') Object.assign(values, buildAttributeArguments(condition, index));
    else if (condition.column === categoryColumn)
      Object.assign(values, buildPlaceValues(getPaths(condition), `c${index}`));
    else if (condition.operator === 'in') {
      for (let at = 0; at < chooseSize(condition.values.length); at++)
        values[`c${index}v${at}`] = condition.values[at] ?? condition.values[0];
    } else if (condition.literal !== true) values[`c${index}`] = condition.value;
  });
  return values;
}

/** The part of a condition that determines the text of a statement. */
export function toConditionShape(condition: Condition): string {
  if (condition.operator === 'attribute') return toAttributeShape(condition);
  if (condition.column === categoryColumn) return `${categoryColumn} ${getPaths(condition).length}`;
  const tables = 'anyOf' in condition ? condition.anyOf?.map(({ table }) => table).join() : '';
  if (condition.operator === 'in')
    return `${condition.column} in ${chooseSize(condition.values.length)}${tables}`;
  const { column, operator, literal, value } = condition;
  return `${column}${operator}${literal === true ? value : '?'}${tables}`;
}

export interface Source {
  readonly from: RawBuilder<unknown>;
  readonly conditions: RawBuilder<unknown>[];
  /** The column that holds the rows' ids. */
  readonly id: string;
}

/**
 * The source of the rows of a list. SQLite runs a cross join from left to right, PostgreSQL by its statistics; neither
 * moves a lookup for each row elsewhere.
 */
export function buildSource(
  name: string,
  request: Pick<ListRequest, 'conditions' | 'joinPlan' | 'categoryPlan'>,
  argument: Argument,
): Source {
  const table = sql.table(name);
  const { categoryPlan } = request;
  const found = request.conditions.findIndex(condition => 'join' in condition);
  const isGathered = found === -1 && categoryPlan !== undefined && categoryPlan.kind !== 'probed';
  const conditions = request.conditions.flatMap((condition, index) => {
    if (index === found) return [];
    if (condition.column !== categoryColumn) return [buildConditionSql(condition, index, argument)];
    if (isGathered) return [];
    const hasFurther = categoryPlan?.hasFurther ?? true;
    return categoryPlan?.isWide === true
      ? [isListedBelow(getPlaces(condition, index, argument), hasFurther)]
      : [isListed(buildIds(condition, index, argument), hasFurther)];
  });
  const chosen = request.conditions[found];
  if (isGathered) {
    const index = request.conditions.findIndex(({ column }) => column === categoryColumn);
    const condition = request.conditions[index];
    if (condition === undefined) throw new Error('a plan for a part of a tree has no condition');
    const ids = buildIds(condition, index, argument);
    if (!categoryPlan.hasFurther)
      return { from: table, conditions: [sql`category_id in (${ids})`, ...conditions], id: 'id' };
    const listed = buildListedProductIds(ids);
    return {
      from: sql`(${listed}) as listed cross join ${table}`,
      conditions: [sql`product_id = id`, ...conditions],
      id: 'product_id',
    };
  }
  if (chosen === undefined || chosen.operator !== '=' || chosen.join === undefined) {
    return { from: table, conditions, id: 'id' };
  }
  const { key, table: other } = chosen.join;
  const comparison = buildComparisonSql(chosen, found, argument);
  if (request.joinPlan?.probed === true) {
    const lookup = sql`(select true from ${sql.table(other)} where ${comparison}
      and ${sql.ref(key)} = ${sql.ref(`${name}.id`)})`;
    return { from: table, conditions: [...conditions, lookup], id: 'id' };
  }
  const isOne = sql`${sql.ref(key)} = id`;
  return {
    from: sql`${sql.table(other)} cross join ${table}`,
    conditions: [comparison, isOne, ...conditions],
    id: key,
  };
}

/** Counts the rows of a list; if the only condition is on another table, counts there instead of row by row. */
export function buildCount(
  name: string,
  request: Pick<ListRequest, 'conditions' | 'categoryPlan'>,
  argument: Argument,
): RawBuilder<{ total: number }> {
  const [only, ...others] = request.conditions;
  const buildTotal = (from: RawBuilder<unknown>, conditions: readonly RawBuilder<unknown>[]) =>
    sql<{ total: number }>`select cast(count(*) as integer) as total from ${from} ${buildWhere(conditions)}`;
  if (only !== undefined && others.length === 0 && only.operator === '=' && only.join !== undefined)
    return buildTotal(sql.table(only.join.table), [buildComparisonSql(only, 0, argument)]);
  const isJoined = request.conditions.some(condition => 'join' in condition);
  const index = request.conditions.findIndex(({ column }) => column === categoryColumn);
  const condition = request.conditions[index];
  if (isJoined || condition === undefined || request.categoryPlan === undefined) {
    const { from, conditions } = buildSource(name, request, argument);
    return buildTotal(from, conditions);
  }
  // Rows in their main category are a range of an index per category; rows in a further category are looked up.
  const ids = buildIds(condition, index, argument);
  const rest = request.conditions.flatMap((other, at) =>
    at === index ? [] : [buildConditionSql(other, at, argument)],
  );
  const table = sql.table(name);
  const own = buildTotal(table, [sql`category_id in (${ids})`, ...rest]);
  if (!request.categoryPlan.hasFurther) return own;
  const inFurther = buildTotal(table, [
    sql`id in (${buildIdsInFurtherCategories(ids)})`,
    isElsewhere(ids),
    ...rest,
  ]);
  return sql<{ total: number }>`select (${own}) + (${inFurther}) as total`;
}

/** The placeholders for the paths that a condition names. */
const getPlaces = (condition: Condition, index: number, argument: Argument): PlaceArguments[] =>
  getPlaceArguments(argument, getPaths(condition).length, `c${index}`);

const buildIds = (condition: Condition, index: number, argument: Argument): RawBuilder<unknown> =>
  buildCategoryIds(getPlaces(condition, index, argument));

function buildComparisonSql(condition: Comparison, index: number, argument: Argument): RawBuilder<unknown> {
  const value = condition.literal === true ? sql.lit(condition.value) : argument[`c${index}`];
  return buildComparedSql(condition, value ?? sql`null`);
}

/** @param value the SQL for the value */
export function buildComparedSql(
  { column, operator, anyOf }: Comparison,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return buildAnyOfSql(sql`${sql.ref(column)} ${sql.raw(operator)} ${value}`, anyOf);
}

/** @param values the SQL for each value */
export function buildMembershipSql(
  { column, within, anyOf = within && [within] }: Membership,
  values: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  return buildAnyOfSql(sql`${sql.ref(column)} in (${sql.join(values)})`, anyOf);
}

/** A condition that a row of any of these tables must satisfy; without tables, a row of the list's table. */
function buildAnyOfSql(compared: RawBuilder<unknown>, tables: Comparison['anyOf']): RawBuilder<unknown> {
  if (tables === undefined) return compared;
  // With `or`, PostgreSQL would not use the index of either table.
  const parts = tables.map(
    ({ table, key }) => sql`select ${sql.ref(key)} from ${sql.table(table)} where ${compared}`,
  );
  return sql`id in (${sql.join(parts, sql` union all `)})`;
}

function buildConditionSql(condition: Condition, index: number, argument: Argument): RawBuilder<unknown> {
  if (condition.operator === 'attribute') return buildAttributeSql(condition, index, argument);
  if (condition.operator === 'is null') return sql`${sql.ref(condition.column)} is null`;
  if (condition.operator !== 'in') return buildComparisonSql(condition, index, argument);
  const list = Array.from(
    { length: chooseSize(condition.values.length) },
    (_, at) => argument[`c${index}v${at}`] ?? sql`null`,
  );
  return buildMembershipSql(condition, list);
}

export function buildWhere(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
}

/**
 * The ids of the rows of a part of a tree in the order of a list, each with its place and a value: a range of an index
 * for each category, which both databases merge while they read them. @param seek conditions on the place
 */
export function buildMergedSource(
  { conditions, categoryPlan }: Pick<ListRequest, 'conditions' | 'categoryPlan'>,
  [place, value]: readonly [string, string],
  argument: Argument,
  seek: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const { ids = [], hasFurther = false } = categoryPlan ?? {};
  const rest = conditions.flatMap((condition, index) =>
    condition.column === categoryColumn ? [] : [buildConditionSql(condition, index, argument)],
  );
  const buildPart = (own: readonly RawBuilder<unknown>[]) =>
    sql`select id as product_id, ${sql.ref(place)} as place, ${sql.ref(value)} as value
      from products ${buildWhere([...own, ...rest, ...seek])}`;
  const parts = ids.map((_, number) => buildPart([sql`category_id = ${argument[`w${number}`]}`]));
  if (hasFurther) {
    const all = sql.join(ids.map((_, number) => argument[`w${number}`]));
    parts.push(buildPart([sql`id in (${buildIdsInFurtherCategories(all)})`, isElsewhere(all)]));
  }
  return sql.join(parts, sql` union all `);
}
