/** The main loop of an import: reads records and writes them in transactions of bounded length. */
import type { HttpError } from '../../http/errors.ts';
import type { ImportPlan } from '../../resources/products/import/plan.ts';
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';
import type { Chunk } from './records.ts';
import type { ImportState, Progress, Reject, Rejects } from './report.ts';

export interface BatchWriter {
  /** Writes one batch in one transaction. In a dry run, only returns what it would do. */
  write(
    records: readonly PreparedRecord[],
  ): Promise<Pick<ImportPlan, 'counts' | 'refused' | 'lostUploads' | 'renamed'>>;
  /** Must be called with the skus of records that are skipped because they are done already. */
  pass(skus: readonly string[]): Promise<void>;
}

export interface ImportRun {
  readonly chunks: AsyncIterator<Chunk>;
  /** The number of records at the beginning that are done already. */
  readonly skip: number;
  /** Records per transaction; if undefined, as many as fit into `transactionMs`. */
  readonly batchSize: number | undefined;
  readonly writer: BatchWriter;
  /** The current limit for the duration of a transaction, in milliseconds. */
  readonly transactionMs: number;
  readonly rejects: Rejects;
  readonly progress: Progress;
  /** Reports a line at once. */
  say(line: string): void;
  /** Aborted when the import must stop after the current batch. */
  readonly stop: AbortSignal;
}

const minBatch = 200;
/** Two chunks of records: larger batches take more memory, and are not faster. */
const maxBatch = 2000;
/** The limit for long records: a chunk has fewer of those, at most a MiB of text. */
const maxChunks = 4;
/** Small, so that the first batch is short: only then is the speed of the machine known. */
const firstSize = 400;
/** At most this many rejects wait for the batch around them. */
const maxRejects = 1000;

/**
 * The records of the next transaction, and the counts of records since the last one: an import that is continued from
 * there reads these records again.
 */
interface Batch extends Pick<ImportState, 'products' | 'variants' | 'images' | 'repeated'> {
  readonly records: PreparedRecord[];
  /** The source text of each record. */
  readonly raws: Map<PreparedRecord, string>;
  readonly rejects: Reject[];
  /** How many chunks end in it. */
  chunks: number;
}

const createBatch = (): Batch => ({
  ...{ records: [], raws: new Map(), rejects: [] },
  ...{ products: 0, variants: 0, images: 0, repeated: 0, chunks: 0 },
});

const countRows = ({ products, variants }: Batch): number => products + variants;

/**
 * Writes all records of a source.
 * @param state kept up to date, so that the caller knows how far the import came if this function rejects
 * @returns true at the end of the source; false if the import was stopped
 */
export async function runImport(run: ImportRun, state: ImportState): Promise<boolean> {
  const committer = createCommitter(run, state);
  let batch = createBatch();
  let read = { end: 0, bytes: 0 };

  async function commit(position: number): Promise<void> {
    await committer.commit(batch, position, read.bytes);
    batch = createBatch();
  }

  /** Adds the records of a chunk, and commits whenever the batch is full. */
  async function addRecords({ records, positions, raws, rejects, end }: Chunk): Promise<void> {
    const refused = [...rejects];
    // In file order: a reject is written before the records after it are committed.
    const report = (before: number) => {
      for (let [first] = refused; first !== undefined && first.position < before; [first] = refused) {
        batch.rejects.push(first.reject);
        refused.shift();
      }
    };
    for (const [index, record] of records.entries()) {
      const position = positions[index] ?? end;
      report(position);
      batch.records.push(record);
      batch.raws.set(record, raws[index] ?? '');
      batch.products += 1;
      batch.variants += record.variantCount;
      batch.images += record.images;
      if (!committer.isFull(batch) || positions[index + 1] === position) continue;
      await commit(position);
    }
    report(end + 1);
  }

  for (;;) {
    const next = await waitOrStop(run.chunks.next(), run.stop);
    if (next === undefined) return false;
    if (next.done === true) break;
    const { records, passed, end, bytes, said, repeated, last } = next.value;
    for (const line of said) run.say(line);
    if (passed.length > 0) await run.writer.pass(passed);
    if (last !== undefined) Object.assign(state, last);
    read = { end, bytes };
    batch.repeated += repeated;
    await addRecords(next.value);
    batch.chunks += 1;
    const isWaiting = batch.records.length > 0 && batch.rejects.length < maxRejects;
    if (!isWaiting || !committer.hasRoomFor(batch, records)) await commit(end);
  }
  await commit(read.end);
  return true;
}

/** Commits batches, and adapts their size to how long they take. */
function createCommitter(run: ImportRun, state: ImportState) {
  const { rejects } = run;
  let size = run.batchSize ?? firstSize;

  async function write(batch: Batch): Promise<void> {
    const started = performance.now();
    const { counts, refused, lostUploads, renamed } = await run.writer.write(batch.records);
    state.lostUploads += lostUploads;
    state.renamed += renamed;
    for (const { record, error } of refused) refuse(record, batch.raws.get(record) ?? '', error);
    if (refused.length > 0) rejects.flush();
    if (run.batchSize === undefined) {
      const milliseconds = performance.now() - started;
      size = computeNextSize(size, (countRows(batch) * run.transactionMs) / Math.max(milliseconds, 1));
    }
    for (const name of ['created', 'updated', 'unchanged'] as const) state[name] += counts[name];
  }

  /** Rejects a record that turns out not to fit the catalog. */
  function refuse(record: PreparedRecord, raw: string, { message, details = [] }: HttpError): void {
    rejects.add({ line: record.line, error: message, details, raw });
    state.products -= 1;
    state.variants -= record.variantCount;
    state.images -= record.images;
  }

  return {
    isFull: (batch: Batch) => countRows(batch) >= size,
    /** Whether another chunk of this size fits whole. */
    hasRoomFor(batch: Batch, records: readonly PreparedRecord[]): boolean {
      if (run.batchSize !== undefined) return true;
      const rows = records.reduce((sum, { variantCount }) => sum + 1 + variantCount, 0);
      return batch.chunks < maxChunks && countRows(batch) + rows <= size;
    },
    async commit(batch: Batch, position: number, bytes: number): Promise<void> {
      for (const reject of batch.rejects) rejects.add(reject);
      rejects.flush();
      if (batch.records.length > 0) await write(batch);
      for (const name of ['products', 'variants', 'images', 'repeated'] as const) state[name] += batch[name];
      state.done = position;
      run.progress.update({ records: state.done, handled: Math.max(0, state.done - run.skip), bytes });
    },
  };
}

/** Resolves to the awaited value, or to undefined on a stop request, even while a stream has nothing to read. */
export function waitOrStop<T>(awaited: Promise<T>, stop: AbortSignal): Promise<T | undefined> {
  // Promise.race with one promise for the whole import would keep every result of the race alive.
  return new Promise((resolve, reject) => {
    const onStop = () => resolve(undefined);
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop);
    void awaited.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop));
  });
}

const computeNextSize = (size: number, fitting: number): number =>
  Math.max(minBatch, Math.min(maxBatch, size * 2, Math.round(fitting)));
