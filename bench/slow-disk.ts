/**
 * Reads while a client writes, on a disk that takes 5 ms for each flush, as network disks do: the service runs under
 * strace, which delays its flushes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadResult, runLoad } from './load/load.ts';
import { type MakeRequests, scenarios } from './load/scenarios.ts';
import type { Options } from './report/options.ts';
import { markdownTable, percentile, spread, summary, thousands } from './report/statistics.ts';
import { sqliteCopy } from './servers/databases.ts';
import { serviceCommand, shipped, signIn, start } from './servers/servers.ts';

const flushMs = 5;
const slowly = [
  ...['strace', '-f', '-o', '/dev/null', '--seccomp-bpf', '-e', 'trace=fdatasync,fsync'],
  ...['-e', `inject=fdatasync,fsync:delay_enter=${flushMs * 1000}`],
];
const connections = 32;

interface Round {
  readonly alone: LoadResult;
  readonly beside: LoadResult;
  readonly writer: LoadResult;
}

/** @returns a table in Markdown, or a line that says why there is none */
export async function measureSlowDisk({ sizes, rounds, milliseconds }: Options): Promise<string> {
  if (Bun.which('strace') === null || Bun.spawnSync([...slowly, 'true']).exitCode !== 0)
    return 'slow-disk: skipped, since strace is not installed or may not trace';
  const size = sizes[0] ?? 0;
  const database = await sqliteCopy(size);
  const logs = mkdtempSync(join(tmpdir(), 'catalog-bench-slow-'));
  const settings = { ...shipped, ...database.settings };
  const tracer = await start([...slowly, ...serviceCommand], '/ready', settings, join(logs, 'service'));
  try {
    const measured: Round[] = [];
    for (let round = 0; round <= rounds; round++) {
      const found = await measureRound(tracer.port, size, round, milliseconds);
      if (round > 0) measured.push(found);
    }
    return table(size, measured);
  } finally {
    // strace does not forward signals: the service is its child process.
    const service = Bun.spawnSync(['pgrep', '-P', String(tracer.pid)])
      .stdout.toString()
      .trim();
    process.kill(Number(service), 'SIGTERM');
    await tracer.stop();
    await database.remove();
    rmSync(logs, { recursive: true, force: true });
  }
}

/** Measures reads alone, then the same reads beside a writer. */
async function measureRound(port: number, size: number, round: number, milliseconds: number): Promise<Round> {
  const token = await signIn(port);
  const requestsOf = async (name: string) => {
    const scenario = scenarios.find(candidate => candidate.name === name);
    const make: MakeRequests | undefined = await scenario?.prepare({ port, size }, token);
    if (make === undefined) throw new Error(`no scenario is called ${name}`);
    return make(round, token);
  };
  const reads = { port, request: await requestsOf('get-one'), statuses: [200], connections, milliseconds };
  const writes = { port, request: await requestsOf('update'), statuses: [200], connections: 1, milliseconds };
  const alone = await runLoad(reads);
  const [beside, writer] = await Promise.all([runLoad(reads), runLoad(writes)]);
  return { alone, beside, writer };
}

function table(size: number, rounds: readonly Round[]): string {
  const row = (name: string, of: (round: Round) => LoadResult) => {
    const results = rounds.map(of);
    const middle = (share: number) =>
      summary(results.map(({ latencies }) => percentile(latencies, share))).median.toFixed(1);
    const rate = summary(results.map(({ requests, seconds }) => requests / seconds));
    return [name, spread(rate, 0), middle(0.5), middle(0.99)];
  };
  const ratios = rounds.map(
    ({ alone, beside }) => beside.requests / beside.seconds / (alone.requests / alone.seconds),
  );
  return `${markdownTable([
    [`at ${flushMs} ms a flush, ${thousands(size)} products`, 'requests/s', 'p50 ms', 'p99 ms'],
    row('get-one', ({ alone }) => alone),
    row('get-one beside one writer', ({ beside }) => beside),
    row('that writer: update', ({ writer }) => writer),
  ])}\n\nBeside the writer: ${spread(summary(ratios), 2)} × the reads without it.`;
}
