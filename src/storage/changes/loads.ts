/**
 * Loads data of a collection into memory, where it then follows the collection's changes. The data is read in parts
 * that may see different states, so changes committed during the read are recorded and replayed over its result.
 */
import type { Change, Changes, Collection } from './change.ts';

/** Maximum number of changes that are recorded during a read; if there are more, the read is given up. */
const maxReplayed = 10_000;
/**
 * After an invalidation, loads pause ten times as long as the wasted read took, and at most a second: during an import,
 * which invalidates again and again, reading takes at most a tenth of the time.
 */
const restFactor = 10;
const maxRestMs = 1000;

/** The data of a collection in memory. */
interface Kept {
  /** Drops the data, since everything may have changed. */
  clear(): void;
  apply(changes: readonly Change[]): void;
}

interface Loading {
  /** The start, by `performance.now`, of the time that is not yet counted in `spent`. */
  since: number;
  readonly replayed: Change[];
  isGivenUp: boolean;
}

/** @param ending a collection any change of which may have changed all of the data */
export function createLoads(changes: Changes, collection: Collection, kept: Kept, ending?: Collection) {
  /** The names of loads that have begun, so that nothing is read twice at the same time. */
  const begun = new Set<string>();
  const loading = new Set<Loading>();
  let restsUntil = 0;
  /** Milliseconds that reads have taken since the last invalidation. */
  let spent = 0;

  function count(one: Loading): void {
    const now = performance.now();
    spent += now - one.since;
    one.since = now;
  }
  function end(): void {
    for (const one of loading) {
      count(one);
      one.isGivenUp = true;
    }
    if (spent > 0) restsUntil = performance.now() + Math.min(maxRestMs, restFactor * spent);
    spent = 0;
    kept.clear();
  }
  if (ending !== undefined) changes.follow(ending, end);
  changes.follow(collection, committed => {
    if (committed === undefined) return end();
    kept.apply(committed);
    for (const one of loading) {
      one.replayed.push(...committed);
      if (one.replayed.length > maxReplayed) one.isGivenUp = true;
    }
  });

  return {
    /** Whether something is being read under this name. */
    has: (name: string) => begun.has(name),
    /** Whether there was an invalidation a moment ago, so that nothing should be read yet. */
    isResting: () => performance.now() < restsUntil,
    /**
     * @param keep stores the result of the read and the changes during it, synchronously; not called when there were
     *   too many changes, or everything may have changed
     */
    async load<Read>(
      name: string,
      read: (isGivenUp: () => boolean) => Promise<Read>,
      keep: (read: Read, replayed: readonly Change[]) => void,
    ): Promise<void> {
      if (begun.has(name)) return;
      begun.add(name);
      const own: Loading = { since: performance.now(), replayed: [], isGivenUp: false };
      try {
        // Notifies listeners of earlier commits, so that only changes during the read are recorded.
        await changes.check();
        loading.add(own);
        const found = await read(() => own.isGivenUp);
        await changes.check();
        if (!own.isGivenUp) keep(found, own.replayed);
      } finally {
        count(own);
        loading.delete(own);
        begun.delete(name);
      }
    },
  };
}
