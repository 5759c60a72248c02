/** The file of an import: opened, its format and encoding found out, its bytes counted as they are read. */
import { mkdtempSync, rmSync, type Stats, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Encoding, encodingOf, toUtf8 } from '../../files/encoding.ts';
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
  isEmpty(): boolean;
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined;
  readonly bytesRead: () => number;
  /** What was found out of it that the user should know, since the last call. */
  said(): string[];
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
  options: ReadOptions & { readonly encoding?: Encoding | undefined },
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
  const refuse = (kind: string | undefined) => {
    if (kind !== undefined) throw new Error(`${file} ${kind}`);
  };
  refuse(unreadableKind(firstBytes, format));
  let said: string[] = [];
  const encoding = options.encoding ?? encodingOf(firstBytes);
  const found = () =>
    said.push(
      `${file} is not UTF-8 and is read as Windows-1252; --encoding utf-8 would refuse its lines that are not`,
    );
  const decoded = await peek(toUtf8(source, encoding, found, file));
  refuse(unreadableKind(decoded.firstBytes, format));
  const name = file === '-' ? undefined : file.replace(/\.gz$/i, '');
  const detected = format ?? detectFormat(name, decoded.firstBytes);
  return {
    format: detected,
    isEmpty: () => firstBytes.length === 0,
    totalBytes: stats?.isFile() === true ? stats.size : undefined,
    bytesRead: () => bytes,
    said() {
      const now = said;
      said = [];
      return now;
    },
    records: readRecords(decoded.source, detected, options),
  };
}

/** Standard input in a temporary file, to be read more than once. */
export async function spooled(): Promise<{ readonly file: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-import-'));
  const file = join(folder, 'input');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const sink = Bun.file(file).writer();
    for await (const chunk of Bun.stdin.stream()) {
      sink.write(chunk);
      await sink.flush();
    }
    await sink.end();
  } catch (error) {
    remove();
    throw error;
  }
  return { file, remove };
}

function statOf(file: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`there is no file ${file}`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder`);
  return stats;
}
