/** Copies a database in a worker thread: see worker.ts. */
import { Worker } from 'node:worker_threads';
import type { CopyOutcome, CopyRequest } from './worker.ts';

/** @returns the number of products, for a restore @throws Error with one line that says why the copy failed */
export async function copyInThread(request: CopyRequest): Promise<number | undefined> {
  const thread = new Worker(new URL('./worker.ts', import.meta.url), { workerData: request });
  const outcome = await new Promise<CopyOutcome>((resolve, reject) => {
    thread.on('message', resolve);
    thread.on('error', reject);
  });
  if ('failure' in outcome) throw new Error(outcome.failure);
  return outcome.products;
}
