/** What is requested of a list, and what it gives. */
import type { CompiledQuery, RawBuilder } from 'kysely';
import type { AttributeCondition } from '../attributes/condition.ts';
import type { Collection } from '../changes/change.ts';
import type { CachedRows } from '../changes/rows.ts';
import type { Columns } from '../columns/index.ts';
import type { Session } from '../database.ts';
import type { Tables } from '../tables.ts';

/** Where a row stands in an order: its value in the sort column and its id, which breaks ties. */
export interface Key {
  readonly value: string | number;
  readonly id: number;
}

export interface Comparison {
  readonly column: string;
  readonly operator: '=' | '>' | '>=' | '<' | '<=';
  readonly value: string | number;
  /** Put the value into the query's text: only for a closed set of values, so that partial indexes apply. */
  readonly literal?: boolean;
  /** The column is one of another table, whose column `key` names the rows of this one that it speaks of. */
  readonly join?: TableKey;
  /** A row of any of these tables may have it in a column of this name: each names by its key the row that it is of. */
  readonly anyOf?: readonly TableKey[];
}

/** A table, and the column of it that names rows of the list's own. */
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

/** The row has one of several values. */
export interface Membership {
  readonly column: string;
  readonly operator: 'in';
  readonly values: readonly (string | number)[];
  /** All of them, as JSON. */
  readonly value: string;
  readonly literal?: false;
  /** Where the column is, unless it is one of the list's own table, or stands for a part of a tree. */
  readonly within?: TableKey;
  /** As of a comparison. */
  readonly anyOf?: readonly TableKey[];
}

/** A condition on a column of the list's own table, or of another that names its rows. */
export type ColumnCondition = Comparison | Absence | Membership;
export type Condition = ColumnCondition | AttributeCondition;

/** That columns have these values, each that is given. */
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

export type PageRequest =
  | { readonly kind: 'offset'; readonly page: number; readonly perPage: number }
  | {
      readonly kind: 'key';
      readonly limit: number;
      readonly after?: Key;
      readonly before?: Key;
      readonly count: boolean;
    };

export interface ListRequest {
  readonly conditions: readonly Condition[];
  readonly order: Order;
  readonly page: PageRequest;
  /** Columns that are counted beside the page: each without the conditions on itself. */
  readonly facets?: readonly string[];
  /** It counts, or reads past, very many rows: in the background, where no other request waits. */
  readonly inBackground?: boolean;
  /** The column whose values are read with all keys of a filter, part by part. */
  readonly value?: string;
  /** For a condition with a `join` that most rows may match; decided by join-plan.ts. */
  readonly joinPlan?: JoinPlan;
  /** For a condition on a part of a tree that is not a single category; decided by category-plan.ts. */
  readonly categoryPlan?: CategoryPlan;
  /** The conditions as statements have them, where that is another way to say them. */
  readonly resolved?: readonly Condition[];
  /** The state that `categoryPlan` and `resolved` are of: that of a version of the collection. */
  readonly locatedAt?: number;
}

/** Whether some filter is by an attribute, or by any of several values: no index has its rows in an order. */
export const hasSetCondition = ({ conditions }: Pick<ListRequest, 'conditions'>): boolean =>
  conditions.some(condition => condition.operator === 'attribute' || 'within' in condition);

/** Whether the changes of the list's collection say all that decides which rows it has. */
export const isFollowed = ({ conditions }: Pick<ListRequest, 'conditions'>): boolean =>
  !conditions.some(condition => 'anyOf' in condition);

/** Whether what a request stands for is of the state of a version. */
export const isLocatedAt = ({ locatedAt }: ListRequest, version: number | undefined): boolean =>
  locatedAt === undefined || locatedAt === version;

/** How the rows of a part of a tree are found: see category-plan.ts. */
export interface CategoryPlan {
  readonly kind: 'gathered' | 'merged' | 'probed';
  /** Those whose ranges are merged. */
  readonly ids: readonly number[];
  /** Whether it has more categories than rows are looked at. */
  readonly isWide: boolean;
  /** Whether rows are listed there besides their main category. */
  readonly hasFurther: boolean;
  readonly background: boolean;
}

interface JoinPlan {
  /** Rows are read in their order and looked up there, instead of being found there and sorted. */
  readonly probed: boolean;
  /** It may take long: read it where no other request waits. */
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

/** A page by cursor of what was read in its direction: one row more than it has says whether another follows. */
export function cutKeyPage<Row>(
  { before, after, limit }: Pick<PageRequest & { kind: 'key' }, 'before' | 'after' | 'limit'>,
  found: readonly Row[],
) {
  const backwards = before !== undefined;
  const more = found.length > limit;
  const rows = found.slice(0, limit);
  if (backwards) rows.reverse();
  return { rows, hasPrevious: backwards ? more : after !== undefined, hasNext: backwards || more };
}

/** A page of the state of a version of its collection; NaN where nothing says which. */
export interface ListedAt<Row> extends Listed<Row> {
  readonly version: number;
}

export interface Positioned {
  readonly id: number;
  readonly sort_value: string | number;
}

interface VersionedId {
  readonly id: number;
  /** The collection's, when the row was read. */
  readonly version: number;
}

export interface ListOptions<Row = unknown> {
  readonly table: keyof Tables & string;
  /** What is read of each row: the names of columns, or what is to be read under each name. */
  readonly columns: readonly string[] | Readonly<Record<string, RawBuilder<unknown>>>;
  /** Reads rows by their ids, in any order, where there is a cheaper way than by their columns. */
  readonly rowsById?: (session: Session, ids: readonly number[]) => Promise<(Row & VersionedId)[]>;
  /** What says how the table has changed; without it nothing is cached. */
  readonly collection?: Collection;
  /** Rows that need not be read again where the list only says which they are. */
  readonly rows?: Pick<CachedRows<Row & { readonly id: number }>, 'getAt' | 'keep'>;
  /** Texts that may be so long that an embedded database reads only some of them at a time. */
  readonly longColumns?: readonly string[];
  /** Columns in memory, which decide conditions on attributes. */
  readonly inMemory?: Columns;
  /** A total that need not be counted, with the collection's version; undefined when these conditions have none. */
  readonly keptTotal?: (
    conditions: readonly Condition[],
    categoryPlan?: CategoryPlan,
  ) => CompiledQuery<Total> | undefined;
  /** Whether lists are filtered by the paths of categories. */
  readonly isCategorized?: boolean;
  /** A column of numbers, never null, that lists are filtered by ranges of; it is also one of their orders. */
  readonly rangeColumn?: string;
  /** Orders by numbers that may be held in memory, of lists that are filtered by these columns or the range. */
  readonly inOrder?: { readonly orders: readonly string[]; readonly filters: readonly string[] };
  /** Other columns that lists are filtered by and whose values very many rows may have: they are counted. */
  readonly countedColumns?: readonly string[];
}

export interface Total {
  readonly total: number;
  readonly version: number;
}
