/** The thread that reads and checks the records of an import: see thread.ts. */
import { fullGC } from 'bun:jsc';
import { on } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { getErrorMessage } from '../../error-text.ts';
import { openRecords, type RecordsRequest } from './records.ts';
import type { ThreadMessage } from './thread.ts';

async function send(to: MessagePort, request: RecordsRequest): Promise<void> {
  const report = (message: ThreadMessage) => to.postMessage(message);
  // One for each chunk that the other thread wants.
  const requests = on(to, 'message');
  const { totalBytes, chunks } = await openRecords(request);
  report({ kind: 'opened', totalBytes });
  for await (const { records, ...rest } of chunks) {
    await requests.next();
    report({ kind: 'chunk', records: JSON.stringify(records), rest });
    // Without this, the heap grows to several times what a chunk needs.
    fullGC();
  }
  report({ kind: 'end' });
}

const port = parentPort;
if (port === null) throw new Error('cli/import/worker.ts is a thread of catalog import');
// Boundary: workerData comes from the thread that started this one.
send(port, workerData as RecordsRequest).catch((error: unknown) => {
  const message = getErrorMessage(error);
  port.postMessage({ kind: 'failed', message } satisfies ThreadMessage);
});
