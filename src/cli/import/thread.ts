/**
 * The records of an import, read and checked by a thread of their own: while one batch is being written the next
 * is made ready, so that an import uses two processors. A small file is read before the thread would have started.
 */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type Columns, parseColumns } from './columns.ts';
import { type Chunk, type OpenedRecords, openRecords, type RecordsRequest } from './records.ts';

export type ThreadMessage =
  | { readonly kind: 'opened'; readonly totalBytes: number | undefined }
  | { readonly kind: 'chunk'; readonly columns: Columns; readonly rest: Omit<Chunk, 'records'> }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly message: string };

/** Chunks that may wait to be written; each holds up to a MiB of records. */
const ahead = 2;

/** Bytes of a file that is read in the thread that writes. */
const small = 64 * 1024;

/** As `openRecords`, in a thread of its own where that is faster. */
export function openRecordsInWorkerUnlessSmall(request: RecordsRequest): Promise<OpenedRecords> {
  return isSmall(request.file) ? openRecords(request) : openRecordsInWorker(request);
}

/** Never a stream, nor what may be much larger when it is unpacked. */
function isSmall(file: string): boolean {
  const stats = file === '-' || file.endsWith('.gz') ? undefined : statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= small;
}

/** In a thread that ends with the last chunk, or when the generator returns early. */
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

/** The thread's messages one after another; its own failure is the last of them. */
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
