/**
 * The thread that copies a database for `catalog backup` and `catalog restore`. SQLite blocks the thread that it runs
 * in until the copy is done; on the main thread, no signal would be handled during that time.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { getErrorMessage } from '../../error-text.ts';
import { refuseNewer } from '../../storage/migrations/migrate.ts';
import { copySqlite } from '../../storage/sqlite/files/copy.ts';
import { prepareRestored } from '../../storage/sqlite/files/restore.ts';

export interface CopyRequest {
  readonly command: 'backup' | 'restore';
  /** The file to copy; `to` must not exist yet. */
  readonly from: string;
  readonly to: string;
}

/** Products are counted only for a restore. */
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

// Boundary: workerData comes from the thread that started this one.
parentPort?.postMessage(runCopy(workerData as CopyRequest));
