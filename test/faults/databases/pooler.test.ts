/** PgBouncer in both modes: the generic suite with and without the setting that names the mode, and its crashes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { freePort } from '../../../scripts/tests/postgresql.ts';
import { createPlace, waitFor } from '../../cli/program.ts';
import { signIn } from '../../support/data/sign-in.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { readNames, startLoad } from '../load.ts';
import { conclude, isShort, roundsOf, skipped } from '../outcome.ts';

const pgbouncer = Bun.which('pgbouncer') ?? ['/usr/sbin/pgbouncer'].find(path => Bun.which(path) !== null);
if (pgbouncer === undefined) skipped('PgBouncer', 'pgbouncer is not installed');

const root = join(import.meta.dir, '..', '..', '..');
/** Tests that write and wait for locks; in a long run also every operation of the document, and snapshots. */
const suite = [
  ...(isShort
    ? []
    : [
        'test/contract.test.ts',
        'test/resources/lists/lists.test.ts',
        'test/resources/orders/orders.test.ts',
      ]),
  'test/http/idempotency/idempotency.test.ts',
];
const minTests = isShort ? 10 : 900;
const rounds = roundsOf(10);

const modes = ['session', 'transaction'] as const;
const settings = isShort ? [undefined] : [undefined, ...modes];
const cases = modes.flatMap(mode =>
  settings
    .filter(setting => setting === undefined || setting === mode)
    .map(setting => [mode, setting] as const),
);

describe.skipIf(pgbouncer === undefined || !hasPostgres).each(modes)('PgBouncer in %s mode', mode => {
  let folder: string;
  let port: number;
  let pooler: ReturnType<typeof Bun.spawn>;
  let start: () => Promise<void>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'catalog-pgbouncer-'));
    port = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, configuration(mode, port));
    // Started as root, PgBouncer switches to another user before it reads its configuration again.
    chmodSync(folder, 0o755);
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    start = async () => {
      pooler = Bun.spawn([pgbouncer ?? '', ...user, file], { stdout: 'ignore', stderr: 'ignore' });
      await untilItResponds(port);
    };
    await start();
  });
  afterAll(() => {
    pooler.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  test('killed under load costs at most 503 and no acknowledged write', async () => {
    await loseNothing(mode, port, async () => {
      pooler.kill('SIGKILL');
      await pooler.exited;
      await start();
    });
  }, 120_000);

  test.each(cases.filter(([of]) => of === mode).map(([, setting]) => setting))(
    'with DATABASE_POOLER %p passes the suite',
    async setting => {
      const run = Bun.spawn([process.execPath, 'test', '--timeout', '60000', ...suite, '-t', 'postgresql'], {
        cwd: root,
        env: {
          ...process.env,
          TEST_DATABASE_POOLER: `127.0.0.1:${port}`,
          ...(setting === undefined ? {} : { TEST_POOLER_SETTING: setting }),
        },
        stdout: 'ignore',
        stderr: 'pipe',
      });
      const report = await run.stderr.text();
      const failed = report.split('\n').filter(line => line.startsWith('(fail)'));
      expect(failed).toEqual([]);
      expect(Number(/^ *(\d+) pass$/m.exec(report)?.[1])).toBeGreaterThan(minTests);
      expect(await run.exited).toBe(0);
    },
    600_000,
  );
});

const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };

/** @param crash kills the pooler and starts it again */
async function loseNothing(mode: string, port: number, crash: () => Promise<void>): Promise<void> {
  const address = Object.assign(new URL(await createDatabase()), { host: `127.0.0.1:${port}` }).href;
  const place = await createPlace('sqlite', {
    ...{ ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '100000000', LOG_LEVEL: 'error' },
    DATABASE_URL: address,
  });
  const child = place.start(['serve', '--port', '0']);
  try {
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const token = await signIn(url, administrator.ADMIN_EMAIL);
    const load = startLoad('pooled', { url: () => url, token: () => token, mayRefuse: true });
    for (let round = 0; round < rounds; round++) {
      await load.acknowledge(50);
      await crash();
    }
    await load.acknowledge(50);
    await load.stop();
    const { names, broken } = await readNames(url, token, 'pooled');
    const name = `PgBouncer crashes, ${mode} mode`;
    conclude(
      { name, done: 'kill -9 of the pooler under load', database: 'PostgreSQL', rounds },
      { acknowledged: load.acknowledged, found: names, broken: [...load.broken, ...broken] },
    );
  } finally {
    child.kill('SIGKILL');
    await child.exited;
    place.remove();
  }
}

function configuration(mode: string, port: number): string {
  const { hostname, port: server, username, password } = new URL(process.env.TEST_DATABASE_URL ?? '');
  return `[databases]
* = host=${hostname} port=${server} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 1000
default_pool_size = 20
`;
}

async function untilItResponds(port: number): Promise<void> {
  const url = Object.assign(new URL(process.env.TEST_DATABASE_URL ?? ''), { host: `127.0.0.1:${port}` });
  for (;;) {
    const client = new SQL(url.href, { max: 1, connectionTimeout: 1 });
    const answered = await client.unsafe('select 1').then(
      () => true,
      () => false,
    );
    await client.close({ timeout: 0 });
    if (answered) return;
  }
}
