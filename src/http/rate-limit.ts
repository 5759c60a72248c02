/** The request quota: a fixed window per caller, in plain sight on every answer. */
import type { Clock } from '../ports/clock.ts';
import { boundedMap } from './bounded-map.ts';
import { HttpError } from './errors.ts';

export interface QuotaState {
  readonly allowed: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  /** When the window ends, in seconds since the epoch. */
  readonly reset: number;
}

export interface Quota {
  /** Requests per window, and its length in seconds. */
  readonly limit: number;
  readonly window: number;
  /** Counts one request. */
  charge(subject: string): QuotaState | Promise<QuotaState>;
  /** Gives a request back that turned out to be free. */
  refund(subject: string): QuotaState;
  /** What is left, without counting. */
  peek(subject: string): QuotaState;
  /** Callers counted in this window. */
  subjects(): number;
  /** Forgets windows that are long over; gives how many counters there were. */
  sweep(): Promise<number>;
}

/** Makes quotas of the kind that the database calls for; `name` tells their counters apart. */
export type QuotaFactory = (name: string, limit: number, window: number) => Quota;

/** A 429 that says how long to wait. @param now epoch milliseconds */
export function usedUp(message: string, { reset }: QuotaState, now: number): HttpError {
  const seconds = Math.max(1, reset - Math.floor(now / 1000));
  return new HttpError('RATE_LIMITED', {
    message: `${message}; retry in ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  });
}

/** The headers of a quota: those of the specification, and the IETF's (draft-ietf-httpapi-ratelimit-headers). */
export function quotaHeaders(
  { limit, window }: Pick<Quota, 'limit' | 'window'>,
  { remaining, reset }: QuotaState,
  now: number,
): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Window': String(window),
    'X-RateLimit-Reset': String(reset),
    'X-RateLimit-Remaining': String(remaining),
    'RateLimit-Policy': `"default";q=${limit};w=${window}`,
    RateLimit: `"default";r=${remaining};t=${Math.max(0, reset - Math.floor(now / 1000))}`,
  };
}

/** How many callers are counted at most; beyond it those not seen for longest are forgotten. */
export const subjectLimit = 200_000;

/** A quota for one process: nothing is shared, nothing is waited for. */
export function memoryQuota(limit: number, window: number, clock: Clock): Quota {
  // Objects rather than numbers: adding to one leaves the map as it is.
  let used = boundedMap<string, { count: number }>(subjectLimit);
  let start = 0;

  function turnWindow(): number {
    const now = Math.floor(clock.now() / 1000);
    const current = now - (now % window);
    if (current !== start) {
      start = current;
      used = boundedMap(subjectLimit);
    }
    return start + window;
  }
  const state = (count: number, reset: number, allowed = true): QuotaState => ({
    allowed,
    remaining: Math.max(0, limit - count),
    reset,
  });

  return {
    limit,
    window,
    charge(subject) {
      const reset = turnWindow();
      let counter = used.get(subject);
      if (counter === undefined) {
        counter = { count: 0 };
        used.set(subject, counter);
      }
      if (counter.count >= limit) return state(counter.count, reset, false);
      counter.count += 1;
      return state(counter.count, reset);
    },
    refund(subject) {
      const reset = turnWindow();
      const counter = used.get(subject);
      if (counter === undefined) return state(0, reset);
      counter.count = Math.max(0, counter.count - 1);
      return state(counter.count, reset);
    },
    peek(subject) {
      const reset = turnWindow();
      return state(used.get(subject)?.count ?? 0, reset);
    },
    subjects: () => used.size(),
    // The window that is over was dropped as a whole.
    sweep: async () => 0,
  };
}
