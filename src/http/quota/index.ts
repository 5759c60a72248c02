/** The request quota: a fixed window per caller, shown in every response. */

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

/** A limit as its headers show it. */
export interface Policy {
  /** Distinguishes the limits of single operations from the caller's quota, which is `default`. */
  readonly name?: string;
  /** Requests per window; in a quota, of callers without a limit of their own. */
  readonly limit: number;
  /** In seconds. */
  readonly window: number;
}

export interface Quota extends Policy {
  /** Counts one request. @param limit the caller's own limit, instead of the quota's */
  charge(subject: string, limit?: number): QuotaState | Promise<QuotaState>;
  /** Takes back a request that turned out to be free. @param maxRefunds the refunds of a caller per window */
  refund(subject: string, limit: number, maxRefunds: number): QuotaState;
  /** The current state of a caller without a limit of its own, without counting. */
  peek(subject: string): QuotaState;
  /** Requests admitted uncounted because the database could not count them; only with a database. */
  uncounted?(): number;
  /** Callers counted in this window. */
  subjects(): number;
  /** Deletes some counters of past windows and returns how many: see `removeInParts`. */
  sweep(): Promise<number>;
}

/** Creates quotas of the kind that suits the database; `name` distinguishes their counters. */
export type QuotaFactory = (name: string, limit: number, window: number, options?: QuotaOptions) => Quota;

interface QuotaOptions {
  /** Whether requests are admitted uncounted while the database accepts no writes. */
  readonly failsOpen?: boolean;
}

/** A 429 with the time to wait. @param now epoch milliseconds */
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
  { name = 'default', limit, window }: Policy,
  { remaining, reset }: QuotaState,
  now: number,
): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Window': String(window),
    'X-RateLimit-Reset': String(reset),
    'X-RateLimit-Remaining': String(remaining),
    'RateLimit-Policy': `"${name}";q=${limit};w=${window}`,
    RateLimit: `"${name}";r=${remaining};t=${Math.max(0, reset - Math.floor(now / 1000))}`,
  };
}

/** A quota for one process, which shares nothing and never waits. */
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
    refund(subject, limit, maxRefunds) {
      const reset = used.turn();
      const counter = used.find(subject);
      if (counter === undefined) return toState(0, reset, limit);
      if (counter.refunded < maxRefunds) {
        counter.refunded += 1;
        counter.count = Math.max(0, counter.count - 1);
      }
      return toState(counter.count, reset, limit);
    },
    peek(subject) {
      const reset = used.turn();
      return toState(used.find(subject)?.count ?? 0, reset, usual);
    },
    subjects: () => used.size(),
    // The past window was dropped as a whole.
    sweep: async () => 0,
  };
}
