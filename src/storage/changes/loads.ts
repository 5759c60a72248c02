/**
 * Reading what is then kept in memory and follows the changes of its collection. It is read in parts, each of which sees
 * another state: what changes meanwhile is recorded, and put in the place of what was read before it is used.
 */
import type { Change, Changes, Collection } from './change.ts';

/** Rows that change while something is read, at most: with more it is given up. */
const mostReplayed = 10_000;
/** Milliseconds for which nothing is read after everything may have changed: as in an import, again and again. */
const restMs = 1000;

/** What is in memory of a collection. */
interface Kept {
  isEmpty(): boolean;
  /** Everything may have changed. */
  clear(): void;
  apply(changes: readonly Change[]): void;
}

interface Loading {
  readonly replayed: Change[];
  isGivenUp: boolean;
}

export interface Loads {
  /** Whether something is being read under this name. */
  has(name: string): boolean;
  /** Whether everything may have changed a moment ago: nothing should be read then. */
  isResting(): boolean;
  /**
   * @param keep takes what was read, with what has changed meanwhile, at once; not called when that is too much, or
   *   everything may have changed
   */
  load<Read>(
    name: string,
    read: (isGivenUp: () => boolean) => Promise<Read>,
    keep: (read: Read, replayed: readonly Change[]) => void,
  ): Promise<void>;
}

/** @param ending any change of which may have changed everything that is kept */
export function followedLoads(
  changes: Changes,
  collection: Collection,
  kept: Kept,
  ending?: Collection,
): Loads {
  /** From the first moment on, so that nothing is read twice at once. */
  const begun = new Set<string>();
  const loading = new Set<Loading>();
  let restsUntil = 0;

  function end(): void {
    if (!kept.isEmpty() || loading.size > 0) restsUntil = performance.now() + restMs;
    kept.clear();
    for (const one of loading) one.isGivenUp = true;
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
    has: name => begun.has(name),
    isResting: () => performance.now() < restsUntil,
    async load(name, read, keep) {
      if (begun.has(name)) return;
      begun.add(name);
      const own: Loading = { replayed: [], isGivenUp: false };
      try {
        // What it finds was committed before anything is read.
        await changes.check();
        loading.add(own);
        const found = await read(() => own.isGivenUp);
        await changes.check();
        if (!own.isGivenUp) keep(found, own.replayed);
      } finally {
        loading.delete(own);
        begun.delete(name);
      }
    },
  };
}
