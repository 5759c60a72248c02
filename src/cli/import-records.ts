/** The checked records of a source, a chunk at a time: what of an import needs no database. */
import { type Mapping, mapRecord, pick, productFields } from '../files/map.ts';
import type { FileFormat, SourceRecord } from '../files/read.ts';
import type { ImportRecord } from '../resources/products/import-plain.ts';
import { checkRecord, type PreparedRecord, recordPreparer } from '../resources/products/import-prepared.ts';
import type { Reject } from './import-report.ts';
import { type ImportSource, openSource } from './import-source.ts';

export interface RecordsRequest {
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly format: FileFormat | undefined;
  readonly path: string | undefined;
  readonly mapping: Mapping;
  /** Records at the beginning that are done already. */
  readonly skip: number;
  /** Of products that are created and name none. */
  readonly currency: string;
}

/** Some records in their order, all prepared for one moment. */
export interface Chunk {
  readonly records: readonly PreparedRecord[];
  /** Words that no record before has had. */
  readonly newWords: readonly string[];
  /** How many records of the source each of these ends: what --skip would take after it. */
  readonly positions: readonly number[];
  readonly rejects: readonly { readonly position: number; readonly reject: Reject }[];
  /** How many records of the source the chunk ends, and bytes read so far. */
  readonly end: number;
  readonly bytes: number;
}

/** What is known once the source is open. */
export interface OpenedRecords {
  /** Undefined for a stream. */
  readonly totalBytes: number | undefined;
  readonly chunks: AsyncGenerator<Chunk>;
}

/** @throws Error with one line when there is no such file, and from `chunks` when a column is missing */
export async function openRecords(request: RecordsRequest): Promise<OpenedRecords> {
  const source = await openSource(request.file, request.format, request.path);
  return { totalBytes: source.totalBytes, chunks: chunksOf(source, request) };
}

async function* chunksOf(
  source: ImportSource,
  { mapping, skip, currency }: RecordsRequest,
): AsyncGenerator<Chunk> {
  const { prepare, newWords } = recordPreparer(currency);
  let position = 0;
  let checkedColumns = false;
  for await (const batch of source.records) {
    const at = Date.now();
    const records: PreparedRecord[] = [];
    const positions: number[] = [];
    const rejects: { position: number; reject: Reject }[] = [];
    for (const record of batch) {
      position += 1;
      if (position <= skip) continue;
      if (!checkedColumns && record.value !== undefined) {
        checkColumns(record.value, mapping, source.format);
        checkedColumns = true;
      }
      const checked = check(record, mapping, source.format);
      if ('error' in checked) rejects.push({ position, reject: checked });
      else {
        records.push(prepare(checked, at));
        positions.push(position);
      }
    }
    const bytes = source.bytesRead();
    yield { records, newWords: newWords(), positions, rejects, end: position, bytes };
  }
}

/** The record's checked fields, or why it is refused. */
function check(
  { line, value, error, raw }: SourceRecord,
  mapping: Mapping,
  format: FileFormat,
): ImportRecord | Reject {
  if (value === undefined) return { line, error: error ?? 'cannot be read', details: [], raw };
  const mapped = mapRecord(value, mapping, productFields);
  // An empty CSV cell says nothing; in JSON null, and an empty description, are values of their own.
  if (format !== 'csv') keepExplicit(value, mapping, mapped);
  const checked = checkRecord(mapped);
  if (!isDetails(checked)) return checked;
  const reasons = checked.map(({ field, message }) => `${field} ${message}`);
  return { line, error: reasons.join('; '), details: checked, raw };
}

const isDetails = (
  checked: ReturnType<typeof checkRecord>,
): checked is Exclude<typeof checked, ImportRecord> => Array.isArray(checked);

function keepExplicit(
  value: Readonly<Record<string, unknown>>,
  mapping: Mapping,
  mapped: Record<string, unknown>,
): void {
  for (const field of productFields) {
    if (mapped[field] !== undefined) continue;
    const given = value[mapping.get(field) ?? field];
    if (given === null || (given === '' && field === 'description')) mapped[field] = given;
  }
}

/** A column that was asked for and is not there is a slip in the command: better told at once than per line. */
function checkColumns(first: Readonly<Record<string, unknown>>, mapping: Mapping, format: FileFormat): void {
  const columns = Object.keys(first).join(', ');
  for (const [field, column] of mapping) {
    if (pick(first, column) !== undefined) continue;
    throw new Error(`the first record has no column "${column}" for ${field}; it has ${columns}`);
  }
  if (format !== 'csv') return;
  for (const field of ['name', 'price']) {
    if (mapping.has(field) || pick(first, field) !== undefined) continue;
    throw new Error(`there is no column "${field}": name it with --map ${field}=COLUMN, one of ${columns}`);
  }
}
