/**
 * The thread that copies the database for `catalog backup`: SQLite blocks the thread that it runs in until it is done, and
 * there no signal would be handled.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { getErrorMessage } from '../../error-text.ts';
import { copySqlite } from '../../storage/sqlite/files/copy.ts';

export interface CopyRequest {
  readonly database: string;
  readonly copy: string;
}

/** Undefined when the copy is whole. */
export type CopyFailure = string | undefined;

function runCopy({ database, copy }: CopyRequest): CopyFailure {
  try {
    copySqlite(database, copy);
    return undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}

// Boundary: the thread that started this one says what it wants.
parentPort?.postMessage(runCopy(workerData as CopyRequest));
