/** Work that several callers request at once is done once, and all of them get its result. */

/** @returns a function that starts the work of a name, or joins the work of that name that is under way */
export function createOnce<Result>(): (name: string, work: () => Promise<Result>) => Promise<Result> {
  const running = new Map<string, Promise<Result>>();
  return (name, work) => running.getOrInsertComputed(name, () => work().finally(() => running.delete(name)));
}
