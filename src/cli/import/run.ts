/** The main loop of an import: reads records and writes them in transactions of bounded length. */
import type { HttpError } from '../../http/errors.ts';
import type { ImportCounts, ImportPlan } from '../../resources/products/import/plan.ts';
import { collectMisspeltWords, type PreparedRecord } from '../../resources/products/import/prepared.ts';
import type { Chunk } from './records.ts';
import type { ImportState, Progress, Reject, Rejects } from './report.ts';

export interface BatchWriter {
  /**
   * Writes one batch in one transaction. In a dry run, only returns what it would do.
   * @param words the words of the batch's records that a search may misspell
   */
  write(
    records: readonly PreparedRecord[],
    words: readonly string[],
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
  transactionMs(): number;
  readonly rejects: Rejects;
  readonly progress: Progress;
  /** Reports a line at once. */
  say(line: string): void;
  /** Requests that the import stop after the current batch. */
  readonly stop: StopRequest;
}

export interface StopRequest {
  /** Calls `listener` when a stop is requested, or at once if it was; each listener replaces the previous one. */
  onRequest(listener: () => void): void;
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

/** The counts of records since the last commit: an import that is continued from there reads these records again. */
interface Uncommitted extends Pick<ImportState, 'products' | 'variants' | 'images' | 'repeated'> {
  readonly rejects: Reject[];
}

const createUncommitted = (): Uncommitted => ({
  rejects: [],
  ...{ products: 0, variants: 0, images: 0, repeated: 0 },
});

/**
 * Writes all records of a source.
 * @param state kept up to date, so that the caller knows how far the import came if this function rejects
 * @returns true at the end of the source; false if the import was stopped
 */
export async function runImport(run: ImportRun, state: ImportState): Promise<boolean> {
  const { chunks, rejects, progress } = run;
  let size = run.batchSize ?? firstSize;
  let batch: PreparedRecord[] = [];
  /** The source text of each record of the batch. */
  const raws = new Map<PreparedRecord, string>();
  const words = new Set<string>();
  let bytes = 0;
  let uncommitted = createUncommitted();

  async function commit(position: number): Promise<void> {
    for (const reject of uncommitted.rejects) rejects.add(reject);
    rejects.flush();
    if (batch.length > 0) {
      const started = performance.now();
      const { counts, refused, lostUploads, renamed } = await run.writer.write(batch, [...words]);
      state.lostUploads += lostUploads;
      state.renamed += renamed;
      for (const { record, error } of refused) refuse(record, error);
      if (refused.length > 0) rejects.flush();
      if (run.batchSize === undefined) {
        const milliseconds = performance.now() - started;
        size = computeNextSize(size, (weight * run.transactionMs()) / Math.max(milliseconds, 1));
      }
      batch = [];
      raws.clear();
      words.clear();
      add(state, counts);
    }
    for (const name of ['products', 'variants', 'images', 'repeated'] as const)
      state[name] += uncommitted[name];
    uncommitted = createUncommitted();
    state.done = position;
    progress.update({ records: state.done, handled: Math.max(0, state.done - run.skip), bytes });
  }

  /** Rejects a record that turns out not to fit the catalog. */
  function refuse(record: PreparedRecord, { message, details = [] }: HttpError): void {
    rejects.add({ line: record.line, error: message, details, raw: raws.get(record) ?? '' });
    state.products -= 1;
    state.variants -= record.variantCount;
    state.images -= record.images;
  }

  let position = 0;
  let weight = 0;
  let chunksTaken = 0;
  for (;;) {
    const next = await waitOrStop(chunks.next(), run.stop);
    if (next === undefined) return false;
    if (next.done === true) break;
    const { records, positions, raws: texts, passed, end, said, last } = next.value;
    for (const line of said) run.say(line);
    if (passed.length > 0) await run.writer.pass(passed);
    if (last !== undefined) Object.assign(state, last);
    const refused = [...next.value.rejects];
    // In file order: a reject is written before the records after it are committed.
    const report = (before: number) => {
      for (let [first] = refused; first !== undefined && first.position < before; [first] = refused) {
        uncommitted.rejects.push(first.reject);
        refused.shift();
      }
    };
    bytes = next.value.bytes;
    uncommitted.repeated += next.value.repeated;
    let first = 0;
    // A batch gets only the words of its own records: those of later records may be in no document yet.
    const addWords = (end: number) => {
      const isWhole = first === 0 && end === records.length;
      const own = isWhole ? next.value.words : collectMisspeltWords(records.slice(first, end));
      for (const word of own) words.add(word);
      first = end;
    };
    for (const [index, record] of records.entries()) {
      position = positions[index] ?? end;
      report(position);
      batch.push(record);
      raws.set(record, texts[index] ?? '');
      uncommitted.products += 1;
      uncommitted.variants += record.variantCount;
      uncommitted.images += record.images;
      weight += 1 + record.variantCount;
      if (weight < size || positions[index + 1] === position) continue;
      addWords(index + 1);
      await commit(position);
      weight = 0;
      chunksTaken = 0;
    }
    addWords(records.length);
    position = end;
    report(position + 1);
    chunksTaken += 1;
    if (batch.length > 0 && uncommitted.rejects.length < maxRejects && hasRoomFor(records)) continue;
    await commit(position);
    weight = 0;
    chunksTaken = 0;
  }
  await commit(position);
  return true;

  /** Whether another chunk of this size fits whole: if two batches share one, its words must be collected again. */
  function hasRoomFor(records: readonly PreparedRecord[]): boolean {
    if (run.batchSize !== undefined) return true;
    return chunksTaken < maxChunks && weight + countRows(records) <= size;
  }
}

const countRows = (records: readonly PreparedRecord[]): number =>
  records.reduce((rows, { variantCount }) => rows + 1 + variantCount, 0);

/** Resolves to the awaited value, or to undefined on a stop request, even while a stream has nothing to read. */
export function waitOrStop<T>(awaited: Promise<T>, stop: StopRequest): Promise<T | undefined> {
  // Promise.race with one promise for the whole import would keep every result of the race alive.
  return new Promise((resolve, reject) => {
    stop.onRequest(() => resolve(undefined));
    awaited.then(resolve, reject);
  });
}

const computeNextSize = (size: number, fitting: number): number =>
  Math.max(minBatch, Math.min(maxBatch, size * 2, Math.round(fitting)));

function add(state: ImportState, counts: ImportCounts): void {
  state.created += counts.created;
  state.updated += counts.updated;
  state.unchanged += counts.unchanged;
}
