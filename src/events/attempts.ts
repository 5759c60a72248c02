/**
 * Attempts at external deliveries. Each may take as long as its consumer allows. While it is under way its claim is renewed:
 * so another replica does not make the same delivery however long it takes, and takes over soon what a dead one has left.
 */
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import type { Claimed, Deliveries } from './deliveries.ts';

/** How long a replica that says nothing more has an external delivery to itself: after this it is taken for dead. */
export const claimMs = 30_000;
const renewMs = claimMs / 3;
/** What one attempt may take, unless its consumer says otherwise. */
export const defaultAttemptMs = 20_000;
/** An attempt that takes longer does not count among those under way: others are not to wait for it. */
export const defaultSlowMs = 10_000;

interface Attempt {
  readonly claimed: Claimed;
  readonly attemptMs: number | undefined;
  /** Called when it is slow. */
  readonly onSlow: () => void;
  /** @param signal aborts when the time is over, when the service stops, and when another process has the delivery */
  deliver(signal: AbortSignal): Promise<void>;
}

interface Attempted {
  /** As it is by now. */
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

  /** Renews a claim from now on. @returns ends that, and gives the claim as it is then */
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
        // The database cannot be used now: the next time it may be, and until then others cannot claim anything either.
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
