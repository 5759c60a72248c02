/**
 * How a stop shows at the door. From its beginning responses ask for the connection to be closed (RFC 9112 §9.6), so
 * that clients go elsewhere. Just before the listening socket is closed, requests are held for a moment: anyone who sends
 * one after the other is then waiting for a response instead of opening a connection that nobody will accept.
 */
export interface Stopping {
  hasBegun(): boolean;
  /** Resolves when held requests go on; undefined while none are held. */
  gate(): Promise<void> | undefined;
}

export interface StopControl extends Stopping {
  begin(): void;
  hold(): void;
  release(): void;
}

export function createStopControl(): StopControl {
  let begun = false;
  let held: PromiseWithResolvers<void> | undefined;
  return {
    hasBegun: () => begun,
    gate: () => held?.promise,
    begin() {
      begun = true;
    },
    hold() {
      held = Promise.withResolvers();
    },
    release() {
      held?.resolve();
      held = undefined;
    },
  };
}
