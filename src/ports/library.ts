/**
 * Libraries that are loaded when they are first needed: a start does not wait for them. Only where they are is looked up at
 * once: one that could not be found because too many files were open would be missing for as long as the process lives.
 */

/** @param load what of the library is needed, and what is made with it; repeated when it fails */
export function prepareLibrary<Made>(name: string, load: () => Promise<Made>): () => Promise<Made> {
  Bun.resolveSync(name, import.meta.dir);
  let made: Promise<Made> | undefined;
  return () => {
    made ??= load().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
