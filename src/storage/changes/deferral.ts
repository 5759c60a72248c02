/** Holds changes back while the data that they change is in use. */
import type { Change } from './change.ts';

export function createDeferral(apply: (changes: readonly Change[]) => void) {
  let users = 0;
  const pending: Change[] = [];
  let applied = Promise.withResolvers<void>();

  function applyPending(): void {
    apply(pending.splice(0));
    applied.resolve();
    applied = Promise.withResolvers();
  }
  return {
    /** Whether there are changes that wait. */
    hasPending: () => pending.length > 0,
    /** Fulfilled when the changes that wait have been applied; undefined where none wait. */
    whenApplied: () => (pending.length > 0 ? applied.promise : undefined),
    /** Applies changes, now or when nothing is frozen any more. */
    submit(changes: readonly Change[]): void {
      if (users > 0) pending.push(...changes);
      else apply(changes);
    },
    /** Forgets those that wait. */
    clear(): void {
      pending.length = 0;
    },
    /** Works with what stays as it is until the work is done; the work waits for no check, which may wait for it. */
    async runFrozen<T>(work: () => T | Promise<T>): Promise<T> {
      users += 1;
      try {
        return await work();
      } finally {
        users -= 1;
        if (users === 0) applyPending();
      }
    },
  };
}
