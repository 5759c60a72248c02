/**
 * The thread that copies a database for `catalog backup` and `catalog restore`: SQLite blocks the thread that it runs
 * in until it is done, and there no signal would be handled.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { getErrorMessage } from '../../error-text.ts';
import { refuseNewer } from '../../storage/migrations/migrate.ts';
import { copySqlite } from '../../storage/sqlite/files/copy.ts';
import { prepareRestored } from '../../storage/sqlite/files/restore.ts';

export interface CopyRequest {
  readonly command: 'backup' | 'restore';
  /** What is copied, and the file that does not exist yet. */
  readonly from: string;
  readonly to: string;
}

/** How many products there are is known of what is to be restored. */
export type CopyOutcome = { readonly products?: number } | { readonly failure: string };

function runCopy({ command, from, to }: CopyRequest): CopyOutcome {
  try {
    if (command === 'restore') return { products: prepareRestored(from, to, refuseNewer) };
    copySqlite(from, to);
    return {};
  } catch (error) {
    return { failure: getErrorMessage(error) };
  }
}

// Boundary: the thread that started this one says what it wants.
parentPort?.postMessage(runCopy(workerData as CopyRequest));
