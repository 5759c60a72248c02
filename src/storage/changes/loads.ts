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

export function followedLoads(changes: Changes, collection: Collection, kept: Kept): Loads {
  const loading = new Map<string, Loading>();
  let restsUntil = 0;

  changes.follow(collection, committed => {
    if (committed === undefined) {
      if (!kept.isEmpty() || loading.size > 0) restsUntil = performance.now() + restMs;
      kept.clear();
      for (const one of loading.values()) one.isGivenUp = true;
      return;
    }
    kept.apply(committed);
    for (const one of loading.values()) {
      one.replayed.push(...committed);
      if (one.replayed.length > mostReplayed) one.isGivenUp = true;
    }
  });

  return {
    has: name => loading.has(name),
    isResting: () => performance.now() < restsUntil,
    async load(name, read, keep) {
      const own: Loading = { replayed: [], isGivenUp: false };
      await changes.look();
      loading.set(name, own);
      try {
        const found = await read(() => own.isGivenUp);
        await changes.look();
        if (!own.isGivenUp) keep(found, own.replayed);
      } finally {
        loading.delete(name);
      }
    },
  };
}
