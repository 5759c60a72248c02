/** The records that all readers of this folder yield, and the limits that keep their memory constant. */
import { isObject } from '../json-object.ts';

/**
 * One record of a file: a CSV row, an NDJSON line, an element of a JSON array or an item of an XML feed.
 * Exactly one of `value` and `error` is set.
 */
export interface SourceRecord {
  /** The physical line on which the record starts; the first line of the file is 1. */
  readonly line: number;
  readonly value: Record<string, unknown> | undefined;
  /** The columns of the table: the same array for all rows. */
  readonly columns?: readonly string[];
  /** Why the record cannot be read, as a phrase for people. */
  readonly error: string | undefined;
  /** With `value`: the row has fewer cells than the header, so that the others are empty; says so for people. */
  readonly short?: { readonly cells: number; readonly problem: string } | undefined;
  /** With `error`: the problem concerns the whole file, and no more records can be read. */
  readonly fatal?: true;
  /** The text of the record without its line end; only its beginning when the record is too long. */
  readonly raw: string;
}

/** The longest record, such as a product with 10,000 variants: in bytes for a line, else in UTF-16 units. */
export const maxRecordLength = 8 * 1024 * 1024;

/** How much of a record that is too long is kept in `raw`. */
export const maxRawOfTooLong = 1000;

export const tooLong = 'is longer than 8 MiB';
export const notUtf8 = 'is not valid UTF-8 text; save the file as UTF-8';
const notObject = 'is not a JSON object';

export function createUnreadableRecord(line: number, error: string, raw: string): SourceRecord {
  return { line, value: undefined, error, raw };
}

/** Reads the JSON text of one record; anything that is not an object becomes a record with an error. */
export function parseRecord(line: number, text: string): SourceRecord {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value)
      ? { line, value, error: undefined, raw: text }
      : createUnreadableRecord(line, notObject, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON Parse error: /, '') : 'unreadable';
    return createUnreadableRecord(line, `is not valid JSON: ${reason}`, text);
  }
}

/**
 * Whether a record must be refused because its bytes were not UTF-8. `damaged` says that the text around it was
 * decoded with replacement characters; the record is refused if it contains one of them.
 */
export function holdsDamage(damaged: boolean, text: string): boolean {
  return damaged && text.includes('\uFFFD');
}
