/** The Prometheus text format: requests, latency, database, quota, queues and process. */
import type { Backlog } from '../events/deliveries.ts';
import type { Dispatcher, QueueNumbers } from '../events/dispatcher.ts';
import type { Quota } from '../http/quota/index.ts';
import type { MediaNumbers } from '../media/numbers.ts';
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

export async function metricsText({
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
  const memory = process.memoryUsage();
  const cpu = process.cpuUsage();
  const size = database.size();
  const { p99, longest } = loop.read();
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
    family('catalog_http_requests_in_flight', 'gauge', 'Requests being answered.', [` ${pending}`]),
    family('catalog_quota_limit', 'gauge', 'Requests allowed per caller and window.', [` ${quota.limit}`]),
    family('catalog_quota_callers', 'gauge', 'Callers counted in this window.', [` ${quota.subjects()}`]),
    family(
      'catalog_quota_uncounted_total',
      'counter',
      'Requests let through while the database took no writes.',
      [` ${quota.uncounted?.() ?? 0}`],
    ),
    family('catalog_quota_rejections_total', 'counter', 'Requests rejected with 429.', [
      ` ${rejections(routes)}`,
    ]),
    family('catalog_database_damage_total', 'counter', 'Requests that met damaged data.', [
      ` ${observer.damage()}`,
    ]),
    family(
      'catalog_cache_requests_total',
      'counter',
      'Requests for what may be cached: served as it was, or made again.',
      Object.entries(database.changes.uses).flatMap(([cache, { hits, misses }]) => [
        `{cache="${cache}",result="hit"} ${hits}`,
        `{cache="${cache}",result="miss"} ${misses}`,
      ]),
    ),
    ...queueFamilies([...queues.numbers()], backlog, clock.now()),
    ...mediaFamilies(media.numbers()),
    ...(size === undefined
      ? []
      : [
          family('catalog_database_bytes', 'gauge', 'Size of the database file.', [` ${size.bytes}`]),
          family('catalog_database_wal_bytes', 'gauge', 'Size of the write-ahead log.', [
            ` ${size.walBytes}`,
          ]),
        ]),
    family(
      'catalog_event_loop_delay_p99_seconds',
      'gauge',
      'Wait of what is due for the event loop since the last scrape, at the 99th percentile.',
      [` ${p99}`],
    ),
    family('catalog_event_loop_delay_max_seconds', 'gauge', 'The same, the longest.', [` ${longest}`]),
    family('process_cpu_seconds_total', 'counter', 'CPU time used.', [
      ` ${(cpu.user + cpu.system) / 1_000_000}`,
    ]),
    family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [` ${memory.rss}`]),
    family('process_heap_bytes', 'gauge', 'JavaScript heap in use.', [` ${memory.heapUsed}`]),
    family('process_uptime_seconds', 'gauge', 'Time since the start.', [` ${process.uptime().toFixed(3)}`]),
  ].join('');
}

/** @param now epoch milliseconds */
function queueFamilies(
  numbers: readonly QueueNumbers[],
  backlog: readonly Backlog[] | undefined,
  now: number,
): string[] {
  const sample = (queue: string, value: number) => `{queue="${queue}"} ${value}`;
  const delivered = numbers.map(({ queue, delivered }) => sample(queue, delivered));
  const failed = numbers.map(({ queue, failed }) => sample(queue, failed));
  const counters = [
    family('catalog_deliveries_total', 'counter', 'Deliveries made by this process.', delivered),
    family('catalog_delivery_failures_total', 'counter', 'Attempts of this process that failed.', failed),
  ];
  if (backlog === undefined) return counters;
  // An empty queue is a sample as well: what is missing cannot raise an alarm.
  const empty = numbers
    .filter(({ queue }) => !backlog.some(known => known.queue === queue))
    .map(({ queue }) => ({ queue, waiting: 0, oldest: null, failed: 0 }));
  const all = [...backlog, ...empty];
  const age = (oldest: number | null) => (oldest === null ? 0 : Math.max(0, now - oldest) / 1000);
  return [
    ...counters,
    family(
      'catalog_deliveries_waiting',
      'gauge',
      'Deliveries still to be made.',
      all.map(({ queue, waiting }) => sample(queue, waiting)),
    ),
    family(
      'catalog_deliveries_given_up',
      'gauge',
      'Deliveries that will not be tried again.',
      all.map(({ queue, failed }) => sample(queue, failed)),
    ),
    family(
      'catalog_deliveries_oldest_seconds',
      'gauge',
      'Age of the oldest delivery still to be made.',
      all.map(({ queue, oldest }) => sample(queue, age(oldest))),
    ),
  ];
}

function mediaFamilies(numbers: MediaNumbers): string[] {
  const { kept, refused, keptBytes, hits, made, madeBytes, cacheBytes } = numbers;
  return [
    family('catalog_media_uploads_total', 'counter', 'Images that were sent to this process.', [
      `{result="kept"} ${kept}`,
      `{result="refused"} ${refused}`,
    ]),
    family('catalog_media_upload_bytes_total', 'counter', 'Bytes of those that were kept.', [
      ` ${keptBytes}`,
    ]),
    family(
      'catalog_media_variants_total',
      'counter',
      'Requests for other sizes and formats of images: there already (hit), or made for them (made).',
      [`{result="hit"} ${hits}`, `{result="made"} ${made}`],
    ),
    family('catalog_media_variant_bytes_total', 'counter', 'Bytes of what was made.', [` ${madeBytes}`]),
    family('catalog_media_cache_bytes', 'gauge', 'Bytes of the other sizes and formats kept here.', [
      ` ${cacheBytes}`,
    ]),
  ];
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
