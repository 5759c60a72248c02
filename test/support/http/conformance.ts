/** Published test data, kept beside the repository. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The path of a file of published test data, in `shared/conformance` beside the repository; undefined where
 * it does not exist, so that the tests that need it can be skipped.
 */
export function conformance(...segments: string[]): string | undefined {
  const repository = join(import.meta.dir, '..', '..', '..');
  const path = join(repository, '..', 'shared', 'conformance', ...segments);
  return existsSync(path) ? path : undefined;
}
