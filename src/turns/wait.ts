/** Waits for a promise, for a limited time; and runs work at intervals. */

/** @returns undefined if the time is up first; the promise is then ignored, even if it is rejected */
export function waitAtMost<T>(awaited: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  const timer = setTimeout(resolve, milliseconds, undefined);
  awaited.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

/**
 * Runs work at intervals, one run after the other.
 * @param work is never rejected: its errors are reported where they occur
 * @returns a function that begins no other run; it resolves when the one under way has ended
 */
export function runAtIntervals(work: () => Promise<void>, milliseconds: number): () => Promise<void> {
  let last = Promise.resolve();
  const timer = setInterval(() => {
    last = last.then(work);
  }, milliseconds);
  return () => {
    clearInterval(timer);
    return last;
  };
}
