/** The file of an import: opened, its format found out, its bytes counted as they are read. */
import { type Stats, statSync } from 'node:fs';
import {
  detectFormat,
  type FileFormat,
  peek,
  type ReadOptions,
  readRecords,
  type SourceRecord,
} from '../../files/read.ts';
import { gunzipped, isGzip, unreadableKind } from '../../files/unpack.ts';

export interface ImportSource {
  readonly format: FileFormat;
  /** Not a byte of text is in it. */
  readonly isEmpty: boolean;
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined;
  readonly bytesRead: () => number;
  readonly records: AsyncGenerator<readonly SourceRecord[]>;
}

/**
 * @param file a path, or `-` for standard input
 * @param format found out from name and content when undefined
 * @throws Error with one line when there is no such file, or it is of a kind that cannot be read
 */
export async function openSource(
  file: string,
  format: FileFormat | undefined,
  options: ReadOptions,
): Promise<ImportSource> {
  const stats = file === '-' ? undefined : statOf(file);
  let bytes = 0;
  async function* counted(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      yield chunk;
      bytes += chunk.length;
    }
  }
  const stream = file === '-' ? Bun.stdin.stream() : Bun.file(file).stream();
  const packed = await peek(stream);
  const text = counted(packed.source);
  const { firstBytes, source } = isGzip(packed.firstBytes)
    ? await peek(gunzipped(text, file))
    : { firstBytes: packed.firstBytes, source: text };
  const kind = unreadableKind(firstBytes, format);
  if (kind !== undefined) throw new Error(`${file} ${kind}`);
  const name = file === '-' ? undefined : file.replace(/\.gz$/i, '');
  const found = format ?? detectFormat(name, firstBytes);
  return {
    format: found,
    isEmpty: firstBytes.length === 0,
    totalBytes: stats?.isFile() === true ? stats.size : undefined,
    bytesRead: () => bytes,
    records: readRecords(source, found, options),
  };
}

function statOf(file: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`there is no file ${file}`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder`);
  return stats;
}
