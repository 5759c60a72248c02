/**
 * Expects a promise to be rejected. `expect(promise).rejects` waits inside the call and runs a nested event loop:
 * `setImmediate` callbacks that are due together with the calling one never run, and the test hangs.
 */
import { expect } from 'bun:test';

/** Fails the test when the promise is fulfilled or is rejected with another message. */
export async function expectRejection(promise: Promise<unknown>, message: string | RegExp): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(() => {
    if (error !== undefined) throw error;
  }).toThrow(message);
}
