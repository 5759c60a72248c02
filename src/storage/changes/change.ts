/** The changes that caches are notified of, and the collections that they cache. */
import type { CompiledQuery } from 'kysely';

/** The values that a row is filtered and sorted by, by column; a list where any of several values may match. */
export type Values = Readonly<Record<string, string | number | null | readonly string[]>> & {
  readonly id: number;
};

export function isSameValue(one: Values[string] | undefined, other: Values[string] | undefined): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/** One row before and after a change; `before` is undefined if it was created, `after` if it was deleted. */
export interface Change {
  readonly id: number;
  readonly before: Values | undefined;
  readonly after: Values | undefined;
  /** The representation after the change, from the event; null if the row was deleted. */
  readonly document: string | null;
}

/** A collection with cached data. */
export interface Collection {
  /** Its name in collection_versions. */
  readonly name: string;
  /** How its events are read; without this, any change of the collection drops everything cached of it. */
  readonly events?: {
    /** The name of the resource in its events. */
    readonly resource: string;
    /** @param document the representation of the row with this id, from the event */
    valuesOf(id: number, document: string): Values;
    /** The columns whose values index lists, to find those that a change concerns; columns with most values first. */
    readonly keys: readonly string[];
  };
}

/**
 * @param changes in their order; undefined when there were too many to read, or anything may have changed
 * @param ids the rows concerned, when there were too many changes to read; undefined when any row may have changed
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
   * Notifies the listeners of everything committed until now. Requests in one turn of the event loop share one check.
   * @returns undefined when nothing was committed since the last check: the caches are then as new as the database
   */
  check(): Promise<void> | undefined;
  /**
   * Checks in a snapshot that has read nothing yet: the caches then show the state that the session sees.
   * @param checked called after that; no other check begins before its result is settled
   */
  checkIn<T>(session: CheckedSession, checked: () => T | Promise<T>): Promise<T>;
  /** The collection's version at the last check, which the caches show. */
  version(collection: Collection): number | undefined;
  follow(collection: Collection, listener: Listener): void;
  /** How often cached responses have been served, for /metrics. */
  readonly uses: { readonly lists: CacheUse; readonly resources: CacheUse };
}
