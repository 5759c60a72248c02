/** The thread that reads and checks the records of an import: see import-thread.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { openRecords, type RecordsRequest } from './import-records.ts';
import type { ThreadMessage } from './import-thread.ts';

const port = parentPort;
if (port === null) throw new Error('import-worker.ts is a thread of catalog import');

let sent = 0;
let wanted = 0;
let wake = () => {};
port.on('message', () => {
  wanted += 1;
  wake();
});
const tell = (message: ThreadMessage) => port.postMessage(message);

try {
  // Boundary: the thread that started this one says what it wants.
  const { totalBytes, chunks } = await openRecords(workerData as RecordsRequest);
  tell({ kind: 'opened', totalBytes });
  for await (const chunk of chunks) {
    // As text: to copy the objects of a chunk from thread to thread takes twice as long.
    tell({ kind: 'chunk', text: JSON.stringify(chunk) });
    if (++sent % 8 === 0) Bun.gc(true);
    wanted -= 1;
    while (wanted <= 0) await new Promise<void>(resolve => (wake = resolve));
  }
  tell({ kind: 'end' });
} catch (error) {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
}
