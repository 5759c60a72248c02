/**
 * Attempts at external deliveries. Each may take as long as its consumer allows. Meanwhile its claim is renewed: no
 * other replica makes the same delivery however long it takes, but one soon takes over from a dead replica.
 */
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import type { Claimed, Deliveries } from './deliveries.ts';

/** How long a claim holds without being renewed: after this the replica counts as dead. */
export const claimMs = 30_000;
const renewMs = claimMs / 3;
/** Time limit of one attempt, unless its consumer sets another. */
export const defaultAttemptMs = 20_000;
/** A longer attempt does not count among those under way: others must not wait for it. */
export const defaultSlowMs = 10_000;

interface Attempt {
  readonly claimed: Claimed;
  readonly attemptMs: number | undefined;
  /** Called when the attempt becomes slow. */
  readonly onSlow: () => void;
  /** @param signal aborts when the time is up, the service stops, or another process has taken over the delivery */
  deliver(signal: AbortSignal): Promise<void>;
}

interface Attempted {
  /** The claim as last renewed. */
  readonly claimed: Claimed;
  readonly outcome: PromiseSettledResult<void>;
}

interface Options {
  readonly database: Pick<Database, 'write'>;
  readonly clock: Clock;
  readonly slowMs: number;
}

export function createAttempts(stored: Deliveries, { database, clock, slowMs }: Options) {
  const underWay = new Set<AbortController>();

  /** Renews a claim repeatedly. @returns a function that stops the renewal and returns the claim as last renewed */
  function keep(claimed: Claimed, controller: AbortController): () => Promise<Claimed> {
    let current = claimed;
    let renewing: Promise<void> = Promise.resolve();
    async function renew(): Promise<void> {
      try {
        const renewed = await database.write(session =>
          stored.renew(session, current, clock.now() + claimMs),
        );
        if (renewed === undefined) controller.abort(new Error('another process has taken the delivery over'));
        else current = renewed;
      } catch {
        // The database cannot be used. The next renewal may succeed; until then other processes cannot claim either.
      }
    }
    const timer = setInterval(() => {
      renewing = renewing.then(renew);
    }, renewMs);
    return async () => {
      clearInterval(timer);
      await renewing;
      return current;
    };
  }

  return {
    async make({ claimed, attemptMs = defaultAttemptMs, onSlow, deliver }: Attempt): Promise<Attempted> {
      const controller = new AbortController();
      const end = () => controller.abort(new Error('the attempt took too long'));
      const timers = [setTimeout(onSlow, slowMs), setTimeout(end, attemptMs)];
      const settled = keep(claimed, controller);
      underWay.add(controller);
      const [outcome] = await Promise.allSettled([deliver(controller.signal)]);
      underWay.delete(controller);
      for (const timer of timers) clearTimeout(timer);
      return { claimed: await settled(), outcome };
    },
    abortAll(): void {
      for (const controller of underWay) controller.abort(new Error('the service stops'));
    },
  };
}
