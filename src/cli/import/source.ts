/** Opens the file of an import, detects its format and encoding, and counts the bytes that are read. */
import { randomUUID } from 'node:crypto';
import { fstatSync, mkdirSync, rmSync, type Stats, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { detectEncoding, type Encoding, readDeclaredEncoding, toUtf8 } from '../../files/encoding.ts';
import {
  detectFormat,
  type FileFormat,
  peek,
  peekFirstLine,
  type ReadOptions,
  readRecords,
  type SourceRecord,
} from '../../files/read.ts';
import { findUnreadableKind, isGzip, isXml, unpackGzip } from '../../files/unpack.ts';
import { isObject } from '../../json-object.ts';
import type { ImportArguments } from './options.ts';

export interface ImportSource {
  readonly format: FileFormat;
  /** Whether it begins with nothing but blank lines: without records it is empty, not even a header. */
  readonly isBlank: boolean;
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined;
  readonly bytesRead: () => number;
  /** Whether the file has changed since it was opened; false for a stream. */
  isChanged(): boolean;
  /** Remarks for the user since the last call. */
  said(): string[];
  readonly records: AsyncGenerator<readonly SourceRecord[]>;
}

/**
 * @param file a path, or `-` for standard input
 * @param format detected from name and content if undefined; `fileName` is the file's name in messages
 * @throws Error with one line when there is no such file, or it is of a kind that cannot be read
 */
export async function openSource(
  file: string,
  format: FileFormat | undefined,
  options: ReadOptions & {
    readonly fileName: string;
    readonly encoding?: Encoding | undefined;
    /** Whether to read XML feeds too. */
    readonly feeds?: boolean | undefined;
  },
): Promise<ImportSource> {
  const { fileName, feeds } = options;
  const detectFeed = (bytes: Uint8Array): FileFormat | undefined =>
    format ?? (feeds === true && isXml(bytes) ? 'xml' : undefined);
  const stats = requireSource(file);
  let bytes = 0;
  async function* countBytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      yield chunk;
      bytes += chunk.length;
    }
  }
  const packed = await peek(openStream(file));
  const text = countBytes(packed.source);
  const { firstBytes, source } = isGzip(packed.firstBytes)
    ? await peek(unpackGzip(text, fileName))
    : { firstBytes: packed.firstBytes, source: text };
  const refuse = (kind: string | undefined) => {
    if (kind !== undefined) throw new Error(`${fileName} ${kind}`);
  };
  refuse(findUnreadableKind(firstBytes, detectFeed(firstBytes)));
  const said: string[] = [];
  const encoding =
    options.encoding ??
    detectEncoding(firstBytes) ??
    (detectFeed(firstBytes) === 'xml' ? readDeclaredEncoding(firstBytes, fileName) : undefined);
  const noteWindows1252 = () =>
    said.push(
      `${fileName} is not UTF-8 and is read as Windows-1252; name another encoding with --encoding, such as shift_jis, or utf-8 to reject its lines that are not UTF-8`,
    );
  const decoded = await peekFirstLine(toUtf8(source, encoding, noteWindows1252, fileName));
  const known = detectFeed(decoded.firstBytes);
  refuse(findUnreadableKind(decoded.firstBytes, known));
  const name = file === '-' ? undefined : file.replace(/\.gz$/i, '');
  const detected = known ?? detectFormat(name, decoded.firstBytes);
  return {
    format: detected,
    isBlank: new TextDecoder().decode(decoded.firstBytes).trim() === '',
    totalBytes: stats?.isFile() === true ? stats.size : undefined,
    bytesRead: () => bytes,
    isChanged: () => stats?.isFile() === true && !isSame(stats, statSync(file, { throwIfNoEntry: false })),
    said: () => said.splice(0),
    records: readRecords(decoded.source, detected, options),
  };
}

/** Whether the source can be read only once: standard input, or a pipe (`<(unzip -p …)`). */
export const isStream = (file: string): boolean =>
  file === '-' || statSync(file, { throwIfNoEntry: false })?.isFile() === false;

