/**
 * Loads data of a collection into memory, where it then follows the collection's changes. It is read in parts, and each
 * part may see another state. So changes that are committed during the read are recorded, and replayed over its result.
 */
import type { Change, Changes, Collection } from './change.ts';

/** Changes that are recorded during a read; with more it is given up. */
const mostReplayed = 10_000;
/**
 * After an invalidation, wait ten times as long as the wasted read took, and at most a second. So an import, which
 * invalidates again and again, makes reading take a tenth of the time at most.
 */
const restFactor = 10;
const longestRest = 1000;

/** What is in memory of a collection. */
interface Kept {
  /** Everything may have changed. */
  clear(): void;
  apply(changes: readonly Change[]): void;
}

interface Loading {
  /** From when on its time counts, by `performance.now`. */
  since: number;
  readonly replayed: Change[];
  isGivenUp: boolean;
}

/** @param ending a change there may have changed everything that is kept */
export function createLoads(changes: Changes, collection: Collection, kept: Kept, ending?: Collection) {
  /** From the first moment on, so that nothing is read twice at once. */
  const begun = new Set<string>();
  const loading = new Set<Loading>();
  let restsUntil = 0;
  /** Milliseconds that reading has taken since everything may have changed. */
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
    if (spent > 0) restsUntil = performance.now() + Math.min(longestRest, restFactor * spent);
    spent = 0;
    kept.clear();
  }
  if (ending !== undefined) changes.follow(ending, end);
  changes.follow(collection, committed => {
    if (committed === undefined) return end();
    kept.apply(committed);
    for (const one of loading) {
      one.replayed.push(...committed);
      if (one.replayed.length > mostReplayed) one.isGivenUp = true;
    }
  });

  return {
    /** Whether something is being read under this name. */
    has: (name: string) => begun.has(name),
    /** Whether everything may have changed a moment ago: nothing should be read then. */
    isResting: () => performance.now() < restsUntil,
    /**
     * @param keep takes what was read, with what has changed meanwhile, at once; not called when that is too much, or
     *   everything may have changed
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
        // What it finds was committed before anything is read.
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
