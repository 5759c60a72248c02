/** What is asked of a list, and what it gives. */
import type { CompiledQuery } from 'kysely';
import type { Collection } from '../changes/change.ts';
import type { CachedRows } from '../changes/rows.ts';
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
  readonly through?: { readonly table: keyof Tables & string; readonly key: string };
}

export type ThroughCondition = Comparison & { readonly through: NonNullable<Comparison['through']> };

interface Absence {
  readonly column: string;
  readonly operator: 'is null';
  readonly value: '';
  readonly literal: true;
}

export type Condition = Comparison | Absence;

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
  /** It counts, or reads past, very many rows: in the background, where nobody else waits. */
  readonly inBackground?: boolean;
  /** For a condition `through` another table that most rows may meet; decided by through.ts. */
  readonly through?: ThroughPlan;
}

interface ThroughPlan {
  /** Rows are read in their order and looked up there, instead of being found there and sorted. */
  readonly probed: boolean;
  /** It may take long: read it where nobody else waits. */
  readonly background: boolean;
}

export interface Listed<Row> {
  readonly rows: readonly (Row & Positioned)[];
  /** Exact; undefined when the request did not ask for it. */
  readonly total: number | undefined;
  /** Whether rows precede or follow this page. */
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
}

export interface Positioned {
  readonly id: number;
  readonly sort_value: string | number;
}

export interface ListOptions<Row = unknown> {
  readonly table: keyof Tables & string;
  readonly columns: readonly string[];
  /** What tells how the table has changed; without it nothing is cached. */
  readonly collection?: Collection;
  /** Rows that need not be read again where the list only says which they are. */
  readonly rows?: Pick<CachedRows<Row & { readonly id: number }>, 'get' | 'keep'>;
  /** A total that need not be counted, with the collection's version; undefined when these conditions have none. */
  readonly keptTotal?: (conditions: readonly Condition[]) => CompiledQuery<Total> | undefined;
  /** A column of numbers, never null, that lists are filtered by ranges of; it is also one of their orders. */
  readonly rangeColumn?: string;
}

export interface Total {
  readonly total: number;
  readonly version: number;
}
