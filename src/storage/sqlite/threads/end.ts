/** Ends the threads that work for an SQLite database. */
import type { Worker } from 'node:worker_threads';

/** Lets a thread close its connection, and keeps the process alive until the thread has ended. */
export async function endThread(thread: Worker): Promise<void> {
  thread.ref();
  const ended = Promise.withResolvers<void>();
  thread.once('exit', () => ended.resolve());
  thread.postMessage('close');
  await ended.promise;
}
