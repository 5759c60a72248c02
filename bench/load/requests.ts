/** The cost of requests: the service on every database and size, compared with bare servers, in one run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { representation } from '../data/catalog-data.ts';
import type { Options } from '../report/options.ts';
import { type Bar, drawCosts } from '../report/picture.ts';
import { markdownTable, spread, thousands } from '../report/statistics.ts';
import { type DatabaseKind, postgresCopy, sqliteCopy } from '../servers/databases.ts';
import type { PostgresServer } from '../servers/postgres.ts';
import {
  findReference,
  referenceOnPostgres,
  referenceOnSqlite,
  referenceToken,
  startReference,
} from '../servers/reference.ts';
import { type RunningServer, signIn, startBareBun, startBareNode, startService } from '../servers/servers.ts';
import { type Measured, measure, type Subject } from './measure.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { get } from './wire.ts';

/** A running service and what it runs on. */
interface Instance {
  readonly service: 'catalog' | 'reference';
  readonly kind: DatabaseKind;
  readonly size: number;
  readonly server: RunningServer;
  token(): Promise<string>;
  readonly databaseCpu: () => number | undefined;
}

interface Line {
  readonly scenario: string;
  readonly service: Instance['service'];
  readonly kind: DatabaseKind;
  readonly size: number;
  readonly measured: Measured;
}

const bareConnections = 32;

/** @returns the tables of all requests and of the growth with the catalog, in Markdown */
export async function measureRequests(
  options: Options,
  postgres: PostgresServer | undefined,
  progress: (text: string) => void,
): Promise<string> {
  const chosen = scenarios.filter(({ name }) => options.only.has(name));
  const logs = mkdtempSync(join(tmpdir(), 'catalog-bench-logs-'));
  const cleanup: (() => Promise<void>)[] = [];
  try {
    const bare = await bareSubjects(logs, cleanup);
    const instances = await startAll(options, postgres, logs, cleanup, progress);
    const reads: Line[] = [];
    const bars: Bar[] = [];
    const tables: string[] = [];
    for (const writes of [false, true]) {
      const lines = await measureAll(
        chosen.filter(scenario => (scenario.writes ?? false) === writes),
        instances,
        bare,
        { ...options, progress },
      );
      if (lines === undefined) continue;
      if (!writes) reads.push(...lines.service.filter(({ service }) => service === 'catalog'));
      tables.push(costTable(lines.bare, lines.service));
      bars.push(...barsOf(lines.bare, lines.service));
    }
    if (options.picture !== undefined) await Bun.write(options.picture, drawCosts(bars));
    return [...tables, ...growthTable(reads)].join('\n\n');
  } finally {
    for (const undo of cleanup.reverse()) await undo();
    rmSync(logs, { recursive: true, force: true });
  }
}

async function bareSubjects(logs: string, cleanup: (() => Promise<void>)[]): Promise<Subject[]> {
  const body = representation(1);
  const servers = [
    { name: 'bare node:http', server: await startBareNode(body, join(logs, 'node')) },
    { name: 'bare Bun.serve', server: await startBareBun(body, join(logs, 'bun')) },
  ];
  return servers.map(({ name, server: { port, pid, stop } }) => {
    cleanup.push(stop);
    const bytes = get('/v1/products/1', 'x'.repeat(200));
    const requests = async () => () => bytes;
    return {
      name,
      port,
      pid,
      statuses: [200],
      connections: bareConnections,
      databaseCpu: () => undefined,
      reportsHits: false,
      requests,
    };
  });
}

async function startAll(
  options: Options,
  postgres: PostgresServer | undefined,
  logs: string,
  cleanup: (() => Promise<void>)[],
  progress: (text: string) => void,
): Promise<Instance[]> {
  const instances: Instance[] = [];
  for (const kind of options.databases) {
    for (const size of options.sizes) {
      progress(`${kind}, ${thousands(size)} products: preparing the database`);
      const onServer = kind === 'postgresql' ? postgres : undefined;
      const database = await (onServer === undefined ? sqliteCopy(size) : postgresCopy(onServer, size));
      cleanup.push(database.remove);
      const server = await startService(database.settings, join(logs, `${kind}-${size}`));
      cleanup.push(server.stop);
      const databaseCpu = () => onServer?.cpuSeconds();
      const token = () => signIn(server.port);
      instances.push({ service: 'catalog', kind, size, server, token, databaseCpu });
      const reference = findReference(kind, progress);
      if (reference === undefined) continue;
      const made = await (onServer === undefined
        ? referenceOnSqlite(size)
        : referenceOnPostgres(onServer, size));
      cleanup.push(made.remove);
      const peer = await startReference(reference, made.settings, join(logs, `reference-${kind}-${size}`));
      cleanup.push(peer.stop);
      const peerToken = async () => referenceToken();
      instances.push({ service: 'reference', kind, size, server: peer, token: peerToken, databaseCpu });
    }
  }
  return instances;
}

