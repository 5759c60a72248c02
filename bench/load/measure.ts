/** Interleaved rounds of measurements (A B C A B C …), so that other load on the machine affects all alike. */

import { percentile, type Summary, summary } from '../report/statistics.ts';
import { cpuSeconds } from '../servers/processes.ts';
import { hitRates, readCaches } from './hits.ts';
import { type LoadResult, runLoad } from './load.ts';

/** One line of the result. */
export interface Subject {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly statuses: readonly number[];
  readonly connections: number;
  /** CPU of the database's own processes; undefined where it has none, or where they are not visible. */
  readonly databaseCpu: () => number | undefined;
  /** Whether the server reports the hit rates of its caches. */
  readonly reportsHits: boolean;
  /** Prepares the requests of a round, before the clock starts. */
  requests(round: number): Promise<(index: number) => Uint8Array>;
}

export interface Measured {
  readonly subject: Subject;
  /** CPU µs per request of the server, of the database's processes, and of both. */
  readonly service: Summary;
  readonly database: Summary | undefined;
  readonly both: Summary;
  readonly perSecond: Summary;
  /** Milliseconds within which half of the requests, and 99 % of them, were served. */
  readonly p50: Summary;
  readonly p99: Summary;
  /** Shares of products and lists that were cached in the last round, where the server reports them. */
  readonly hits: string;
}

interface Sample {
  readonly service: number;
  readonly database: number | undefined;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly hits: string;
}

export interface RoundOptions {
  readonly rounds: number;
  readonly milliseconds: number;
  readonly progress: (text: string) => void;
}

/**
 * Rounds that are not counted: the servers' code is compiled in steps, the last of them after seconds of work,
 * and totals and cursors are looked up once. A single round only checks that everything runs, and needs none.
 */
const warmupsOf = ({ rounds }: RoundOptions) => (rounds === 1 ? 0 : 2);

export async function measure(subjects: readonly Subject[], options: RoundOptions): Promise<Measured[]> {
  const samples = new Map<Subject, Sample[]>(subjects.map(subject => [subject, []]));
  const warmups = warmupsOf(options);
  for (let round = 1 - warmups; round <= options.rounds; round++) {
    options.progress(round > 0 ? `round ${round} of ${options.rounds}` : 'warming up');
    for (const subject of subjects) {
      const sample = await measureOnce(subject, round + warmups, options.milliseconds);
      if (round > 0) samples.get(subject)?.push(sample);
    }
  }
  return subjects.map(subject => summarise(subject, samples.get(subject) ?? []));
}

async function measureOnce(subject: Subject, round: number, milliseconds: number): Promise<Sample> {
  const { port, statuses, connections, pid } = subject;
  const request = await subject.requests(round);
  const caches = async () => (subject.reportsHits ? readCaches(port) : new Map<string, number>());
  const cached = await caches();
  const service = cpuSeconds(pid);
  const database = subject.databaseCpu();
  let result: LoadResult;
  try {
    result = await runLoad({ port, request, statuses, connections, milliseconds });
  } catch (error) {
    throw new Error(`${subject.name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  const after = subject.databaseCpu();
  const each = (seconds: number) => (seconds * 1_000_000) / result.requests;
  const used = cpuSeconds(pid) - service;
  return {
    service: each(used),
    hits: hitRates(cached, await caches()),
    database: database === undefined || after === undefined ? undefined : each(after - database),
    perSecond: result.requests / result.seconds,
    p50: percentile(result.latencies, 0.5),
    p99: percentile(result.latencies, 0.99),
  };
}

function summarise(subject: Subject, samples: readonly Sample[]): Measured {
  const database = samples.flatMap(sample => sample.database ?? []);
  return {
    subject,
    service: summary(samples.map(sample => sample.service)),
    database: database.length === 0 ? undefined : summary(database),
    both: summary(samples.map(sample => sample.service + (sample.database ?? 0))),
    perSecond: summary(samples.map(sample => sample.perSecond)),
    p50: summary(samples.map(sample => sample.p50)),
    p99: summary(samples.map(sample => sample.p99)),
    hits: samples.at(-1)?.hits ?? '–',
  };
}
