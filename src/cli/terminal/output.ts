/** Writes to standard output and reports failures, unlike `console.log`, which ignores them. */
import { getErrorMessage } from '../../error-text.ts';

/** Writes lines. @throws Error when standard output cannot be written: the disk is full, or the reader has gone */
export function printLines(...lines: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onWritten = (error?: Error | null) => (error == null ? resolve() : reject(error));
  // The stream also emits the failure later as an event, which ends the process if there is no listener.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);
  process.stdout.write(`${lines.join('\n')}\n`, onWritten);
  return promise;
}

/**
 * Writes lines with a secret that cannot be shown again.
 * @param undo advice for the case that the lines cannot be shown
 * @throws Error with that advice
 */
export async function printSecret(lines: readonly string[], undo: string): Promise<void> {
  try {
    await printLines(...lines);
  } catch (error) {
    const reason = getErrorMessage(error);
    throw new Error(`the command succeeded, but the secret could not be shown (${reason}): ${undo}`, {
      cause: error,
    });
  }
}
