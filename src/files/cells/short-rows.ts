/**
 * Rows of a CSV that lack cells at their end. Excel leaves out the last cells of 16 rows in a row if all are empty, so
 * its short rows follow each other, each with as many cells. A short row among others is part of a line that a line
 * break without quotation marks has cut in two: nothing of it may be read.
 */
import { createUnreadableRecord, type SourceRecord } from '../record.ts';

/**
 * @returns a function that takes the next records of a file and returns those that are decided, in their order; a short
 *   row waits for the row after it. Refused rows become records with an error.
 */
export function createShortRowFilter(): (records: SourceRecord[], isEnd: boolean) => SourceRecord[] {
  let held: SourceRecord | undefined;
  /** The number of cells of the short rows directly before, if they were accepted. */
  let run: number | undefined;
  let wasRefused = false;

  /** @param next the number of cells of the row after it if that is short, too */
  function decide(record: SourceRecord, next: number | undefined, isLast: boolean): SourceRecord {
    const { short } = record;
    if (short === undefined) {
      [run, wasRefused] = [undefined, false];
      return record;
    }
    const { cells, problem } = short;
    const isAccepted = cells === run || cells === next || (isLast && !wasRefused);
    [run, wasRefused] = [isAccepted ? cells : undefined, !isAccepted];
    return isAccepted ? record : createUnreadableRecord(record.line, problem, record.raw);
  }

  return (records, isEnd) => {
    if (held === undefined && run === undefined && !wasRefused && !records.some(({ short }) => short))
      return records;
    const decided: SourceRecord[] = [];
    for (const record of records) {
      if (held !== undefined) decided.push(decide(held, record.short?.cells, false));
      held = record;
      if (record.short !== undefined) continue;
      decided.push(decide(record, undefined, false));
      held = undefined;
    }
    if (isEnd && held !== undefined) decided.push(decide(held, undefined, true));
    return decided;
  };
}
