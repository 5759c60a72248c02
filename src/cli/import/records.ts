/** The checked records of a source, a chunk at a time: what of an import needs no database. */
import { type Mapping, mapRecord, pick, productFields } from '../../files/map.ts';
import type { FileFormat, SourceRecord } from '../../files/read.ts';
import type { ImportRecord } from '../../resources/products/import/plain.ts';
import {
  checkRecord,
  type PreparedRecord,
  recordPreparer,
} from '../../resources/products/import/prepared.ts';
import { findRepeated, merger, repetitions, skuOf } from './repeats.ts';
import type { Reject } from './report.ts';
import { type ImportSource, openSource } from './source.ts';

export interface RecordsRequest {
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly format: FileFormat | undefined;
  readonly path: string | undefined;
  /** Drops the apostrophes that `catalog export` has written for spreadsheets. */
  readonly safe: boolean;
  readonly mapping: Mapping;
  /** Records at the beginning that are done already. */
  readonly skip: number;
  /** Of products that are created and name none. */
  readonly currency: string;
  /** Reads a file twice, to write the records of one sku as one: for a catalog that may have the products already. */
  readonly merge: boolean;
}

/** Some records in their order, all prepared for one moment. */
export interface Chunk {
  readonly records: readonly PreparedRecord[];
  /** Words that no record before has had. */
  readonly newWords: readonly string[];
  /** How many records of the source each of these ends: what --skip would take after it. */
  readonly positions: readonly number[];
  readonly rejects: readonly { readonly position: number; readonly reject: Reject }[];
  /** Records that have the sku of an earlier one, and those that are not here because a later one stands for them. */
  readonly repeated: number;
  readonly merged: number;
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

/** @throws Error with one line when there is no such file, and from `chunks` when it is none that can be imported */
export async function openRecords(request: RecordsRequest): Promise<OpenedRecords> {
  const source = await openSource(request.file, request.format, request);
  return { totalBytes: source.totalBytes, chunks: chunksOf(source, request) };
}

/** The skus that are to be merged. What streams can be read once only: of it, nothing is. */
async function repeatedIn(source: ImportSource, request: RecordsRequest): Promise<Map<string, number>> {
  const { file, format, mapping, merge } = request;
  if (!merge || source.totalBytes === undefined) return new Map();
  return findRepeated((await openSource(file, format, request)).records, mapping);
}

async function* chunksOf(source: ImportSource, request: RecordsRequest): AsyncGenerator<Chunk> {
  const { file, mapping, skip, currency } = request;
  const { prepare, newWords } = recordPreparer(currency);
  const repeatedSkus = await repeatedIn(source, request);
  const merging = repeatedSkus.size > 0;
  const { take, rest } = merger(repeatedSkus);
  const { had } = repetitions();
  let position = 0;
  let checkedColumns = false;
  for await (const batch of source.records) {
    const at = Date.now();
    const records: PreparedRecord[] = [];
    const positions: number[] = [];
    const rejects: { position: number; reject: Reject }[] = [];
    let [repeated, merged] = [0, 0];
    for (const record of batch) {
      position += 1;
      const done = position <= skip;
      // What is done already counts only for what follows it.
      if (done && !merging) continue;
      if (record.fatal === true) throw new Error(`line ${record.line} ${record.error}`);
      if (!checkedColumns && record.value !== undefined) {
        checkColumns(record.value, mapping, source.format);
        checkedColumns = true;
      }
      const checked = check(record, mapping, source.format);
      const valid = 'error' in checked ? undefined : checked;
      const whole = merging ? take(skuOf(record, mapping), valid) : valid;
      if (done) continue;
      if ('error' in checked) rejects.push({ position, reject: checked });
      if (valid?.sku != null && had(valid.sku)) repeated += 1;
      if (whole === undefined) {
        if (valid !== undefined) merged += 1;
        continue;
      }
      if (valid === undefined) merged -= 1;
      records.push(prepare(whole, at));
      positions.push(position);
    }
    const bytes = source.bytesRead();
    yield { records, newWords: newWords(), positions, rejects, repeated, merged, end: position, bytes };
  }
  if (position === 0) throw new Error(`${file} has no records: ${emptiness(source)}`);
  const records = rest().map(record => prepare(record, Date.now()));
  if (records.length === 0) return;
  const positions = records.map(() => position);
  const counts = { repeated: 0, merged: -records.length, end: position, bytes: source.bytesRead() };
  yield { records, newWords: newWords(), positions, rejects: [], ...counts };
}

function emptiness(source: ImportSource): string {
  if (source.isEmpty) return 'it is empty';
  return source.format === 'csv' ? 'nothing follows the header row' : 'its list is empty';
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
  const reasons = checked.map(({ field, message }) => `${field} ${message}${shownValue(mapped, field)}`);
  return { line, error: reasons.join('; '), details: checked, raw };
}

const shownLength = 60;

/** The value of a field, as in `tags.1`, that breaks a rule; nothing for one that is missing. */
function shownValue(mapped: Readonly<Record<string, unknown>>, field: string): string {
  const text = JSON.stringify(pick(mapped, field)) as string | undefined;
  if (text === undefined) return '';
  return ` (it is ${text.length > shownLength ? `${text.slice(0, shownLength)}…` : text})`;
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
