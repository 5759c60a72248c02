/** Records every request: a log line, and the numbers behind /metrics. */

import { redactTarget } from '../http/credentials.ts';
import { HttpError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { unknownPath } from '../http/router.ts';
import { StorageError } from '../storage/database.ts';
import { describeError, type Log, type LogFields } from './log.ts';

/** Upper bounds of the latency histogram, in seconds. */
export const latencyBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

export interface RouteNumbers {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  count: number;
  seconds: number;
  /** Requests per bucket (not cumulative); the last bucket is for those beyond the bounds. */
  readonly buckets: number[];
}

export type Observer = ReturnType<typeof createObserver>;

export function createObserver(log: Log) {
  const byLabels = new Map<string, RouteNumbers>();
  let damaged = 0;

  function ensureNumbers(exchange: Exchange, status: number): RouteNumbers {
    const path = exchange.route?.path ?? unknownPath;
    // A method without an endpoint is client input: it must not become a label.
    const method =
      exchange.endpoint === undefined && exchange.method !== 'OPTIONS' ? '(other)' : exchange.method;
    return byLabels.getOrInsertComputed(`${method} ${status} ${path}`, () => {
      const buckets: number[] = new Array(latencyBounds.length + 1).fill(0);
      return { method, path, status, count: 0, seconds: 0, buckets };
    });
  }

  return {
    served(exchange: Exchange, status: number): void {
      const seconds = exchange.elapsed() / 1_000_000;
      const numbers = ensureNumbers(exchange, status);
      numbers.count++;
      numbers.seconds += seconds;
      let bucket = 0;
      while (bucket < latencyBounds.length && seconds > (latencyBounds[bucket] ?? 0)) bucket++;
      numbers.buckets[bucket] = (numbers.buckets[bucket] ?? 0) + 1;
      if (exchange.failure !== undefined) {
        if (exchange.failure instanceof StorageError && exchange.failure.kind === 'damaged') damaged++;
        log.error('request failed', { requestId: exchange.requestId, ...describeFailure(exchange.failure) });
      }
      if (!log.isEnabled('info')) return;
      const { url, method, requestId, caller, failure } = exchange;
      const target = redactTarget(url.path, url.search);
      const fields = {
        method,
        target,
        status,
        ms: exchange.elapsed() / 1000,
        caller: caller.subject,
        requestId,
      };
      if (failure === undefined) log.info('request', fields);
      else log.error('request', fields);
    },
    /** Requests that met damaged data. */
    damage: () => damaged,
    numbers: (): Iterable<RouteNumbers> => byLabels.values(),
  };
}

/** Only unforeseen failures are logged with their stack. */
function describeFailure(failure: unknown): LogFields {
  if (!(failure instanceof HttpError)) return describeError(failure);
  const cause = failure.cause === undefined ? {} : { cause: describeError(failure.cause) };
  return { error: failure.code, reason: failure.message, ...cause };
}
