/**
 * The thread that copies the write-ahead log into the database file: see checkpoint.ts. It responds to each
 * message `checkpoint` when it is done, and ends on `close`.
 */
import { Database as Connection } from 'bun:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Pages that may be left to the writer, which copies them in about a millisecond. */
const leftPages = 400;
/** Each pass finds what was written during the one before, so each is shorter; not for ever. */
const passes = 4;

const connection = new Connection(String(workerData), { readwrite: true, strict: true });
// FULL is what makes a checkpoint flush the database file before the log is used again.
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
