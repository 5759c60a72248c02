/** A service that is killed loses no acknowledged write. */

import { expect, setDefaultTimeout, test } from 'bun:test';
import { createPlace, type Place, waitFor } from '../cli/program.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { signIn } from '../support/service/service.ts';

// Each test starts several processes.
setDefaultTimeout(60_000);

const email = 'admin@test.example';
const secret = 'correct horse battery';

async function serve(place: Place) {
  const child = place.start(['serve', '--port', '0']);
  const [, url] = await waitFor(child.stderr, /ready at (http:\S+)/);
  return { child, url: url ?? '' };
}

describeOnDatabases('the end of serve by a kill on %s', kind => {
  test('kill -9 under writes loses no acknowledged product and keeps the total exact', async () => {
    const settings = { ADMIN_EMAIL: email, ADMIN_PASSWORD: secret, HOST: '127.0.0.1', RATE_LIMIT: '1000000' };
    const place = await createPlace(kind, settings);
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
    // Each writer continues until the service is gone.
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
    // The stored total must equal the number of rows that a walk finds.
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
    place.remove();
  });
});
