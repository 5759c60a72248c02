/** Defers changes while the data that they change is in use. */
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
    hasPending: () => pending.length > 0,
    /** Fulfilled when the pending changes have been applied; undefined if there are none. */
    whenApplied: () => (pending.length > 0 ? applied.promise : undefined),
    /** Applies changes, now or when the data is no longer in use. */
    submit(changes: readonly Change[]): void {
      if (users > 0) pending.push(...changes);
      else apply(changes);
    },
    /** Drops the pending changes. */
    clear(): void {
      pending.length = 0;
    },
    /** Runs work during which the data stays the same. The work must not wait for a check, which may wait for it. */
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
