/** How a running service ends: told to, it waits for nobody idle; killed, it loses nothing it has acknowledged. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describeOnDatabases } from '../support/databases.ts';
import { signIn } from '../support/service.ts';
import { createPlace, type Place, waitFor } from './program.ts';

const email = 'admin@test.example';
const secret = 'correct horse battery';

async function serve(place: Place) {
  const child = place.start(['serve', '--port', '0']);
  const [, url] = await waitFor(child.stderr, /ready at (http:\S+)/);
  return { child, url: url ?? '' };
}

/** A connection that has had one answer and stays open. */
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
    // STOP_TIMEOUT beyond the test's own: waiting for the idle connection would fail it.
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
    // Closed whole: everything is in the database file.
    if (kind === 'sqlite') expect(existsSync(join(place.folder, 'data', 'catalog.db-wal'))).toBe(false);
  });

  test('kill -9 under writes loses no acknowledged product and keeps the total exact', async () => {
    const { child, url } = await serve(place);
    const token = await signIn(url, email, secret);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const acknowledged: number[] = [];
    const write = async (): Promise<void> => {
      const body = JSON.stringify({ name: 'Kept', price: 1, category: 'kept' });
      const response = await fetch(`${url}/v1/products`, { method: 'POST', headers, body });
      expect(response.status).toBe(201);
      acknowledged.push(((await response.json()) as { id: number }).id);
      if (acknowledged.length === 300) child.kill('SIGKILL');
      return write();
    };
    // Each writer goes on until the service is gone under it.
    await Promise.allSettled(Array.from({ length: 16 }, write));
    await child.exited;
    expect(acknowledged.length).toBeGreaterThanOrEqual(300);

    const again = await serve(place);
    const fresh = { Authorization: `Bearer ${await signIn(again.url, email, secret)}` };
    const missing: number[] = [];
    for (const id of acknowledged) {
      const response = await fetch(`${again.url}/v1/products/${id}`, { headers: fresh });
      await response.arrayBuffer();
      if (response.status !== 200) missing.push(id);
    }
    expect(missing).toEqual([]);
    const list = async (query: string) =>
      (await (await fetch(`${again.url}/v1/products?${query}`, { headers: fresh })).json()) as {
        data: { id: number }[];
        meta: { total: number; nextCursor?: string | null };
      };
    // The kept total against one that is counted by walking.
    const { total } = (await list('category=kept')).meta;
    let walked = 0;
    for (let cursor: string | null | undefined = ''; cursor != null; ) {
      const page = await list(`category=kept&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
      walked += page.data.length;
      cursor = page.meta.nextCursor;
    }
    expect(total).toBe(walked);
    again.child.kill('SIGTERM');
    expect(await again.child.exited).toBe(0);
  });
});
