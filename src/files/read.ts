/** Reads product files: converts a stream of bytes to batches of records, in constant memory. */

import { isObject, tryParseJson } from '../json-object.ts';
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
  /** For `csv`: whether to drop the apostrophes that keep a spreadsheet from evaluating a cell. */
  readonly safe?: boolean;
  /** For `csv`: the header; for `xml`: the elements that may occur several times, and parts of values. */
  readonly header?: HeaderOptions & FeedOptions;
}

/** A batch ends at whichever limit comes first, so that a transaction of an import is neither tiny nor huge. */
const batchRecords = 1000;
const batchLength = 1024 * 1024;

/**
 * Reads a file's records in order, in batches of up to 1000 records (or 1 MiB of text). Lines that cannot be
 * read are records with `error`, in the same order. Throws only what the source throws; a consumer that stops
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
 * Detects the format by the file's name (`.csv`, `.tsv`, `.ndjson`, `.jsonl`), or else by its beginning. `[` begins a
 * JSON array. `{` begins NDJSON if the first line is a whole object, and more lines follow or it is a record itself;
 * otherwise JSON. Anything else is CSV. `firstBytes` should contain the first line: see `peekFirstLine`.
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
  // The first line is longer than any record.
  if (end < 0 && text.length > maxRecordLength) return false;
  const first = tryParseJson(end < 0 ? text : text.slice(0, end));
  return isObject(first) && ((end >= 0 && text.slice(end).trim() !== '') || isRecord(first));
}

/** Members of a product that are lists. */
const ownLists = new Set(['options', 'variants', 'images', 'tags', 'categories']);

/**
 * Whether an object is a product, and not the envelope of a list of products: it has members that only a product has,
 * or a text or number and no array of objects other than those of a product. An empty page of a list has only arrays
 * and objects.
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

/** Like `peek`, but if the text begins with an object, reads the whole first line, up to the longest record. */
export async function peekFirstLine(source: AsyncIterable<Uint8Array>): ReturnType<typeof peek> {
  const beginning = await peek(source);
  const { firstBytes } = beginning;
  const isObjectText = new TextDecoder().decode(firstBytes.subarray(0, 1024)).trimStart().startsWith('{');
  if (!isObjectText || firstBytes.includes(newline)) return beginning;
  return peek(beginning.source, maxRecordLength + 1, newline);
}

/**
 * The first bytes of a stream, at least `length` unless it is shorter, and a stream that includes them.
 * @param last stops after the chunk that contains this byte
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
