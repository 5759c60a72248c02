/**
 * A stop breaks nothing: clients with keep-alive connections continue, directly and behind a load balancer, while a
 * service is stopped; and the programs that start the service leave no process behind.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/tests/postgresql.ts';
import { createPlace, type Place, type Running, waitFor } from '../cli/program.ts';
import { hasPostgres } from '../support/service/postgres.ts';
import { conclude, isShort, roundsOf, skipped } from './outcome.ts';

const clients = 32;
const rounds = roundsOf(20);
const settings = { HOST: '127.0.0.1', RATE_LIMIT: '100000000', LOG_LEVEL: 'error', STOP_DELAY: '1' };
const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
const root = join(import.meta.dir, '..', '..');

interface Outcome {
  served: number;
  /** Requests that ended without a response of the service. */
  readonly broken: string[];
}

async function serve(place: Place, port: number): Promise<Running> {
  const child = place.start(['serve', '--port', String(port)]);
  await waitFor(child.stderr, /ready at (http:\S+)/);
  return child;
}

/** Sends one request on a kept connection. Resolves with the status, or the code of the failure. */
function get(agent: Agent, port: number): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const sent = request({ agent, host: '127.0.0.1', port, path: '/health' }, response => {
    response.resume();
    response.on('end', () => resolve(response.statusCode ?? 0));
    response.on('error', () => resolve('cut off'));
  });
  sent.on('error', error => resolve('code' in error ? String(error.code) : error.message));
  sent.end();
  return promise;
}

/** Clients that send one request after the other until they are stopped or the port is closed. */
function load(port: number, endsWhenRefused: boolean) {
  const outcome: Outcome = { served: 0, broken: [] };
  let running = true;
  const client = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (running) {
      const result = await get(agent, port);
      if (result === 200) outcome.served++;
      else if (result === 'ECONNREFUSED' && endsWhenRefused) break;
      else outcome.broken.push(String(result));
    }
    agent.destroy();
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    outcome,
    ended,
    async stop() {
      running = false;
      await ended;
    },
  };
}

/** Counts requests, not writes: each served request counts as acknowledged and found. */
function concludeStops(name: string, done: string, database: string, { served, broken }: Outcome): void {
  const requests = Array.from({ length: served }, (_, index) => index);
  conclude({ name, done, database, rounds }, { acknowledged: requests, found: requests, broken });
}

/** Resolves when this many more requests have been served. */
async function served(outcome: Outcome, more: number): Promise<void> {
  const target = outcome.served + more;
  while (outcome.served < target && outcome.broken.length === 0)
    await new Promise(resolve => setImmediate(resolve));
}

describe('a service that is asked to stop', () => {
  let place: Place;
  beforeAll(async () => {
    place = await createPlace('sqlite', { ...settings, ...administrator });
  });
  afterAll(() => place.remove());

  test(
    'serves every request until it accepts no connections',
    async () => {
      const total = { served: 0, broken: [] as string[] };
      for (let round = 0; round < rounds; round++) {
        const port = await freePort();
        const child = await serve(place, port);
        const clientsOf = load(port, true);
        await served(clientsOf.outcome, 500);
        child.kill('SIGTERM');
        await clientsOf.ended;
        expect(await child.exited).toBe(0);
        total.served += clientsOf.outcome.served;
        total.broken.push(...clientsOf.outcome.broken);
      }
      concludeStops('Stop under load', 'SIGTERM, 32 clients with keep-alive', 'SQLite', total);
    },
    rounds * 20_000,
  );

  test('asks for the connection to be closed and says that it is not ready, while it still serves', async () => {
    const port = await freePort();
    const child = await serve(place, port);
    const before = await fetch(`http://127.0.0.1:${port}/ready`);
    expect([before.status, before.headers.get('connection')]).not.toContain('close');
    child.kill('SIGTERM');
    let ready = before;
    while (ready.status === 200) ready = await fetch(`http://127.0.0.1:${port}/ready`);
    const health = await fetch(`http://127.0.0.1:${port}/health`);
    expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close']);
    expect([health.status, health.headers.get('connection')]).toEqual([200, 'close']);
    expect(await child.exited).toBe(0);
  });
});

