/**
 * Reads and checks the records of an import in a separate thread: while one batch is written the next is prepared, so
 * an import uses two processors. A small file is read here, before a thread would even have started.
 */
import { on } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { PreparedRecord } from '../../resources/products/import/prepared.ts';
import { type Chunk, type OpenedRecords, openRecords, type RecordsRequest } from './records.ts';

/** The records of a chunk are passed as JSON: copying the objects takes a tenth of an import. */
export type ThreadMessage =
  | { readonly kind: 'opened'; readonly totalBytes: number | undefined }
  | { readonly kind: 'chunk'; readonly records: string; readonly rest: Omit<Chunk, 'records'> }
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

async function openRecordsInWorker(request: RecordsRequest): Promise<OpenedRecords> {
  const thread = new Worker(new URL('./worker.ts', import.meta.url), { workerData: request });
  const messages = readMessages(thread);
  for (let sent = 0; sent < ahead; sent++) thread.postMessage('more');
  const { value } = await messages.next();
  return { totalBytes: value?.kind === 'opened' ? value.totalBytes : undefined, chunks: readChunks() };

  async function* readChunks(): AsyncGenerator<Chunk> {
    for await (const message of messages) {
      if (message.kind !== 'chunk') return;
      thread.postMessage('more');
      // Boundary: the thread wrote this text.
      yield { ...message.rest, records: JSON.parse(message.records) as PreparedRecord[] };
    }
  }
}

/** The thread ends with its last message, or when the generator returns early. */
async function* readMessages(thread: Worker): AsyncGenerator<ThreadMessage> {
  try {
    // Boundary: worker.ts sends these messages.
    for await (const [message] of on(thread, 'message') as AsyncIterable<[ThreadMessage]>) {
      if (message.kind === 'failed') throw new Error(message.message);
      yield message;
    }
  } finally {
    await thread.terminate();
  }
}