/**
 * Chooses a folder for a copy of a stream that must be read twice, as a preset does. The folder is removed when this
 * process exits. It is not created here: before the import listens for signals, a signal would leave it behind.
 */
export function chooseSpool({ file, preset }: Pick<ImportArguments, 'file' | 'preset'>): string | undefined {
  if (preset === undefined || !isStream(file)) return undefined;
  const folder = join(tmpdir(), `catalog-import-${randomUUID()}`);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Copies a stream into `folder`. @returns the path of the copy */
export async function spoolInput(file: string, folder: string): Promise<string> {
  requireSource(file);
  mkdirSync(folder, { mode: 0o700 });
  const copy = join(folder, 'input');
  const sink = Bun.file(copy).writer();
  for await (const chunk of openStream(file)) {
    sink.write(chunk);
    await sink.flush();
  }
  await sink.end();
  return copy;
}

const openStream = (file: string): ReadableStream<Uint8Array> =>
  file === '-' ? Bun.stdin.stream() : Bun.file(file).stream();

const isSame = (before: Stats, now: Stats | undefined): boolean =>
  before.size === now?.size && before.mtimeMs === now.mtimeMs && before.ino === now.ino;

/**
 * @returns undefined for standard input
 * @throws Error with one line when there is no such file, or it is a folder or a device
 */
export function requireSource(file: string): Stats | undefined {
  if (file === '-') {
    if (fstatSync(0).isDirectory()) throw new Error('standard input is a folder');
    return undefined;
  }
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`there is no file ${file}`);
  if (stats.isDirectory()) throw new Error(`${file} is a folder`);
  // Bun cannot read all of them: /dev/null is EPERM.
  if (stats.isCharacterDevice()) throw new Error(`${file} is a device; - reads standard input`);
  return stats;
}

/** Larger files are not read a second time just for a hint. */
const maxHinted = 64 * 1024 * 1024;
const deepestHinted = 6;

/**
 * A file without the array of records is a mistake in the command, not a rejected record.
 * @param first the first record of a JSON file
 * @throws Error with one line when the record stands for an array that was not found
 */
export async function checkArray(
  first: SourceRecord,
  { file, fileName, path }: Pick<ImportArguments, 'file' | 'fileName' | 'path'>,
): Promise<void> {
  const { error = '' } = first;
  if (!error.startsWith('has no array ')) return;
  const found = await findArrayPath(file);
  const advice =
    found === undefined || found === path
      ? 'name the member that holds the records, as in --path data.items'
      : `--path ${found} reads the one there`;
  throw new Error(`${fileName} ${error}; ${advice}`);
}

/**
 * The dotted path of the least deep array of objects in the file.
 * @returns undefined if there is none, the file cannot be read again, or `--path` cannot name the array
 */
async function findArrayPath(file: string): Promise<string | undefined> {
  if (isStream(file) || Bun.file(file).size > maxHinted) return undefined;
  try {
    const read = await Bun.file(file).bytes();
    const bytes = isGzip(read) ? gunzipSync(read, { maxOutputLength: maxHinted }) : read;
    const text = new TextDecoder(detectEncoding(bytes)).decode(bytes);
    return findPath(JSON.parse(text));
  } catch {
    // The text is not valid JSON, or too large: give no hint.
    return undefined;
  }
}

function findPath(root: unknown): string | undefined {
  let level: (readonly [path: string, value: unknown])[] = [['', root]];
  for (let depth = 0; depth < deepestHinted; depth += 1) {
    const next = level.flatMap(([path, value]) => getMembers(path, value));
    const found = next.find(([, value]) => Array.isArray(value) && isObject(value[0]));
    if (found !== undefined) return found[0];
    level = next;
  }
  return undefined;
}

/** Leaves out members that a dotted path cannot name: those with an empty name, or a point in it. */
function getMembers(path: string, value: unknown): (readonly [path: string, value: unknown])[] {
  if (!isObject(value)) return [];
  return Object.entries(value)
    .filter(([name]) => name !== '' && !name.includes('.'))
    .map(([name, member]) => [path === '' ? name : `${path}.${name}`, member]);
}