const haproxy = Bun.which('haproxy');
if (haproxy === null) skipped('stops behind HAProxy', 'haproxy is not installed');

describe.skipIf(haproxy === null || !hasPostgres)('replicas behind HAProxy', () => {
  let place: Place;
  let folder: string;
  beforeAll(async () => {
    place = await createPlace('postgresql', { ...settings, ...administrator });
    folder = mkdtempSync(join(tmpdir(), 'catalog-haproxy-'));
  });
  afterAll(() => {
    place.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    'are stopped and started in turn without a broken request',
    async () => {
      const [front, ...ports] = [await freePort(), await freePort(), await freePort()];
      const replicas = [];
      for (const port of ports) replicas.push(await serve(place, port));
      const file = join(folder, 'haproxy.cfg');
      writeFileSync(file, configuration(front, ports));
      const proxy = Bun.spawn([haproxy ?? '', '-f', file], { stdout: 'ignore', stderr: 'ignore' });
      while ((await usableReplicas(front)) < ports.length);
      const through = load(front, false);
      for (let round = 0; round < rounds; round++) {
        await served(through.outcome, 500);
        const index = round % ports.length;
        replicas[index]?.kill('SIGTERM');
        expect(await replicas[index]?.exited).toBe(0);
        replicas[index] = await serve(place, ports[index] ?? 0);
        // Like anyone who replaces replicas in turn: the next one is stopped once this one is usable.
        while ((await usableReplicas(front)) < ports.length);
      }
      await through.stop();
      for (const replica of replicas) replica.kill('SIGKILL');
      proxy.kill('SIGKILL');
      const done = 'replicas stopped and started in turn behind HAProxy, 32 clients with keep-alive';
      concludeStops('Rolling restart', done, 'PostgreSQL', through.outcome);
    },
    rounds * 30_000,
  );
});

/** The number of replicas that HAProxy sends requests to. */
async function usableReplicas(front: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${front}/haproxy;csv`).catch(() => undefined);
  const table = (await response?.text()) ?? '';
  return table.split('\n').filter(line => /^replicas,replica\d+,.*,UP,/.test(line)).length;
}

const configuration = (front: number, ports: readonly number[]) => `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 2s
  option httpchk GET /ready
  default-server check inter 100ms fall 1 rise 1
frontend catalog
  bind 127.0.0.1:${front}
  stats enable
  stats uri /haproxy
  default_backend replicas
backend replicas
${ports.map(port => `  server replica${port} 127.0.0.1:${port}`).join('\n')}
`;

describe.skipIf(process.platform !== 'linux')('a launcher of the service', () => {
  const launchers = [
    ['node scripts/catalog.mjs', ['node', 'scripts/catalog.mjs', 'serve']],
    ['npm run catalog', ['npm', 'run', 'catalog', '--', 'serve']],
    ['npm start', ['npm', 'start']],
    ['npx catalog', ['npx', 'catalog', 'serve']],
  ] as const;
  const signals = ['SIGTERM', 'SIGKILL'] as const;
  const longestStopMs = 30_000;
  // In a short run, each launcher is tested with one of the two signals.
  const cases = launchers
    .flatMap(([name, command]) => signals.map(signal => [name, signal, command] as const))
    .filter((_, index) => !isShort || index % 4 === 1 || index % 4 === 2);

  test.each(cases)('%s: %s ends the service, too', async (_, signal, command) => {
    const place = await createPlace('sqlite', { ...settings, ...administrator, STOP_DELAY: '0' });
    const port = await freePort();
    const launcher = Bun.spawn([...command], {
      cwd: root,
      env: { ...process.env, ...place.environment, PORT: String(port) },
      stdout: 'ignore',
      stderr: 'pipe',
    });
    try {
      await waitFor(launcher.stderr, /ready at (http:\S+)/);
      launcher.kill(signal);
      await launcher.exited;
      const agent = new Agent();
      const since = performance.now();
      const isOver = () => performance.now() - since > longestStopMs;
      while ((await get(agent, port)) !== 'ECONNREFUSED' && !isOver());
      expect(await get(agent, port)).toBe('ECONNREFUSED');
    } finally {
      place.remove();
    }
  });
});
