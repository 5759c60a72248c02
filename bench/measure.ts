/** Rounds of measurements, interleaved: A B C A B C …, so that what disturbs the machine disturbs all alike. */
import { type LoadResult, runLoad } from './load.ts';
import { cpuSeconds } from './processes.ts';
import { type Summary, summary } from './statistics.ts';

/** One line of the result. */
export interface Subject {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly status: number;
  readonly connections: number;
  /** CPU of the database's own processes; undefined where it has none, or they cannot be seen. */
  readonly databaseCpu: () => number | undefined;
  /** Makes the requests of a round, before the clock runs. */
  requests(round: number): Promise<(index: number) => Uint8Array>;
}

export interface Measured {
  readonly subject: Subject;
  /** CPU µs per request of the server, of the database's processes, and of both. */
  readonly service: Summary;
  readonly database: Summary | undefined;
  readonly both: Summary;
  readonly perSecond: Summary;
}

interface Sample {
  readonly service: number;
  readonly database: number | undefined;
  readonly perSecond: number;
}

export interface RoundOptions {
  readonly rounds: number;
  readonly milliseconds: number;
  readonly progress: (text: string) => void;
}

/**
 * Rounds that are left out: the servers' code is compiled in steps, the last of them after seconds of work,
 * and totals and cursors are looked up once.
 */
const warmups = 2;

export async function measure(subjects: readonly Subject[], options: RoundOptions): Promise<Measured[]> {
  const samples = new Map<Subject, Sample[]>(subjects.map(subject => [subject, []]));
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
  const { port, status, connections, pid } = subject;
  const request = await subject.requests(round);
  const service = cpuSeconds(pid);
  const database = subject.databaseCpu();
  let result: LoadResult;
  try {
    result = await runLoad({ port, request, status, connections, milliseconds });
  } catch (error) {
    throw new Error(`${subject.name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  const after = subject.databaseCpu();
  const each = (seconds: number) => (seconds * 1_000_000) / result.requests;
  return {
    service: each(cpuSeconds(pid) - service),
    database: database === undefined || after === undefined ? undefined : each(after - database),
    perSecond: result.requests / result.seconds,
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
  };
}
