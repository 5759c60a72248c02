/** Copies a database in a thread beside this one: see worker.ts. */
import { Worker } from 'node:worker_threads';
import type { CopyOutcome, CopyRequest } from './worker.ts';

/** @returns how many products it has, for a restore @throws Error with one line that says why there is no whole copy */
export async function copyInThread(request: CopyRequest): Promise<number | undefined> {
  const thread = new Worker(new URL('./worker.ts', import.meta.url), { workerData: request });
  const outcome = await new Promise<CopyOutcome>((resolve, reject) => {
    thread.on('message', resolve);
    thread.on('error', reject);
  });
  if ('failure' in outcome) throw new Error(outcome.failure);
  return outcome.products;
}
