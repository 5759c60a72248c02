/** Files as streams of chunks, and the records read from them. */
import { createRecordMapper } from '../../../src/files/cells/mapper.ts';
import {
  type FileFormat,
  type ReadOptions,
  readRecords,
  type SourceRecord,
} from '../../../src/files/read.ts';

export type Fields = Record<string, unknown>;

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The bytes as a stream, cut into chunks of the given sizes in turn. */
export function streamOf(
  content: string | Uint8Array,
  sizes: readonly number[] = [64 * 1024],
): ReadableStream<Uint8Array> {
  const bytes = typeof content === 'string' ? bytesOf(content) : content;
  let at = 0;
  let turn = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const size = sizes[turn++ % sizes.length] ?? 1;
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

export async function readAll(
  content: string | Uint8Array,
  format: FileFormat,
  { sizes, ...options }: { sizes?: readonly number[] } & ReadOptions = {},
): Promise<SourceRecord[]> {
  const all: SourceRecord[] = [];
  for await (const batch of readRecords(streamOf(content, sizes), format, options)) all.push(...batch);
  return all;
}

/** The parts of a record that tests compare: its line, and either its value or its error. */
export const brief = (records: readonly SourceRecord[]): unknown[] =>
  records.map(record => [record.line, record.error ?? { ...record.value }]);

export const mapped = (records: readonly SourceRecord[]): Fields[] => {
  const mapper = createRecordMapper({ mapping: new Map() });
  return records.map(({ line, value, error, columns }) => {
    if (value === undefined) throw new Error(`line ${line} ${error}`);
    return mapper.map(value, columns);
  });
};

/** A line of the maximum length. */
export const bigLine = 'x'.repeat(8 * 1024 * 1024);

/** Text with bytes between that are not UTF-8. */
export const notUtf8 = (before: string, after: string): Uint8Array =>
  Buffer.concat([bytesOf(before), Uint8Array.of(0xe9, 0x28), bytesOf(after)]);
