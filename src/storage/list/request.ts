/** The request of a list, its page, and the options of lists. */
import type { CompiledQuery, RawBuilder } from 'kysely';
import type { AttributeCondition } from '../attributes/condition.ts';
import type { Collection } from '../changes/change.ts';
import type { CachedRows } from '../changes/rows.ts';
import type { Columns } from '../columns/index.ts';
import type { Session } from '../database.ts';
import type { Tables } from '../tables.ts';

/** The position of a row in an order: its value in the sort column and its id, which breaks ties. */
export interface Key {
  readonly value: string | number;
  readonly id: number;
}

export interface Comparison {
  readonly column: string;
  readonly operator: '=' | '>' | '>=' | '<' | '<=';
  readonly value: string | number;
  /** Puts the value into the text of the query, so that partial indexes apply; only for a closed set of values. */
  readonly literal?: boolean;
  /** The table of the column, if it is another one; its column `key` has the ids of the rows of the list. */
  readonly join?: TableKey;
  /** Tables that all have this column; a row of any of them may match, and its `key` names the row of the list. */
  readonly anyOf?: readonly TableKey[];
}

/** A table, and its column that has the ids of the rows of the list. */
interface TableKey {
  readonly table: keyof Tables & string;
  readonly key: string;
}

export type JoinCondition = Comparison & { readonly join: NonNullable<Comparison['join']> };

interface Absence {
  readonly column: string;
  readonly operator: 'is null';
  readonly value: '';
  readonly literal: true;
}

/** A condition that the row has one of several values. */
export interface Membership {
  readonly column: string;
  readonly operator: 'in';
  readonly values: readonly (string | number)[];
  /** All values, as JSON. */
  readonly value: string;
  readonly literal?: false;
  /** The table of the column, unless it is that of the list, or the column stands for a part of a tree. */
  readonly within?: TableKey;
  /** As in Comparison. */
  readonly anyOf?: readonly TableKey[];
}

/** A condition on a column of the list's table, or of another table that refers to it. */
export type ColumnCondition = Comparison | Absence | Membership;
export type Condition = ColumnCondition | AttributeCondition;

/** Conditions that columns have these values; undefined values give no condition. */
export function createEqualConditions(
  values: Readonly<Record<string, string | number | undefined>>,
): Condition[] {
  return Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, operator: '=', value }],
  );
}

export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

export interface PageByOffset {
  readonly kind: 'offset';
  readonly page: number;
  readonly perPage: number;
}

export interface PageByKey {
  readonly kind: 'key';
  readonly limit: number;
  readonly after?: Key;
  readonly before?: Key;
  readonly count: boolean;
}

export type PageRequest = PageByOffset | PageByKey;

export interface ListRequest {
  readonly conditions: readonly Condition[];
  readonly order: Order;
  readonly page: PageRequest;
  /** Columns that are counted as facets: each without the conditions on itself. */
  readonly facets?: readonly string[];
  /** Whether it counts or skips very many rows, and therefore is read in the background. */
  readonly inBackground?: boolean;
  /** The column whose values are read if all keys of a filter are read, part by part. */
  readonly value?: string;
  /** For a condition with a `join` that very many rows may match; decided by join-plan.ts. */
  readonly joinPlan?: JoinPlan;
  /** For a condition on a part of a tree that is not a single category; decided by category-plan.ts. */
  readonly categoryPlan?: CategoryPlan;
  /** The conditions for statements, where they differ from `conditions`. */
  readonly resolved?: readonly Condition[];
  /** The version of the collection in whose state `categoryPlan` and `resolved` were made. */
  readonly locatedAt?: number;
}

/** Whether a filter is by an attribute, or by several values: no index has such rows in the order of the list. */
export const hasSetCondition = ({ conditions }: Pick<ListRequest, 'conditions'>): boolean =>
  conditions.some(condition => condition.operator === 'attribute' || 'within' in condition);

