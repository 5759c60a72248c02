/** The Prometheus text format: requests, latency, database, quota, queues and process. */
import type { Backlog } from '../events/deliveries.ts';
import type { Dispatcher, QueueNumbers } from '../events/dispatcher.ts';
import type { Quota } from '../http/quota/index.ts';
import type { MediaNumbers } from '../media/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../storage/database.ts';
import type { LoopDelay } from './loop-delay.ts';
import { latencyBounds, type Observer, type RouteNumbers } from './observe.ts';

export interface MetricsSources {
  readonly observer: Observer;
  readonly database: Database;
  readonly quota: Quota;
  readonly release: string;
  /** Requests in flight. */
  readonly pending: number;
  readonly loop: Pick<LoopDelay, 'read'>;
  readonly queues: Pick<Dispatcher, 'backlog' | 'numbers'>;
  readonly media: { numbers(): MediaNumbers };
  readonly clock: Clock;
}

export async function formatMetrics({
  observer,
  database,
  quota,
  release,
  pending,
  loop,
  queues,
  clock,
  media,
}: MetricsSources): Promise<string> {
  const backlog = await queues.backlog();
  const routes = [...observer.numbers()];
  const cpu = process.cpuUsage();
  const size = database.size();
  const { p99, longest } = loop.read();
  return [
    formatFamily('catalog_build_info', 'gauge', 'The running release.', [
      `{release="${release}",database="${database.dialect.name}"} 1`,
    ]),
    formatFamily(
      'catalog_http_requests_total',
      'counter',
      'Completed requests.',
      routes.map(route => `${formatLabels(route)} ${route.count}`),
    ),
    formatFamily(
      'catalog_http_request_duration_seconds',
      'histogram',
      'Time from request to response.',
      routes.flatMap(formatHistogram),
    ),
    formatGauge('catalog_http_requests_in_flight', 'Requests in progress.', pending),
    formatGauge('catalog_quota_limit', 'Requests allowed per caller and window.', quota.limit),
    formatGauge('catalog_quota_callers', 'Callers counted in this window.', quota.subjects()),
    formatCounter(
      'catalog_quota_uncounted_total',
      'Requests admitted without counting while the database accepted no writes.',
      quota.uncounted?.() ?? 0,
    ),
    formatCounter('catalog_quota_rejections_total', 'Requests rejected with 429.', countRejections(routes)),
    formatCounter(
      'catalog_database_damage_total',
      'Requests that encountered damaged data.',
      observer.damage(),
    ),
    formatFamily(
      'catalog_cache_requests_total',
      'counter',
      'Cache lookups, by result.',
      Object.entries(database.changes.uses).flatMap(([cache, { hits, misses }]) => [
        `{cache="${cache}",result="hit"} ${hits}`,
        `{cache="${cache}",result="miss"} ${misses}`,
      ]),
    ),
    ...formatQueueFamilies([...queues.numbers()], backlog, clock.now()),
    ...formatMediaFamilies(media.numbers()),
    ...(size === undefined
      ? []
      : [
          formatGauge('catalog_database_bytes', 'Size of the database file.', size.bytes),
          formatGauge('catalog_database_wal_bytes', 'Size of the write-ahead log.', size.walBytes),
        ]),
    formatGauge(
      'catalog_event_loop_delay_p99_seconds',
      'Event loop delay since the last scrape, 99th percentile.',
      p99,
    ),
    formatGauge(
      'catalog_event_loop_delay_max_seconds',
      'Longest event loop delay since the last scrape.',
      longest,
    ),
    formatCounter('process_cpu_seconds_total', 'CPU time used.', (cpu.user + cpu.system) / 1_000_000),
    ...formatMemory(),
    formatGauge('process_uptime_seconds', 'Time since the start.', process.uptime().toFixed(3)),
  ].join('');
}

