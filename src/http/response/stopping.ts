/**
 * How clients experience a stop. As soon as it begins, each response closes its connection (RFC 9112 §9.6), so that
 * clients go elsewhere. Just before the listening socket is closed, requests are held for a moment. A client that sends
 * one request after another is then waiting for a response, and opens no connection that would be refused.
 */
export type Stopping = Pick<ReturnType<typeof createStopControl>, 'hasBegun' | 'gate'>;

/** Milliseconds without a new request after which all clients are assumed to be waiting, and the limit of that wait. */
const quietMs = 100;
const holdMs = 1000;

export function createStopControl() {
  let begun = false;
  let held: PromiseWithResolvers<void> | undefined;
  let lastHeld = 0;
  return {
    hasBegun: () => begun,
    /** Resolves when held requests may continue; undefined while none are held. */
    gate(): Promise<void> | undefined {
      if (held !== undefined) lastHeld = performance.now();
      return held?.promise;
    },
    begin(): void {
      begun = true;
    },
    /** Holds requests from now on. Resolves after a moment without a new one, or when the limit is reached. */
    async hold(): Promise<void> {
      held = Promise.withResolvers();
      const until = performance.now() + holdMs;
      // On a busy machine, requests are received late.
      do await Bun.sleep(quietMs);
      while (performance.now() - lastHeld < quietMs && performance.now() < until);
    },
    release(): void {
      held?.resolve();
      held = undefined;
    },
  };
}
