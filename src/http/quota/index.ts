/** The request quota: a fixed window per caller, in plain sight on every response. */

import type { Clock } from '../../ports/clock.ts';
import { HttpError } from '../errors.ts';
import { createWindow } from './window.ts';

export interface QuotaState {
  readonly allowed: boolean;
  /** Requests per window for this caller. */
  readonly limit: number;
  /** Requests left in this window. */
  readonly remaining: number;
  /** When the window ends, in seconds since the epoch. */
  readonly reset: number;
}

export interface Quota {
  /** Requests per window for callers without a limit of their own, and the window's length in seconds. */
  readonly limit: number;
  readonly window: number;
  /** Counts one request. @param limit the caller's own, in place of the quota's */
  charge(subject: string, limit?: number): QuotaState | Promise<QuotaState>;
  /**
   * Gives a request back that turned out to be free.
   * @param most how many a caller gets back per window; any number when not given
   */
  refund(subject: string, limit?: number, most?: number): QuotaState;
  /** What is left, without counting. */
  peek(subject: string, limit?: number): QuotaState;
  /** Requests that were let through because the database could not count them; where there is one to count. */
  uncounted?(): number;
  /** Callers counted in this window. */
  subjects(): number;
  /** Forgets some windows that are long over; gives how many counters: see `removeInParts`. */
  sweep(): Promise<number>;
}

/** Makes quotas of the kind that the database calls for; `name` distinguishes their counters. */
export type QuotaFactory = (name: string, limit: number, window: number, options?: QuotaOptions) => Quota;

interface QuotaOptions {
  /** Whether requests go on uncounted while the database takes no writes. */
  readonly failsOpen?: boolean;
}

/** A 429 that says how long to wait. @param now epoch milliseconds */
export function createRateLimitError(
  message: string,
  { reset }: QuotaState,
  now: number,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  const seconds = Math.max(1, reset - Math.floor(now / 1000));
  return new HttpError('RATE_LIMITED', {
    message: `${message}; retry in ${seconds} second${seconds === 1 ? '' : 's'}.`,
    headers: { ...headers, 'Retry-After': String(seconds) },
  });
}

/** The headers of a quota: those of the specification, and the IETF's (draft-ietf-httpapi-ratelimit-headers). */
export function buildQuotaHeaders(
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

/** A quota for one process: nothing is shared, nothing is waited for. */
export function createMemoryQuota(usual: number, window: number, clock: Clock): Quota {
  const used = createWindow<{ count: number; refunded: number }>(window, clock);
  const toState = (count: number, reset: number, limit: number, allowed = true): QuotaState => ({
    allowed,
    limit,
    remaining: Math.max(0, limit - count),
    reset,
  });

  return {
    limit: usual,
    window,
    charge(subject, limit = usual) {
      const reset = used.turn();
      const counter = used.ensure(subject, () => ({ count: 0, refunded: 0 }));
      if (counter.count >= limit) return toState(counter.count, reset, limit, false);
      counter.count += 1;
      return toState(counter.count, reset, limit);
    },
    refund(subject, limit = usual, most = Number.POSITIVE_INFINITY) {
      const reset = used.turn();
      const counter = used.find(subject);
      if (counter === undefined) return toState(0, reset, limit);
      if (counter.refunded < most) {
        counter.refunded += 1;
        counter.count = Math.max(0, counter.count - 1);
      }
      return toState(counter.count, reset, limit);
    },
    peek(subject, limit = usual) {
      const reset = used.turn();
      return toState(used.find(subject)?.count ?? 0, reset, limit);
    },
    subjects: () => used.size(),
    // The window that is over was dropped as a whole.
    sweep: async () => 0,
  };
}
