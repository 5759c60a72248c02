/** The thread that reads and checks the records of an import: see thread.ts. */
import { fullGC } from 'bun:jsc';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { getErrorMessage } from '../../error-text.ts';
import { openRecords, type RecordsRequest } from './records.ts';
import { type ThreadMessage, toColumns } from './thread.ts';

/** Counts the requests of the other thread for chunks; the returned function waits for the next one. */
function demand(from: MessagePort) {
  let wanted = 0;
  let wake = () => {};
  from.on('message', () => {
    wanted += 1;
    wake();
  });
  return async function sendOneMore(): Promise<void> {
    while (wanted === 0) await new Promise<void>(resolve => (wake = resolve));
    wanted -= 1;
  };
}

async function send(to: MessagePort, request: RecordsRequest): Promise<void> {
  const report = (message: ThreadMessage) => to.postMessage(message);
  const wanted = demand(to);
  const { totalBytes, chunks } = await openRecords(request);
  report({ kind: 'opened', totalBytes });
  for await (const { records, ...rest } of chunks) {
    await wanted();
    report({ kind: 'chunk', columns: toColumns(records), rest });
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