/** @param now epoch milliseconds */
function formatQueueFamilies(
  numbers: readonly QueueNumbers[],
  backlog: readonly Backlog[] | undefined,
  now: number,
): string[] {
  const formatSample = (queue: string, value: number) => `{queue="${queue}"} ${value}`;
  const delivered = numbers.map(({ queue, delivered }) => formatSample(queue, delivered));
  const failed = numbers.map(({ queue, failed }) => formatSample(queue, failed));
  const counters = [
    formatFamily('catalog_deliveries_total', 'counter', 'Deliveries completed by this process.', delivered),
    formatFamily(
      'catalog_delivery_failures_total',
      'counter',
      'Failed delivery attempts of this process.',
      failed,
    ),
  ];
  if (backlog === undefined) return counters;
  // An empty queue needs a sample, too: a missing one cannot trigger an alert.
  const empty = numbers
    .filter(({ queue }) => !backlog.some(known => known.queue === queue))
    .map(({ queue }) => ({ queue, waiting: 0, oldest: null, failed: 0 }));
  const all = [...backlog, ...empty];
  const computeAge = (oldest: number | null) => (oldest === null ? 0 : Math.max(0, now - oldest) / 1000);
  return [
    ...counters,
    formatFamily(
      'catalog_deliveries_waiting',
      'gauge',
      'Pending deliveries.',
      all.map(({ queue, waiting }) => formatSample(queue, waiting)),
    ),
    formatFamily(
      'catalog_deliveries_given_up',
      'gauge',
      'Deliveries that will not be retried.',
      all.map(({ queue, failed }) => formatSample(queue, failed)),
    ),
    formatFamily(
      'catalog_deliveries_oldest_seconds',
      'gauge',
      'Age of the oldest pending delivery.',
      all.map(({ queue, oldest }) => formatSample(queue, computeAge(oldest))),
    ),
  ];
}

function formatMediaFamilies(numbers: MediaNumbers): string[] {
  const { kept, refused, keptBytes, hits, made, madeBytes, cacheBytes } = numbers;
  return [
    formatFamily('catalog_media_uploads_total', 'counter', 'Images uploaded to this process, by result.', [
      `{result="kept"} ${kept}`,
      `{result="refused"} ${refused}`,
    ]),
    formatCounter(
      'catalog_media_upload_bytes_total',
      'Bytes of the uploaded images that were kept.',
      keptBytes,
    ),
    formatFamily(
      'catalog_media_variants_total',
      'counter',
      'Requests for image variants: cached (hit) or created (made).',
      [`{result="hit"} ${hits}`, `{result="made"} ${made}`],
    ),
    formatCounter('catalog_media_variant_bytes_total', 'Bytes of the created image variants.', madeBytes),
    formatGauge('catalog_media_cache_bytes', 'Bytes of the image variants cached here.', cacheBytes),
  ];
}

/** None when no more files can be opened, since the numbers are read from one. */
function formatMemory(): string[] {
  try {
    const { rss, heapUsed } = process.memoryUsage();
    return [
      formatGauge('process_resident_memory_bytes', 'Resident memory.', rss),
      formatGauge('process_heap_bytes', 'JavaScript heap in use.', heapUsed),
    ];
  } catch {
    return [];
  }
}

const formatGauge = (name: string, help: string, value: number | string): string =>
  formatFamily(name, 'gauge', help, [` ${value}`]);

const formatCounter = (name: string, help: string, value: number): string =>
  formatFamily(name, 'counter', help, [` ${value}`]);

/** One metric with its help, type and samples; a sample is the text after the name. */
function formatFamily(name: string, type: string, help: string, samples: readonly string[]): string {
  const lines = samples.map(sample => `${name}${sample}`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map(line => `${line}\n`).join('')}`;
}

function formatLabels({ method, path, status }: RouteNumbers, extra = ''): string {
  return `{method="${method}",path="${path}",status="${status}"${extra}}`;
}

function formatHistogram(route: RouteNumbers): string[] {
  let cumulative = 0;
  const buckets = latencyBounds.map((bound, index) => {
    cumulative += route.buckets[index] ?? 0;
    return `_bucket${formatLabels(route, `,le="${bound}"`)} ${cumulative}`;
  });
  return [
    ...buckets,
    `_bucket${formatLabels(route, ',le="+Inf"')} ${route.count}`,
    `_sum${formatLabels(route)} ${route.seconds}`,
    `_count${formatLabels(route)} ${route.count}`,
  ];
}

function countRejections(routes: readonly RouteNumbers[]): number {
  return routes.filter(route => route.status === 429).reduce((sum, route) => sum + route.count, 0);
}
