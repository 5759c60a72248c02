/** A circuit breaker: after several failures in a row it makes no attempts for a while, and then a single one. */
import { type Clock, isRecent } from './clock.ts';

/** No attempt was made: the last ones failed, and the pause is not over. */
class CircuitOpen extends Error {}

export interface CircuitOptions {
  readonly clock: Clock;
  /** Consecutive failures that open the circuit. */
  readonly failures: number;
  /** How long it stays open, in milliseconds. */
  readonly pauseMs: number;
  readonly onChange: (state: 'open' | 'closed', reason: unknown) => void;
}

export function createCircuit({ clock, failures, pauseMs, onChange }: CircuitOptions) {
  let failed = 0;
  let failedAt = 0;
  let trying = false;
  const isOpen = () => failed >= failures;
  return {
    /** @throws CircuitOpen, or what `work` throws */
    async run<T>(work: () => Promise<T>): Promise<T> {
      const isTrial = isOpen();
      if (isTrial && (trying || isRecent(failedAt, pauseMs, clock.now())))
        throw new CircuitOpen('left alone after failures');
      trying ||= isTrial;
      try {
        const result = await work();
        // An attempt that began before the circuit opened closes it, too.
        if (isOpen()) onChange('closed', undefined);
        failed = 0;
        return result;
      } catch (error) {
        failed += 1;
        failedAt = clock.now();
        if (failed === failures) onChange('open', error);
        throw error;
      } finally {
        if (isTrial) trying = false;
      }
    },
  };
}
