/** Work that several callers request is done once, and all of them get its result. */

/** @returns a function that starts the work of a name, or joins the work of that name that is under way */
export function createOnce<Result>(): (name: string, work: () => Promise<Result>) => Promise<Result> {
  const running = new Map<string, Promise<Result>>();
  return (name, work) => running.getOrInsertComputed(name, () => work().finally(() => running.delete(name)));
}

/** @returns a function that calls `make` until it succeeds, and then always returns its result */
export function succeedOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
