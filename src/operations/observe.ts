/** What is kept of every request: a log line and the numbers behind /metrics. */
import type { Exchange } from '../http/exchange.ts';
import type { Clock } from '../ports/clock.ts';
import { describeError, type Log } from './log.ts';

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
  /** Requests per bucket (not cumulative); the last is for all beyond the bounds. */
  readonly buckets: number[];
}

export interface Observer {
  served(exchange: Exchange, status: number): void;
  numbers(): Iterable<RouteNumbers>;
}

export function observer(log: Log, clock: Clock): Observer {
  const byRoute = new Map<string, RouteNumbers>();

  function count(exchange: Exchange, status: number, milliseconds: number): void {
    const path = exchange.route?.path ?? '(unknown)';
    // A method that no endpoint has is the client's own text: it must not become a label.
    const method =
      exchange.endpoint === undefined && exchange.method !== 'OPTIONS' ? '(other)' : exchange.method;
    const key = `${method} ${status} ${path}`;
    let numbers = byRoute.get(key);
    if (numbers === undefined) {
      numbers = {
        method,
        path,
        status,
        count: 0,
        seconds: 0,
        buckets: new Array(latencyBounds.length + 1).fill(0),
      };
      byRoute.set(key, numbers);
    }
    const seconds = milliseconds / 1000;
    numbers.count++;
    numbers.seconds += seconds;
    let bucket = 0;
    while (bucket < latencyBounds.length && seconds > (latencyBounds[bucket] ?? 0)) bucket++;
    numbers.buckets[bucket] = (numbers.buckets[bucket] ?? 0) + 1;
  }

  return {
    served(exchange, status) {
      const milliseconds = exchange.elapsed();
      count(exchange, status, milliseconds);
      if (exchange.failure !== undefined) {
        log.error('request failed', { requestId: exchange.requestId, ...describeError(exchange.failure) });
      }
      if (log.isEnabled('info')) log.line('info', requestLine(exchange, status, milliseconds, clock.now()));
    },
    numbers: () => byRoute.values(),
  };
}

/** Written by hand rather than by JSON.stringify: it is the one line that every request pays for. */
function requestLine(exchange: Exchange, status: number, milliseconds: number, now: number): string {
  const { url, method, requestId, caller } = exchange;
  const target = JSON.stringify(redacted(url.search === '' ? url.path : `${url.path}?${url.search}`));
  const who = caller?.subject ?? 'none';
  const level = status >= 500 ? 'error' : 'info';
  return `{"time":"${new Date(now).toISOString()}","level":"${level}","message":"request","method":${JSON.stringify(method)},"target":${target},"status":${status},"ms":${milliseconds.toFixed(3)},"caller":${JSON.stringify(who)},"requestId":${JSON.stringify(requestId)}}`;
}

/** Query strings are logged, so credentials in them are not. */
export function redacted(target: string): string {
  return target.replace(/([?&](?:api_key|token|password|access_token|refreshToken)=)[^&]*/gi, '$1[redacted]');
}