/** Whether the changes of its collection alone decide which rows a list has. */
export const isFollowed = ({ conditions }: Pick<ListRequest, 'conditions'>): boolean =>
  !conditions.some(condition => 'anyOf' in condition);

/** Whether the plan of a request, if any, was made in the state of a version. */
export const isLocatedAt = ({ locatedAt }: ListRequest, version: number | undefined): boolean =>
  locatedAt === undefined || locatedAt === version;

/** How the rows of a part of a tree are found: see category-plan.ts. */
export interface CategoryPlan {
  readonly kind: 'gathered' | 'merged' | 'probed';
  /** The categories whose ranges are merged. */
  readonly ids: readonly number[];
  /** Whether there are more categories than rows to check. */
  readonly isWide: boolean;
  /** Whether rows are listed there by a further category, in addition to their main one. */
  readonly hasFurther: boolean;
  readonly background: boolean;
}

interface JoinPlan {
  /** Whether rows are read in order and looked up in the other table, instead of being found there and sorted. */
  readonly probed: boolean;
  /** Whether it may take long, and must be read in the background. */
  readonly background: boolean;
}

export interface Listed<Row> {
  readonly rows: readonly (Row & Positioned)[];
  /** Exact; undefined when it was not requested. */
  readonly total: number | undefined;
  /** Whether rows precede or follow this page. */
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

/** Makes a page by cursor from rows in its direction: one row more than its limit shows that another page follows. */
export function cutKeyPage<Row>(
  { before, after, limit }: Omit<PageByKey, 'kind' | 'count'>,
  found: readonly Row[],
) {
  const backwards = before !== undefined;
  const more = found.length > limit;
  const rows = found.slice(0, limit);
  if (backwards) rows.reverse();
  return { rows, hasPrevious: backwards ? more : after !== undefined, hasNext: backwards || more };
}

/** A page in the state of a version of its collection; NaN where the version is unknown. */
export interface ListedAt<Row> extends Listed<Row> {
  readonly version: number;
}

export interface Positioned {
  readonly id: number;
  readonly sort_value: string | number;
}

interface VersionedId {
  readonly id: number;
  /** The version of the collection when the row was read. */
  readonly version: number;
}

export interface ListOptions<Row = unknown> {
  readonly table: keyof Tables & string;
  /** The columns that are read, or an expression for each name. */
  readonly columns: readonly string[] | Readonly<Record<string, RawBuilder<unknown>>>;
  /** Reads rows by their ids, in any order, if there is a cheaper way than to read `columns`. */
  readonly rowsById?: (session: Session, ids: readonly number[]) => Promise<(Row & VersionedId)[]>;
  /** The collection whose changes are those of the table; without it, nothing is cached. */
  readonly collection?: Collection;
  /** A cache of rows, so that lists only read the keys of cached rows. */
  readonly rows?: Pick<CachedRows<Row & { readonly id: number }>, 'getAt' | 'keep'>;
  /** Columns with texts that may be so long that an embedded database reads only a few at a time. */
  readonly longColumns?: readonly string[];
  /** Columns in memory, by which conditions on attributes are evaluated. */
  readonly inMemory?: Columns;
  /** Reads a total that is kept up to date, with the collection's version; undefined if these conditions have none. */
  readonly keptTotal?: (
    conditions: readonly Condition[],
    categoryPlan?: CategoryPlan,
  ) => CompiledQuery<Total> | undefined;
  /** Whether lists are filtered by the paths of categories. */
  readonly isCategorized?: boolean;
  /** A column of numbers, never null, that lists can be filtered by ranges of, and sorted by. */
  readonly rangeColumn?: string;
  /** Numeric orders that may be held in memory, for lists that are filtered only by these columns or the range. */
  readonly inOrder?: { readonly orders: readonly string[]; readonly filters: readonly string[] };
  /** Other columns of filters whose matching rows must be counted, and may be very many. */
  readonly countedColumns?: readonly string[];
}

export interface Total {
  readonly total: number;
  readonly version: number;
}
