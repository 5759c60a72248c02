/** Standard output, for what must not be lost without a word: `console.log` says nothing when it cannot be written. */
import { getErrorMessage } from '../../error-text.ts';

/** Writes lines. @throws Error when standard output cannot be written: its disk is full, or its reader has gone */
export function printLines(...lines: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onWritten = (error?: Error | null) => (error == null ? resolve() : reject(error));
  // The stream reports a failure to its listeners as well, later, and ends the process if there is no listener.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);
  process.stdout.write(`${lines.join('\n')}\n`, onWritten);
  return promise;
}

/**
 * Writes lines with a secret that cannot be shown again.
 * @param undo what to do when they could not be shown
 * @throws Error that says so
 */
export async function printSecret(lines: readonly string[], undo: string): Promise<void> {
  try {
    await printLines(...lines);
  } catch (error) {
    const reason = getErrorMessage(error);
    throw new Error(`it is done, but the secret could not be shown (${reason}): ${undo}`, { cause: error });
  }
}
