/** Reads newline-delimited JSON. */
import { readWholeLines } from './read-text.ts';
import {
  createUnreadableRecord,
  holdsDamage,
  notUtf8,
  parseRecord,
  type SourceRecord,
  tooLong,
} from './record.ts';

function isBlank(line: string): boolean {
  return line.length === 0 || (line.charCodeAt(0) <= 32 && line.trim() === '');
}

/**
 * Reads newline-delimited JSON: one object per line, LF or CRLF, blank lines skipped. A line that cannot be read
 * becomes a record with an error, and reading continues with the next line. Yields the records of one block of lines
 * at a time. Throws only what the source throws.
 */
export async function* readNdjson(source: AsyncIterable<Uint8Array>): AsyncGenerator<SourceRecord[]> {
  let line = 1;
  for await (const block of readWholeLines(source)) {
    if (block.tooLong) {
      yield [createUnreadableRecord(line, tooLong, block.text)];
      line += 1;
      continue;
    }
    const records: SourceRecord[] = [];
    for (let start = 0; start < block.text.length; line += 1) {
      const newline = block.text.indexOf('\n', start);
      const end = newline < 0 ? block.text.length : newline;
      const carriageReturn = end > start && block.text.charCodeAt(end - 1) === 13;
      const text = block.text.slice(start, carriageReturn ? end - 1 : end);
      start = end + 1;
      if (isBlank(text)) continue;
      const damaged = holdsDamage(block.damaged, text);
      records.push(damaged ? createUnreadableRecord(line, notUtf8, text) : parseRecord(line, text));
    }
    yield records;
  }
}
