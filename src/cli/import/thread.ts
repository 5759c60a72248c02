/**
 * Reads and checks the records of an import in a separate thread: while one batch is written the next is prepared, so
 * an import uses two processors. A small file is read here, before a thread would even have started.
 */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';
import { type Chunk, type OpenedRecords, openRecords, type RecordsRequest } from './records.ts';

export type ThreadMessage =
  | { readonly kind: 'opened'; readonly totalBytes: number | undefined }
  | { readonly kind: 'chunk'; readonly columns: Columns; readonly rest: Omit<Chunk, 'records'> }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly message: string };

/** At most this many chunks wait to be written; each has up to a MiB of records. */
const ahead = 2;

/** A file of up to this many bytes is read in the thread that writes. */
const small = 64 * 1024;

/** Like `openRecords`, but in a separate thread where that is faster. */
export function openRecordsInWorkerUnlessSmall(request: RecordsRequest): Promise<OpenedRecords> {
  return isSmall(request.file) ? openRecords(request) : openRecordsInWorker(request);
}

/** False for streams and for packed files, which may be much larger when unpacked. */
function isSmall(file: string): boolean {
  const stats = file === '-' || file.endsWith('.gz') ? undefined : statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= small;
}

/** The thread ends with the last chunk, or when the generator returns early. */
async function openRecordsInWorker(request: RecordsRequest): Promise<OpenedRecords> {
  const thread = new Worker(new URL('./worker.ts', import.meta.url), { workerData: request });
  const messages = createMessageReader(thread);
  for (let sent = 0; sent < ahead; sent++) thread.postMessage('more');
  const first = await messages.next();
  if (first.kind !== 'opened') throw new Error(first.kind === 'failed' ? first.message : 'nothing was read');
  return { totalBytes: first.totalBytes, chunks: readChunks() };

  async function* readChunks(): AsyncGenerator<Chunk> {
    try {
      for (;;) {
        const message = await messages.next();
        if (message.kind === 'failed') throw new Error(message.message);
        if (message.kind !== 'chunk') return;
        thread.postMessage('more');
        yield { ...message.rest, records: parseColumns(message.columns) };
      }
    } finally {
      await thread.terminate();
    }
  }
}

/** Reads the messages of the thread one by one; a failure of the thread is its last message. */
function createMessageReader(thread: Worker): { next(): Promise<ThreadMessage> } {
  const arrived: ThreadMessage[] = [];
  let waiting: ((message: ThreadMessage) => void) | undefined;
  const onMessage = (message: ThreadMessage) => {
    if (waiting === undefined) arrived.push(message);
    else waiting(message);
    waiting = undefined;
  };
  thread.on('message', onMessage);
  thread.on('error', (error: Error) => onMessage({ kind: 'failed', message: error.message }));
  return {
    next() {
      const message = arrived.shift();
      if (message !== undefined) return Promise.resolve(message);
      return new Promise(resolve => {
        waiting = resolve;
      });
    },
  };
}

/**
 * Records to pass between threads: their longest texts are concatenated, and the rest is JSON. Copying objects takes
 * several times as long, and including these texts in the JSON twice as long.
 */
export interface Columns {
  readonly documents: string;
  readonly words: string;
  /** A JSON array. */
  readonly rest: string;
}

/** Never occurs in the texts of a product: the schema refuses it, and JSON escapes it. */
const between = '\0';

export function toColumns(records: readonly PreparedRecord[]): Columns {
  return {
    documents: records.map(({ row }) => row.document).join(between),
    words: records.map(({ words }) => words).join(between),
    rest: JSON.stringify(
      records.map(({ row: { document: _document, ...row }, words: _words, ...rest }) => ({ ...rest, row })),
    ),
  };
}

export function parseColumns({ documents, words, rest }: Columns): PreparedRecord[] {
  const documentOf = documents.split(between);
  const wordsOf = words.split(between);
  // Boundary: toColumns, in the other thread, wrote this text.
  return (JSON.parse(rest) as PreparedRecord[]).map((record, index) => ({
    ...record,
    words: wordsOf[index] ?? '',
    row: { ...record.row, document: documentOf[index] ?? '' },
  }));
}
