/** What every reader of this folder yields, and the limits that keep its memory constant. */
import { isObject } from '../json-object.ts';

/**
 * One record of a file: a CSV row, an NDJSON line or an element of a JSON array.
 * Exactly one of `value` and `error` is set.
 */
export interface SourceRecord {
  /** The physical line on which the record starts; the first line of the file is 1. */
  readonly line: number;
  readonly value: Record<string, unknown> | undefined;
  /** The columns of the table it is a row of: the same array for all its rows. */
  readonly columns?: readonly string[];
  /** Why the record cannot be read, as a phrase for people. */
  readonly error: string | undefined;
  /** With `error`: the problem concerns the whole file; nothing of it can be read. */
  readonly fatal?: true;
  /** The text of the record without its line end; only its beginning when the record is too long. */
  readonly raw: string;
}

/** The longest record that is read, such as a product with 10,000 variants: bytes for a line, UTF-16 units for a record of several lines. */
export const maxRecordLength = 8 * 1024 * 1024;

/** How much of a record that is too long is kept in `raw`. */
export const maxRawOfTooLong = 1000;

export const tooLong = 'is longer than 8 MiB';
export const notUtf8 = 'is not valid UTF-8 text; save the file as UTF-8';
const notObject = 'is not a JSON object';

function createReadableRecord(line: number, value: Record<string, unknown>, raw: string): SourceRecord {
  return { line, value, error: undefined, raw };
}

export function createUnreadableRecord(line: number, error: string, raw: string): SourceRecord {
  return { line, value: undefined, error, raw };
}

/** Reads the JSON text of one record; anything that is not an object becomes a record with an error. */
export function parseRecord(line: number, text: string): SourceRecord {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value)
      ? createReadableRecord(line, value, text)
      : createUnreadableRecord(line, notObject, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON Parse error: /, '') : 'unreadable';
    return createUnreadableRecord(line, `is not valid JSON: ${reason}`, text);
  }
}

/**
 * True when a record may not be taken because its bytes were not UTF-8. `damaged` says that the text around
 * it had to be decoded with replacement characters; the record is refused if it holds one of them.
 */
export function holdsDamage(damaged: boolean, text: string): boolean {
  return damaged && text.includes('\uFFFD');
}
