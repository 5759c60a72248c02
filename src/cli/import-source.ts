/** The file of an import: opened, its format found out, its bytes counted as they are read. */
import { type Stats, statSync } from 'node:fs';
import { detectFormat, type FileFormat, peek, readRecords, type SourceRecord } from '../files/read.ts';

export interface ImportSource {
  readonly format: FileFormat;
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined;
  readonly bytesRead: () => number;
  readonly records: AsyncGenerator<readonly SourceRecord[]>;
}

/**
 * @param file a path, or `-` for standard input
 * @param format found out from name and content when undefined
 * @throws Error with one line when there is no such file
 */
export async function openSource(
  file: string,
  format: FileFormat | undefined,
  path: string | undefined,
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
  const { firstBytes, source } = await peek(stream);
  const found = format ?? detectFormat(file === '-' ? undefined : file, firstBytes);
  return {
    format: found,
    totalBytes: stats?.isFile() === true ? stats.size : undefined,
    bytesRead: () => bytes,
    records: readRecords(counted(source), found, path === undefined ? {} : { path }),
  };
}

function statOf(file: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`there is no file ${file}`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder`);
  return stats;
}
