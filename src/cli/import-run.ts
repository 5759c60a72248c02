/** The loop of an import: records in, transactions of a bounded length out. */
import type { Mapping } from '../files/map.ts';
import { mapRecord, pick, productFields } from '../files/map.ts';
import type { SourceRecord } from '../files/read.ts';
import {
  checkRecord,
  type ImportCounts,
  type ImportPlan,
  type ImportRecord,
} from '../resources/products/import.ts';
import type { Progress, Rejects } from './import-report.ts';
import type { ImportSource } from './import-source.ts';

/** Writes one batch in one transaction, or in a dry run only says what it would do. */
export type BatchWriter = (records: readonly ImportRecord[]) => Promise<ImportPlan['counts']>;

export interface ImportRun {
  readonly source: ImportSource;
  readonly mapping: Mapping;
  /** Records at the beginning that are done already. */
  readonly skip: number;
  /** Records per transaction; undefined: as many as fit into the time. */
  readonly batchSize: number | undefined;
  readonly write: BatchWriter;
  readonly rejects: Rejects;
  readonly progress: Progress;
  /** Tells when the import is to end after the running batch. */
  readonly stop: StopRequest;
}

export interface StopRequest {
  /** Called, at once if it is late, when the end is requested; each listener replaces the one before. */
  onRequest(listener: () => void): void;
}

export interface ImportState {
  created: number;
  updated: number;
  unchanged: number;
  /** Records of the file that are committed or rejected: what --skip takes. */
  done: number;
}

/** A transaction should be over within this time, so that a running service's writes get their turn. */
const targetMs = 80;
const smallest = 200;
const largest = 2500;

/**
 * Reads the source to its end and writes its records.
 * @param state is kept up to date, so that it is known how far the import came when this rejects
 * @returns whether it came to the end: false when it was told to stop
 */
export async function runImport(run: ImportRun, state: ImportState): Promise<boolean> {
  const { source, rejects, progress } = run;
  let position = 0;
  let checkedColumns = false;
  let size = run.batchSize ?? 2000;
  let batch: ImportRecord[] = [];

  async function commit(): Promise<void> {
    rejects.flush();
    if (batch.length > 0) {
      const started = performance.now();
      const counts = await run.write(batch);
      if (run.batchSize === undefined) size = nextSize(size, batch.length, performance.now() - started);
      batch = [];
      add(state, counts);
    }
    state.done = position;
    progress.update({ records: state.done, handled: state.done - run.skip, bytes: source.bytesRead() });
  }

  for (;;) {
    const next = await nextOrStop(source.records, run.stop);
    if (next === undefined) return false;
    if (next.done === true) break;
    for (const record of next.value) {
      if (position < run.skip) {
        position += 1;
        state.done = position;
        continue;
      }
      if (!checkedColumns && record.value !== undefined) {
        checkColumns(record.value, run);
        checkedColumns = true;
      }
      const accepted = accept(record, run);
      if (accepted !== undefined) batch.push(accepted);
      position += 1;
      if (batch.length >= size) await commit();
    }
  }
  await commit();
  return true;
}

/** The next records, or undefined when the import is to stop: also while a stream has nothing to read. */
function nextOrStop(
  records: ImportSource['records'],
  stop: StopRequest,
): Promise<IteratorResult<readonly SourceRecord[]> | undefined> {
  // Promise.race with one promise for the whole import would keep every result of the race alive.
  return new Promise((resolve, reject) => {
    stop.onRequest(() => resolve(undefined));
    records.next().then(resolve, reject);
  });
}

function nextSize(size: number, records: number, milliseconds: number): number {
  const fitting = Math.round((records * targetMs) / Math.max(milliseconds, 1));
  return Math.max(smallest, Math.min(largest, size * 2, fitting));
}

function add(state: ImportState, counts: ImportCounts): void {
  state.created += counts.created;
  state.updated += counts.updated;
  state.unchanged += counts.unchanged;
}

/** The record's checked fields; undefined when it was rejected. */
function accept(
  { line, value, error, raw }: SourceRecord,
  { mapping, rejects, source }: ImportRun,
): ImportRecord | undefined {
  if (value === undefined) {
    rejects.add({ line, error: error ?? 'cannot be read', details: [], raw });
    return undefined;
  }
  const mapped = mapRecord(value, mapping, productFields);
  // An empty CSV cell says nothing; in JSON null, and an empty description, are values of their own.
  if (source.format !== 'csv') keepExplicit(value, mapping, mapped);
  const checked = checkRecord(mapped);
  if (!isDetails(checked)) return checked;
  const reasons = checked.map(({ field, message }) => `${field} ${message}`);
  rejects.add({ line, error: reasons.join('; '), details: checked, raw });
  return undefined;
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
function checkColumns(first: Readonly<Record<string, unknown>>, { mapping, source }: ImportRun): void {
  const columns = Object.keys(first).join(', ');
  for (const [field, column] of mapping) {
    if (pick(first, column) !== undefined) continue;
    throw new Error(`the first record has no column "${column}" for ${field}; it has ${columns}`);
  }
  if (source.format !== 'csv') return;
  for (const field of ['name', 'price']) {
    if (mapping.has(field) || pick(first, field) !== undefined) continue;
    throw new Error(`there is no column "${field}": name it with --map ${field}=COLUMN, one of ${columns}`);
  }
}
