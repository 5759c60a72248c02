/** Stored data that the disk has changed. */
import { StorageError } from './database.ts';

/** What an operator does about a StorageError `damaged`; not part of its message, since the check itself reports it too. */
export const damageAdvice = 'run catalog check, or restore a backup';

export const isDamage = (error: unknown): error is StorageError =>
  error instanceof StorageError && error.kind === 'damaged';

/**
 * Texts of JSON are stored to be served as they are, and SQLite keeps no sums of its pages: one letter that was
 * changed would otherwise make a whole list unreadable, and nothing would show it.
 * @throws StorageError `damaged` when the text is not valid JSON
 */
export function parseStored<T>(text: string): T {
  try {
    // Boundary: only this program writes such texts, and anyone who reads one names what was written.
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new StorageError('damaged', 'A stored document is not valid JSON', { cause });
  }
}

/** The same, for a text that is served as it is. Costs 2 microseconds for a product. */
export function requireWhole(text: string): string {
  parseStored(text);
  return text;
}
