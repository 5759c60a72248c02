/** The thread that reads in the background: see reader.ts. It sends the rows of each statement; `close` ends it. */
import { parentPort, workerData } from 'node:worker_threads';
import { getErrorMessage } from '../../../error-text.ts';
import { StorageError } from '../../database.ts';
import { connectReader } from '../connection.ts';
import type { BackgroundResult, BackgroundStatement } from './reader.ts';

const reader = connectReader(String(workerData));

parentPort?.on('message', (message: BackgroundStatement | 'close') => {
  if (message === 'close') {
    reader.close();
    parentPort?.close();
    return;
  }
  void run(message).then(given => parentPort?.postMessage(given));
});

async function run(statement: BackgroundStatement): Promise<BackgroundResult> {
  try {
    return { rows: await reader.rows(statement) };
  } catch (error) {
    const kind = error instanceof StorageError ? error.kind : undefined;
    return { kind, message: getErrorMessage(error) };
  }
}
