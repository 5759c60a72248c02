/** Holds changes back while the data that they change is in use. */
import type { Change } from './change.ts';

export interface Held {
  /** Whether there are changes that wait. */
  isBehind(): boolean;
  /** Fulfilled when the changes that wait have been applied; undefined where none wait. */
  released(): Promise<void> | undefined;
  /** Applies changes, now or when nothing is held any more. */
  take(changes: readonly Change[]): void;
  /** Forgets those that wait. */
  clear(): void;
  /** Works with what stays as it is until the work is done; the work waits for no check, which may wait for it. */
  hold<T>(work: () => T | Promise<T>): Promise<T>;
}

export function createHeld(apply: (changes: readonly Change[]) => void): Held {
  let users = 0;
  const waiting: Change[] = [];
  let released = Promise.withResolvers<void>();

  function release(): void {
    apply(waiting.splice(0));
    released.resolve();
    released = Promise.withResolvers();
  }
  return {
    isBehind: () => waiting.length > 0,
    released: () => (waiting.length > 0 ? released.promise : undefined),
    take(changes) {
      if (users > 0) waiting.push(...changes);
      else apply(changes);
    },
    clear() {
      waiting.length = 0;
    },
    async hold(work) {
      users += 1;
      try {
        return await work();
      } finally {
        users -= 1;
        if (users === 0) release();
      }
    },
  };
}
