/** Reading product files: a stream of bytes in, batches of records out, at constant memory. */

import { isObject } from '../json-object.ts';
import { type HeaderOptions, readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readNdjson } from './read-ndjson.ts';
import { type FeedOptions, readXmlFeed } from './read-xml.ts';
import { maxRecordLength, type SourceRecord } from './record.ts';

export type { SourceRecord } from './record.ts';

export type FileFormat = 'csv' | 'ndjson' | 'json' | 'xml';

export interface ReadOptions {
  /** For `json`: the dotted path of the member that holds the array, such as `products` or `data.items`. */
  readonly path?: string | undefined;
  /** For `csv`: drops the apostrophes that keep a spreadsheet from evaluating a cell. */
  readonly safe?: boolean;
  /** For `csv`; for `xml` what may come several times. */
  readonly header?: HeaderOptions & FeedOptions;
}

/** A batch ends at whichever comes first: one transaction of an import should be neither tiny nor huge. */
const batchRecords = 1000;
const batchLength = 1024 * 1024;

/**
 * Reads a file's records in order, in batches of up to 1000 records (or 1 MiB of text). Lines that cannot be
 * read are records with `error`, in their place. Throws only what the source throws; a consumer that stops
 * early closes the source.
 */
export async function* readRecords(
  source: AsyncIterable<Uint8Array>,
  format: FileFormat,
  options: ReadOptions = {},
): AsyncGenerator<readonly SourceRecord[]> {
  let batch: SourceRecord[] = [];
  let length = 0;
  for await (const records of readGroups(source, format, options)) {
    for (const record of records) {
      batch.push(record);
      length += record.raw.length;
      if (batch.length < batchRecords && length < batchLength) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

function readGroups(
  source: AsyncIterable<Uint8Array>,
  format: FileFormat,
  options: ReadOptions,
): AsyncGenerator<SourceRecord[]> {
  if (format === 'xml') return readXmlFeed(source, options.header);
  if (format === 'csv') return readCsv(source, options.safe === true, options.header);
  return format === 'ndjson' ? readNdjson(source) : readJson(source, options.path);
}

/**
 * The format by the file's name (`.csv`, `.tsv`, `.ndjson`, `.jsonl`) and otherwise by how it begins: `[` is a
 * JSON array, `{` an object that holds one or, when the first line is a whole object and more follows or it is a
 * record itself, NDJSON; anything else is CSV. `firstBytes` should hold the first line: see `peekFirstLine`.
 */
export function detectFormat(fileName: string | undefined, firstBytes: Uint8Array): FileFormat {
  const extension = /\.([a-z]+)$/i.exec(fileName ?? '')?.[1]?.toLowerCase();
  if (extension === 'csv' || extension === 'tsv') return 'csv';
  if (extension === 'ndjson' || extension === 'jsonl') return 'ndjson';
  const text = new TextDecoder().decode(firstBytes).trimStart();
  if (text.startsWith('[')) return 'json';
  if (text.startsWith('{')) return isNdjson(text) ? 'ndjson' : 'json';
  return extension === 'json' ? 'json' : 'csv';
}

/** Whether text that begins with `{` is NDJSON: several objects, or a single one that is a record. */
function isNdjson(text: string): boolean {
  const end = text.indexOf('\n');
  // No record is so long.
  if (end < 0 && text.length > maxRecordLength) return false;
  try {
    const first: unknown = JSON.parse(end < 0 ? text : text.slice(0, end));
    if (!isObject(first)) return false;
    return (end >= 0 && text.slice(end).trim() !== '') || isRecord(first);
  } catch {
    return false;
  }
}

/** Lists that a product has itself. */
const ownLists = new Set(['options', 'variants', 'images', 'tags', 'categories']);

/**
 * Whether an object is a product, and not what stands around a list of them: it has what only a product has, or else a
 * text or a number and no other array of objects than those of a product. A page of a list that is empty holds arrays
 * and objects only.
 */
function isRecord(object: Readonly<Record<string, unknown>>): boolean {
  const members = Object.entries(object).map(([name, member]) => [name.toLowerCase(), member] as const);
  const hasText = (name: string) =>
    members.some(([own, member]) => own === name && typeof member === 'string');
  if (hasText('sku') || (hasText('name') && members.some(([name]) => name === 'price'))) return true;
  return (
    members.some(([, member]) => typeof member === 'string' || typeof member === 'number') &&
    !members.some(([name, member]) => Array.isArray(member) && isObject(member[0]) && !ownLists.has(name))
  );
}

const newline = 10;

/** As `peek`: of what begins as an object the first line, unless that is longer than any record. */
export async function peekFirstLine(source: AsyncIterable<Uint8Array>): ReturnType<typeof peek> {
  const beginning = await peek(source);
  const { firstBytes } = beginning;
  const isObjectText = new TextDecoder().decode(firstBytes.subarray(0, 1024)).trimStart().startsWith('{');
  if (!isObjectText || firstBytes.includes(newline)) return beginning;
  return peek(beginning.source, maxRecordLength + 1, newline);
}

/**
 * The first bytes of a stream, at least `length` of them unless it is shorter, and the stream with them.
 * @param last the bytes up to this one will do
 */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  length = 64 * 1024,
  last?: number,
): Promise<{ firstBytes: Uint8Array; source: AsyncIterable<Uint8Array> }> {
  const chunks = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let size = 0;
  while (size < length) {
    const next = await chunks.next();
    if (next.done) break;
    seen.push(next.value);
    size += next.value.length;
    if (last !== undefined && next.value.includes(last)) break;
  }
  return { firstBytes: Buffer.concat(seen), source: continueReading(seen, chunks) };
}

async function* continueReading(
  seen: readonly Uint8Array[],
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* seen;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  } finally {
    await chunks.return?.();
  }
}
