/** Holds changes back while the data that they change is in use. */
import type { Change } from './change.ts';

export interface Deferral {
  /** Whether there are changes that wait. */
  hasPending(): boolean;
  /** Fulfilled when the changes that wait have been applied; undefined where none wait. */
  whenApplied(): Promise<void> | undefined;
  /** Applies changes, now or when nothing is frozen any more. */
  submit(changes: readonly Change[]): void;
  /** Forgets those that wait. */
  clear(): void;
  /** Works with what stays as it is until the work is done; the work waits for no check, which may wait for it. */
  runFrozen<T>(work: () => T | Promise<T>): Promise<T>;
}

export function createDeferral(apply: (changes: readonly Change[]) => void): Deferral {
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
    whenApplied: () => (pending.length > 0 ? applied.promise : undefined),
    submit(changes) {
      if (users > 0) pending.push(...changes);
      else apply(changes);
    },
    clear() {
      pending.length = 0;
    },
    async runFrozen(work) {
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
