/** Waits for a promise, for a limited time. */

/** @returns undefined if the time is up first; the promise is then ignored, even if it is rejected */
export function waitAtMost<T>(awaited: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  const timer = setTimeout(resolve, milliseconds, undefined);
  awaited.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
