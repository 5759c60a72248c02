/** What caches learn of changes, and what they say of themselves. */
import type { CompiledQuery } from 'kysely';

/** What a row is filtered and sorted by, by the names of columns; a list where each of several values may match. */
export type Values = Readonly<Record<string, string | number | null | readonly string[]>> & {
  readonly id: number;
};

export function isSameValue(one: Values[string] | undefined, other: Values[string] | undefined): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/** One row before and after a change; undefined if it did not exist before, or does not after. */
export interface Change {
  readonly id: number;
  readonly before: Values | undefined;
  readonly after: Values | undefined;
  /** What its event says of the row after it. */
  readonly document: string | null;
}

/** A collection with something in caches. */
export interface Collection {
  /** As in collection_versions. */
  readonly name: string;
  /** How its events say what has changed; without it any change of the collection ends all that is cached of it. */
  readonly events?: {
    /** As its events name it. */
    readonly resource: string;
    /** @param document what the event says of the row with this id */
    valuesOf(id: number, document: string): Values;
    /** The columns that lists are found by when one of their values changes, those with most values first. */
    readonly keys: readonly string[];
  };
}

/**
 * @param changes in their order; undefined when anything may have changed
 * @param ids where changes were too many to be read, the rows that they concern; undefined where any row may have changed
 */
export type Listener = (changes: readonly Change[] | undefined, ids?: ReadonlySet<number>) => void;

interface CacheUse {
  hits: number;
  misses: number;
}

/** What a check needs of a session. */
export interface CheckedSession {
  all<Row>(query: CompiledQuery<Row>): Promise<Row[]>;
}

export interface Changes {
  /**
   * Notifies the listeners of what has been committed before now. The requests of one turn of the event loop share one check.
   * @returns undefined when nothing has been; what is cached is then as new as the database
   */
  check(): Promise<void> | undefined;
  /**
   * A check by what a session sees, one that sees one state and has read nothing yet: what is cached is then of that state.
   * @param checked is called then; no other check begins before what it returns is there
   */
  checkIn<T>(session: CheckedSession, checked: () => T | Promise<T>): Promise<T>;
  /** The collection's version at the last check: what is cached of it shows that state. */
  version(collection: Collection): number | undefined;
  follow(collection: Collection, listener: Listener): void;
  /** How often cached responses have been served, for /metrics. */
  readonly uses: { readonly lists: CacheUse; readonly resources: CacheUse };
}
