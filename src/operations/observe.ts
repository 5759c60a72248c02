/** Records every request: a log line, and the numbers behind /metrics. */

import { redactTarget } from '../http/credentials.ts';
import { HttpError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { unknownPath } from '../http/router.ts';
import type { Clock } from '../ports/clock.ts';
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

const statuses = 1000;

export function createObserver(log: Log, clock: Clock) {
  // By route, then by status and method, without building a string key: this runs for every request.
  const byRoute = new Map<string, Map<number, RouteNumbers>>();
  let damaged = 0;
  /** The beginning of the last line: many lines are written in the same millisecond. */
  let moment = { at: Number.NaN, beginning: '' };

  function ensureNumbers(exchange: Exchange, status: number): RouteNumbers {
    const path = exchange.route?.path ?? unknownPath;
    // A method without an endpoint is client input: it must not become a label.
    const method =
      exchange.endpoint === undefined && exchange.method !== 'OPTIONS' ? '(other)' : exchange.method;
    let byStatus = byRoute.get(path);
    if (byStatus === undefined) {
      byStatus = new Map();
      byRoute.set(path, byStatus);
    }
    const key = toMethodCode(method) * statuses + status;
    let numbers = byStatus.get(key);
    if (numbers === undefined) {
      const buckets: number[] = new Array(latencyBounds.length + 1).fill(0);
      numbers = { method, path, status, count: 0, seconds: 0, buckets };
      byStatus.set(key, numbers);
    }
    return numbers;
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
      const at = clock.now();
      if (at !== moment.at) moment = { at, beginning: formatLineBeginning(at) };
      log.line('info', formatRequestLine(exchange, status, moment.beginning));
    },
    /** Requests that met damaged data. */
    damage: () => damaged,
    *numbers(): Iterable<RouteNumbers> {
      for (const byStatus of byRoute.values()) yield* byStatus.values();
    },
  };
}

/** Only unforeseen failures are logged with their stack. */
function describeFailure(failure: unknown): LogFields {
  if (!(failure instanceof HttpError)) return describeError(failure);
  const cause = failure.cause === undefined ? {} : { cause: describeError(failure.cause) };
  return { error: failure.code, reason: failure.message, ...cause };
}

const methodNames = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const toMethodCode = (method: string) => methodNames.indexOf(method) + 1;

/** Joined, since a flat string is copied into the many lines faster than a rope. */
const formatLineBeginning = (at: number): string =>
  ['{"time":"', new Date(at).toISOString(), '","level":'].join('');

/** Built by hand instead of by JSON.stringify, since every request pays for this line. */
function formatRequestLine(exchange: Exchange, status: number, beginning: string): string {
  const { url, method, requestId, caller, failure } = exchange;
  const target = redactTarget(url.path, url.search);
  const level = failure === undefined ? 'info' : 'error';
  return `${beginning}"${level}","message":"request","method":"${method}","target":"${escapeText(target)}","status":${status},"ms":${exchange.elapsedText()},"caller":"${escapeText(caller.subject)}","requestId":"${escapeText(requestId)}"}\n`;
}

/** Escapes a text for a JSON string. None of the texts logged here can hold control characters. */
function escapeText(text: string): string {
  return text.includes('"') || text.includes('\\') ? JSON.stringify(text).slice(1, -1) : text;
}