async function measureAll(
  chosen: readonly Scenario[],
  instances: readonly Instance[],
  bare: readonly Subject[],
  options: Options & { progress: (text: string) => void },
) {
  if (chosen.length === 0) return undefined;
  const parts: (Omit<Line, 'measured'> & { subject: Subject })[] = [];
  for (const scenario of chosen) {
    for (const instance of instances) {
      const { service, kind, size } = instance;
      if (service === 'reference' && scenario.reference !== true) continue;
      parts.push({
        scenario: scenario.name,
        service,
        kind,
        size,
        subject: await subjectOf(scenario, instance),
      });
    }
  }
  const measured = await measure([...bare, ...parts.map(({ subject }) => subject)], options);
  const service = parts.flatMap(({ subject, ...part }) => {
    const found = measured.find(candidate => candidate.subject === subject);
    return found === undefined ? [] : [{ ...part, measured: found }];
  });
  return { bare: measured.slice(0, bare.length), service };
}

async function subjectOf(
  scenario: Scenario,
  { service, kind, size, server, databaseCpu, token }: Instance,
): Promise<Subject> {
  const { port, pid } = server;
  const make = await scenario.prepare({ port, size }, await token());
  return {
    name: `${scenario.name}, ${service}, ${kind}, ${thousands(size)} products`,
    port,
    pid,
    statuses: scenario.statuses,
    connections: scenario.connections,
    databaseCpu,
    reportsHits: service === 'catalog',
    // Each round gets a new token, because a run may last longer than a token is valid.
    requests: async round => make(round, await token()),
  };
}

function costTable(bare: readonly Measured[], lines: readonly Line[]): string {
  const [node, bun] = bare.map(({ both }) => both.median);
  // A short run may have measured no CPU time at all.
  const ratio = (value: number, to = 0) => (to === 0 ? '–' : (value / to).toFixed(2));
  const row = (
    name: string,
    where: string,
    size: string,
    { service, database, both, perSecond, hits, p50, p99 }: Measured,
    peer?: number,
  ) => [
    name,
    where,
    size,
    spread(service),
    database === undefined ? '–' : spread(database),
    ratio(both.median, node),
    ratio(both.median, bun),
    ratio(both.median, peer),
    hits,
    thousands(perSecond.median),
    p50.median.toFixed(1),
    p99.median.toFixed(1),
  ];
  return markdownTable([
    [
      'request',
      'database',
      'products',
      'CPU µs',
      'database CPU µs',
      '× node:http',
      '× Bun.serve',
      '× reference',
      'cached: one, list',
      'requests/s',
      'p50 ms',
      'p99 ms',
    ],
    ...bare.map(measured => row(measured.subject.name, '–', '–', measured)),
    ...lines.map(line => {
      const { scenario, service, kind, size, measured } = line;
      const name = service === 'catalog' ? scenario : `${scenario}, ${service}`;
      return row(name, kind, thousands(size), measured, peerOf(lines, line));
    }),
  ]);
}

/** The bars of the picture: all requests to the service, with the cost of the reference service where measured. */
function barsOf(bare: readonly Measured[], lines: readonly Line[]): Bar[] {
  const node = bare[0]?.both.median ?? Number.NaN;
  return lines
    .filter(({ service }) => service === 'catalog')
    .map(line => ({
      request: line.scenario,
      database: line.kind,
      products: line.size,
      service: line.measured.service.median,
      databaseCost: line.measured.database?.median ?? 0,
      reference: peerOf(lines, line),
      node,
    }));
}

/** The cost of the same request to the reference service. */
function peerOf(lines: readonly Line[], { scenario, service, kind, size }: Line): number | undefined {
  if (service === 'reference') return undefined;
  return lines.find(
    line =>
      line.service === 'reference' && line.scenario === scenario && line.kind === kind && line.size === size,
  )?.measured.both.median;
}

/** How the cost grows from the smallest catalog to the largest; empty when there is only one size. */
function growthTable(lines: readonly Line[]): string[] {
  const sizes = [...new Set(lines.map(({ size }) => size))].sort((a, b) => a - b);
  const [smallest] = sizes;
  const largest = sizes.at(-1);
  if (smallest === undefined || largest === undefined || smallest === largest) return [];
  const rows = lines
    .filter(({ size }) => size === smallest)
    .flatMap(small => {
      const large = lines.find(
        line => line.size === largest && line.scenario === small.scenario && line.kind === small.kind,
      );
      if (large === undefined) return [];
      const growth = large.measured.both.median / small.measured.both.median;
      return [[small.scenario, small.kind, growth.toFixed(2)]];
    });
  return [
    markdownTable([
      ['request', 'database', `CPU at ${thousands(largest)} ÷ ${thousands(smallest)}`],
      ...rows,
    ]),
  ];
}
