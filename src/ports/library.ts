/**
 * Loads libraries when they are first needed, so that a start does not wait for them. Only their paths are resolved at
 * once: a lookup that fails because too many files are open would fail for as long as the process lives.
 */
import { succeedOnce } from '../turns/once.ts';

/** @param load imports the library and creates what is needed of it; repeated if it fails */
export function prepareLibrary<Made>(name: string, load: () => Promise<Made>): () => Promise<Made> {
  Bun.resolveSync(name, import.meta.dir);
  return succeedOnce(load);
}
