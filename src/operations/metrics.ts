/** The Prometheus text format: requests, latency, database, quota and process. */
import type { Quota } from '../http/rate-limit.ts';
import type { Database } from '../storage/database.ts';
import { latencyBounds, type Observer, type RouteNumbers } from './observe.ts';

export interface MetricsSources {
  readonly observer: Observer;
  readonly database: Database;
  readonly quota: Quota;
  readonly release: string;
  /** Requests in flight. */
  readonly pending: () => number;
}

export function metricsText({ observer, database, quota, release, pending }: MetricsSources): string {
  const routes = [...observer.numbers()];
  const memory = process.memoryUsage();
  const cpu = process.cpuUsage();
  const size = database.size();
  return [
    family('catalog_build_info', 'gauge', 'The release that runs.', [
      `{release="${release}",database="${database.dialect.name}"} 1`,
    ]),
    family(
      'catalog_http_requests_total',
      'counter',
      'Requests answered.',
      routes.map(route => `${labels(route)} ${route.count}`),
    ),
    family(
      'catalog_http_request_duration_seconds',
      'histogram',
      'Time from request to response.',
      routes.flatMap(histogram),
    ),
    family('catalog_http_requests_in_flight', 'gauge', 'Requests being answered.', [` ${pending()}`]),
    family('catalog_quota_limit', 'gauge', 'Requests allowed per caller and window.', [` ${quota.limit}`]),
    family('catalog_quota_callers', 'gauge', 'Callers counted in this window.', [` ${quota.subjects()}`]),
    family('catalog_quota_rejections_total', 'counter', 'Requests answered 429.', [` ${rejections(routes)}`]),
    ...(size === undefined
      ? []
      : [
          family('catalog_database_bytes', 'gauge', 'Size of the database file.', [` ${size.bytes}`]),
          family('catalog_database_wal_bytes', 'gauge', 'Size of the write-ahead log.', [
            ` ${size.walBytes}`,
          ]),
        ]),
    family('process_cpu_seconds_total', 'counter', 'CPU time used.', [
      ` ${(cpu.user + cpu.system) / 1_000_000}`,
    ]),
    family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [` ${memory.rss}`]),
    family('process_heap_bytes', 'gauge', 'JavaScript heap in use.', [` ${memory.heapUsed}`]),
    family('process_uptime_seconds', 'gauge', 'Time since the start.', [` ${process.uptime().toFixed(3)}`]),
  ].join('');
}

/** One metric with its help, type and samples; a sample is what follows the name. */
function family(name: string, type: string, help: string, samples: readonly string[]): string {
  const lines = samples.map(sample => `${name}${sample}`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map(line => `${line}\n`).join('')}`;
}

function labels({ method, path, status }: RouteNumbers, extra = ''): string {
  return `{method="${method}",path="${path}",status="${status}"${extra}}`;
}

function histogram(route: RouteNumbers): string[] {
  let cumulative = 0;
  const buckets = latencyBounds.map((bound, index) => {
    cumulative += route.buckets[index] ?? 0;
    return `_bucket${labels(route, `,le="${bound}"`)} ${cumulative}`;
  });
  return [
    ...buckets,
    `_bucket${labels(route, ',le="+Inf"')} ${route.count}`,
    `_sum${labels(route)} ${route.seconds}`,
    `_count${labels(route)} ${route.count}`,
  ];
}

function rejections(routes: readonly RouteNumbers[]): number {
  return routes.filter(route => route.status === 429).reduce((sum, route) => sum + route.count, 0);
}
