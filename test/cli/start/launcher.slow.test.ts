/** Launchers of the service pass on each signal once, and end as it does. All its ends: test/faults/stops.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { freePort } from '../../../scripts/tests/postgresql.ts';
import { createPlace, type Place, waitFor } from '../program.ts';

const root = join(import.meta.dir, '..', '..', '..');
const delay = 2;

describe.skipIf(process.platform !== 'linux')('a launcher', () => {
  let place: Place;
  beforeAll(async () => {
    const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
    place = await createPlace('sqlite', { ...administrator, HOST: '127.0.0.1', STOP_DELAY: String(delay) });
  });
  afterAll(() => place.remove());

  const start = (command: readonly string[], settings: Readonly<Record<string, string>>) =>
    Bun.spawn([...command], {
      stdin: 'pipe',
      cwd: root,
      env: { ...process.env, ...place.environment, ...settings },
      stdout: 'ignore',
      stderr: 'pipe',
    });

  /** @returns the status of /ready; undefined when there is no connection */
  const ready = (port: number) =>
    fetch(`http://127.0.0.1:${port}/ready`).then(
      ({ status }) => status,
      () => undefined,
    );

  const ways = [
    ['npm', ['npm', 'run', 'catalog', '--', 'serve'], (pid: number) => process.kill(pid, 'SIGTERM')],
    [
      'a whole group of processes',
      ['setsid', 'node', 'scripts/catalog.mjs', 'serve'],
      (pid: number) => process.kill(-pid, 'SIGTERM'),
    ],
  ] as const;
  test.each(ways)('keeps the delay of the stop after SIGTERM to %s', async (_, command, signal) => {
    const port = await freePort();
    const launcher = start(command, { PORT: String(port) });
    await waitFor(launcher.stderr, /ready at (http:\S+)/);
    expect(await ready(port)).toBe(200);
    const begun = performance.now();
    signal(launcher.pid);
    let [status, lastServed]: [number | undefined, number] = [200, 0];
    const seen = new Set<number>();
    do {
      status = await ready(port);
      if (status !== undefined) {
        seen.add(status);
        lastServed = performance.now() - begun;
      }
    } while (status !== undefined);
    expect(seen).toContain(503);
    expect(lastServed).toBeGreaterThan(delay * 1000 - 500);
    await launcher.exited;
  });

  test.each(['SIGINT', 'SIGHUP'] as const)(
    'stops an import after its batch when a terminal sends %s to the whole group',
    async signal => {
      const command = ['setsid', 'node', 'scripts/catalog.mjs', 'import', '-', '--format', 'ndjson'];
      const launcher = start(command, {});
      launcher.stdin.write('{"name":"Lamp","price":1}\n'.repeat(4000));
      await launcher.stdin.flush();
      await waitFor(launcher.stderr, /records done/);
      process.kill(-launcher.pid, signal);
      await waitFor(launcher.stderr, /interrupted; [\d,]+ records are done: run the same command again/);
      expect(await launcher.exited).toBe(130);
    },
  );

  const ends = [
    ['SIGKILL', 137],
    ['SIGABRT', 134],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const;
  test.each(ends)('exits with the status of a shell when %s ends the program', async (signal, status) => {
    const preload = place.file(
      `${signal}.ts`,
      `process.kill(process.pid, '${signal}'); await Bun.sleep(60_000);`,
    );
    const options = { BUN_OPTIONS: `--preload=${preload}` };
    const launcher = start(['node', 'scripts/catalog.mjs', '--version'], options);
    expect(await launcher.exited).toBe(status);
  });
});
