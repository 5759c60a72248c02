/**
 * What a promise is rejected with. `expect(promise).rejects` waits inside the call and runs an event loop of its own
 * there: callbacks of `setImmediate` that are due with the one that called it never run, and the test hangs.
 */
import { expect } from 'bun:test';

/** Fails the test when the promise is fulfilled, or rejected with another message. */
export async function expectRejection(promise: Promise<unknown>, message: string | RegExp): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(() => {
    if (error !== undefined) throw error;
  }).toThrow(message);
}
