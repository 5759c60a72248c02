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
    formatFamily('catalog_http_requests_in_flight', 'gauge', 'Requests in progress.', [` ${pending}`]),
    formatFamily('catalog_quota_limit', 'gauge', 'Requests allowed per caller and window.', [
      ` ${quota.limit}`,
    ]),
    formatFamily('catalog_quota_callers', 'gauge', 'Callers counted in this window.', [
      ` ${quota.subjects()}`,
    ]),
    formatFamily(
      'catalog_quota_uncounted_total',
      'counter',
      'Requests admitted without counting while the database accepted no writes.',
      [` ${quota.uncounted?.() ?? 0}`],
    ),
    formatFamily('catalog_quota_rejections_total', 'counter', 'Requests rejected with 429.', [
      ` ${countRejections(routes)}`,
    ]),
    formatFamily('catalog_database_damage_total', 'counter', 'Requests that encountered damaged data.', [
      ` ${observer.damage()}`,
    ]),
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
          formatFamily('catalog_database_bytes', 'gauge', 'Size of the database file.', [` ${size.bytes}`]),
          formatFamily('catalog_database_wal_bytes', 'gauge', 'Size of the write-ahead log.', [
            ` ${size.walBytes}`,
          ]),
        ]),
    formatFamily(
      'catalog_event_loop_delay_p99_seconds',
      'gauge',
      'Event loop delay since the last scrape, 99th percentile.',
      [` ${p99}`],
    ),
    formatFamily(
      'catalog_event_loop_delay_max_seconds',
      'gauge',
      'Longest event loop delay since the last scrape.',
      [` ${longest}`],
    ),
    formatFamily('process_cpu_seconds_total', 'counter', 'CPU time used.', [
      ` ${(cpu.user + cpu.system) / 1_000_000}`,
    ]),
    ...formatMemory(),
    formatFamily('process_uptime_seconds', 'gauge', 'Time since the start.', [
      ` ${process.uptime().toFixed(3)}`,
    ]),
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
    formatFamily(
      'catalog_media_upload_bytes_total',
      'counter',
      'Bytes of the uploaded images that were kept.',
      [` ${keptBytes}`],
    ),
    formatFamily(
      'catalog_media_variants_total',
      'counter',
      'Requests for image variants: cached (hit) or created (made).',
      [`{result="hit"} ${hits}`, `{result="made"} ${made}`],
    ),
    formatFamily('catalog_media_variant_bytes_total', 'counter', 'Bytes of the created image variants.', [
      ` ${madeBytes}`,
    ]),
    formatFamily('catalog_media_cache_bytes', 'gauge', 'Bytes of the image variants cached here.', [
      ` ${cacheBytes}`,
    ]),
  ];
}

/** None when no more files can be opened, since the numbers are read from one. */
function formatMemory(): string[] {
  try {
    const { rss, heapUsed } = process.memoryUsage();
    return [
      formatFamily('process_resident_memory_bytes', 'gauge', 'Resident memory.', [` ${rss}`]),
      formatFamily('process_heap_bytes', 'gauge', 'JavaScript heap in use.', [` ${heapUsed}`]),
    ];
  } catch {
    return [];
  }
}

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
