/** A candidate for a product, as a file describes it. */
import { type Mapping, pickMember } from '../../../files/cells/map.ts';
import type { SourceRecord } from '../../../files/read.ts';
import type { ErrorDetail } from '../../../http/errors.ts';

export interface Candidate extends Pick<SourceRecord, 'short'> {
  readonly line: number;
  readonly raw: string;
  /** Members of the product to create; undefined when the record cannot be read. */
  readonly fields: Record<string, unknown> | undefined;
  readonly error?: string;
  readonly details?: readonly ErrorDetail[];
  /** Members → the columns that they come from, where their names differ. */
  readonly columns?: ReadonlyMap<string, string>;
  /** How many records of the file have been read up to the end of this candidate. */
  readonly position: number;
}

/** What to report in addition to the candidates. */
export interface Notices {
  /** Counts an occurrence of `text`. */
  note(text: string): void;
  /** Reports a line at once. */
  say(text: string): void;
  /** Columns that nothing was taken from. */
  unused: readonly string[];
  /** Records of the file read so far. */
  rows: number;
  /** The bytes of these records; undefined if that is what the source has read. */
  bytesRead?: () => number;
}

/**
 * A missing column that the command line names is a mistake in the command: report it once, not for each line.
 * @param hint follows the message
 */
export function requireMapped(first: Readonly<Record<string, unknown>>, mapping: Mapping, hint = ''): void {
  for (const [field, column] of mapping) {
    if (pickMember(first, column) !== undefined) continue;
    const names = Object.keys(first).join(', ');
    throw new Error(`the first record has no column "${column}" for ${field}; it has ${names}${hint}`);
  }
}
