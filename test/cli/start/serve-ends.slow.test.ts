/** What ends a running service, and how; it does not wait for idle connections. For kills, see test/long. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { createPlace, type Place, waitFor } from '../program.ts';

const email = 'admin@test.example';
const secret = 'correct horse battery';

async function serve(place: Place, wrapper?: readonly string[]) {
  const child = place.start(['serve', '--port', '0'], wrapper);
  const [, url] = await waitFor(child.stderr, /ready at (http:\S+)/);
  return { child, url: url ?? '' };
}

/** A connection that has had one response and stays open. */
function idleConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n'),
    );
    socket.once('data', () => resolve(socket));
    socket.once('error', reject);
  });
}

describeOnDatabases('the end of serve on %s', kind => {
  let place: Place;
  beforeAll(async () => {
    // STOP_TIMEOUT exceeds the test's timeout, so that waiting for the idle connection would fail the test.
    const settings = { ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1', STOP_TIMEOUT: '300' };
    place = await createPlace(kind, { ...settings, RATE_LIMIT: '1000000' });
  });
  afterAll(() => place.remove());

  test('SIGTERM ends it while a client holds an idle connection', async () => {
    const { child, url } = await serve(place);
    const socket = await idleConnection(url);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    socket.destroy();
    // Closed cleanly: everything is in the database file.
    if (kind === 'sqlite') expect(existsSync(join(place.folder, 'data', 'catalog.db-wal'))).toBe(false);
  });

  test('a failure that no request waits for is reported, and the service continues', async () => {
    // Runs in the process before the program: causes an unhandled rejection and an uncaught error.
    const failing = `process.on('SIGUSR2', () => {
      void Promise.reject(new Error('rejected in the background'));
      setTimeout(() => { throw new Error('thrown in the background'); });
    });`;
    const preload = place.file('failing.ts', failing);
    const { child, url } = await serve(place, ['env', `BUN_OPTIONS=--preload=${preload}`]);
    child.kill('SIGUSR2');
    const [out, rest] = child.stdout.tee();
    await waitFor(out, /rejected in[\s\S]*thrown in|thrown in[\s\S]*rejected in/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    const lines = (await rest.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const message = 'unexpected failure; the service keeps running';
    const reported = lines.filter(({ level }) => level === 'error');
    expect(reported.map(line => [line.message, line.reason]).toSorted()).toEqual([
      [message, 'rejected in the background'],
      [message, 'thrown in the background'],
    ]);
  });

  test('a 503 of /ready while it stops is not logged as an error', async () => {
    const { child, url } = await serve(place, ['env', 'STOP_DELAY=300']);
    child.kill('SIGTERM');
    while ((await fetch(`${url}/ready`)).status === 200);
    // A second signal ends the delay.
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    const lines = (await child.stdout.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const refused = lines.filter(({ target, status }) => target === '/ready' && status !== 200);
    expect(refused).toContainEqual(expect.objectContaining({ level: 'info', status: 503 }));
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.skipIf(kind !== 'sqlite')('a stop does not wait for the check after an unclean end', async () => {
    // A service that has just migrated has written data that is not in the database file yet.
    const fresh = await createPlace('sqlite', { HOST: '127.0.0.1' });
    const killed = await serve(fresh);
    killed.child.kill('SIGKILL');
    await killed.child.exited;
    // Simulates the check of a very large database, which does not finish.
    const endless = `import { Worker } from 'node:worker_threads';
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (message) {
        if (!message?.sql?.includes('quick_check')) postMessage.call(this, message);
      };`;
    const preload = place.file('endless.ts', endless);
    const { child } = await serve(fresh, ['env', `BUN_OPTIONS=--preload=${preload}`]);
    const [out, rest] = child.stdout.tee();
    await waitFor(out, /checking it/);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    expect(await rest.text()).toContain('the service stopped before the database check was finished');
    fresh.remove();
  });
});
