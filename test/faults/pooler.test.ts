/** The generic suite through PgBouncer, in both modes, whether or not the service is told that it is there. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { freePort } from '../../scripts/postgresql.ts';
import { hasPostgres } from '../support/postgres.ts';

const pgbouncer = Bun.which('pgbouncer') ?? ['/usr/sbin/pgbouncer'].find(path => Bun.which(path) !== null);
if (pgbouncer === undefined) console.log('skipped: the suite through a pooler: pgbouncer is not installed');

const root = join(import.meta.dir, '..', '..');
/** What reads, writes, waits for locks and takes snapshots; with many FAULT_ROUNDS every operation. */
const suite = [
  ...(Number(process.env.FAULT_ROUNDS ?? 1) < 20 ? [] : ['test/contract.test.ts']),
  'test/resources/lists.test.ts',
  'test/resources/orders.test.ts',
  'test/http/idempotency.test.ts',
];

const modes = ['session', 'transaction'] as const;
const settings = [undefined, ...modes];
const cases = modes.flatMap(mode =>
  settings
    .filter(setting => setting === undefined || setting === mode)
    .map(setting => [mode, setting] as const),
);

describe.skipIf(pgbouncer === undefined || !hasPostgres).each(modes)('PgBouncer in %s mode', mode => {
  let folder: string;
  let port: number;
  let pooler: ReturnType<typeof Bun.spawn>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'catalog-pgbouncer-'));
    port = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, configuration(mode, port));
    // As root it becomes another user before it reads its configuration again.
    chmodSync(folder, 0o755);
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    pooler = Bun.spawn([pgbouncer ?? '', ...user, file], { stdout: 'ignore', stderr: 'ignore' });
    await untilItAnswers(port);
  });
  afterAll(() => {
    pooler.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

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
      expect(Number(/^ *(\d+) pass$/m.exec(report)?.[1])).toBeGreaterThan(50);
      expect(await run.exited).toBe(0);
    },
    600_000,
  );
});

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

async function untilItAnswers(port: number): Promise<void> {
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
