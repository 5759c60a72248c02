/** Stored text that the disk has changed. */
import { StorageError } from './database.ts';

/**
 * Texts of JSON are stored to be served as they are, and SQLite keeps no sums of its pages. A block that was zeroed
 * reads as NUL, which JSON never has unescaped (RFC 8259 section 7), and most other garbage is no UTF-8 and reads as
 * U+FFFD: only texts with either are parsed to know. Costs a microsecond for 10,000 characters.
 * @throws StorageError `damaged` when such a text is no JSON
 */
export function requireWhole(text: string): string {
  if (!text.includes('\0') && !text.includes('\ufffd')) return text;
  try {
    JSON.parse(text);
    return text;
  } catch (cause) {
    throw new StorageError(
      'damaged',
      'A stored document is no JSON: run catalog check, or restore a backup.',
      {
        cause,
      },
    );
  }
}
