/**
 * The thread that copies the write-ahead log into the database file: see checkpoint.ts. It responds to each message
 * `checkpoint` when the copy is complete, and ends on `close`.
 */
import { Database as Connection } from 'bun:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Pages that may remain, for a last pass of about a millisecond. */
const leftPages = 400;
/** Maximum number of passes: each copies what was written during the one before, and is usually shorter. */
const passes = 4;

const connection = new Connection(String(workerData), { readwrite: true, strict: true });
// With FULL, a checkpoint flushes the database file before the log is reused.
connection.run('PRAGMA synchronous = FULL');
connection.run('PRAGMA cache_size = -1000');
const checkpoint = connection.prepare<{ log: number; checkpointed: number }, []>(
  'PRAGMA wal_checkpoint(PASSIVE)',
);
const readLog = connection.prepare<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)');

function copyLog(): void {
  for (let pass = 0; pass < passes; pass++) {
    checkpoint.all();
    const [row] = readLog.all();
    if (row === undefined || row.log - row.checkpointed <= leftPages) return;
  }
}

parentPort?.on('message', message => {
  if (message === 'checkpoint') {
    copyLog();
    parentPort?.postMessage('done');
    return;
  }
  checkpoint.finalize();
  readLog.finalize();
  connection.close(true);
  parentPort?.close();
});
