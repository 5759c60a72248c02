/** Rows that others have locked, and a replica that stands still in the middle of a transaction. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { freePort } from '../../scripts/postgresql.ts';
import { createPlace, type Place, type Running, waitFor } from '../cli/program.ts';
import { call } from '../support/http.ts';
import { createDatabase, hasPostgres } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signIn } from '../support/sign-in.ts';

/** Milliseconds in which a request that needs nothing of what is locked has its response. */
const unharmed = 2000;

describe.skipIf(!hasPostgres)('a row that somebody else has locked', () => {
  let service: TestService;
  let other: SQL;
  beforeAll(async () => {
    const url = await createDatabase();
    service = await startTestService('postgresql', { DATABASE_URL: url, DATABASE_LOCK_TIMEOUT: '4' });
    other = new SQL(url, { max: 1 });
  });
  afterAll(async () => {
    await other.close({ timeout: 0 });
    await service.stop();
  });

  test('makes who writes it wait and then 503; reads and /ready do not notice', async () => {
    const product = { name: 'Locked', price: 1 };
    const { body } = await call(service, {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: product,
    });
    const path = `/v1/products/${body.id}`;
    const holder = await other.reserve();
    await holder.unsafe('begin');
    await holder.unsafe('select 1 from products where id = $1 for update', [body.id]);
    const change = () => call(service, { method: 'PATCH', path, as: 'editor', body: { price: 2 } });
    const writes = Promise.all(Array.from({ length: 12 }, change));
    for (let turn = 0; turn < 10; turn++) {
      for (const read of ['/ready', path, `/v1/products?category=none-${turn}`]) {
        const start = performance.now();
        expect([read, (await call(service, { path: read, as: 'user' })).status]).toEqual([read, 200]);
        expect(performance.now() - start).toBeLessThan(unharmed);
      }
    }
    const refused = (await writes).map(({ status, headers }) => [status, headers.get('Retry-After')]);
    expect(refused).toEqual(refused.map(() => [503, '2']));
    await holder.unsafe('rollback');
    holder.release();
    expect((await change()).status).toBe(200);
    expect((await call(service, { path, as: 'user' })).body.price).toBe(2);
  });
});

describe.skipIf(!hasPostgres || process.platform !== 'linux')('a replica that stands still', () => {
  const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
  let place: Place;
  const replicas: { readonly url: string; readonly child: Running }[] = [];
  beforeAll(async () => {
    place = await createPlace('postgresql', { ...administrator, HOST: '127.0.0.1', RATE_LIMIT: '100000000' });
    for (let count = 0; count < 2; count++) {
      const child = place.start(['serve', '--port', String(await freePort())]);
      const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
      replicas.push({ url, child });
    }
  }, 60_000);
  afterAll(() => {
    for (const { child } of replicas) child.kill('SIGKILL');
    place.remove();
  });

  test('in the middle of a payment holds others up only until the server ends its transaction', async () => {
    const [frozen, healthy] = replicas;
    if (frozen === undefined || healthy === undefined) throw new Error('two replicas were started');
    const token = await signIn(healthy.url, administrator.ADMIN_EMAIL, administrator.ADMIN_PASSWORD);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const post = (url: string, path: string, body?: unknown) =>
      fetch(`${url}/v1${path}`, {
        method: 'POST',
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const idOf = async (response: Promise<Response>) =>
      ((await (await response).json()) as { id: number }).id;
    const productId = await idOf(post(healthy.url, '/products', { name: 'Paid', price: 1 }));
    const me = await idOf(fetch(`${healthy.url}/v1/me`, { headers }));
    const order = () =>
      idOf(post(healthy.url, `/users/${me}/orders`, { items: [{ productId, quantity: 1 }] }));

    const admin = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
    const open = `select pid from pg_stat_activity where state = 'idle in transaction' and application_name = 'catalog'`;
    let paying = true;
    const pay = async () => {
      while (paying) {
        const id = await order();
        await post(frozen.url, `/orders/${id}/payment`).catch(() => undefined);
      }
    };
    const payers = Array.from({ length: 4 }, pay);
    // Stopped at any moment; again until it is one within a transaction.
    for (;;) {
      frozen.child.kill('SIGSTOP');
      if ((await admin.unsafe(open)).length > 0) break;
      frozen.child.kill('SIGCONT');
      await new Promise(resolve => setImmediate(resolve));
    }
    paying = false;
    const id = await order();
    let slowest = 0;
    let done = false;
    const reading = (async () => {
      while (!done) {
        const start = performance.now();
        expect((await fetch(`${healthy.url}/v1/products/${productId}`, { headers })).status).toBe(200);
        slowest = Math.max(slowest, performance.now() - start);
      }
    })();
    // Within the time that a statement may wait for a lock.
    expect((await post(healthy.url, `/orders/${id}/payment`)).status).toBe(200);
    done = true;
    await reading;
    expect(slowest).toBeLessThan(unharmed);
    frozen.child.kill('SIGKILL');
    await Promise.all(payers);
    await admin.close({ timeout: 0 });
  }, 60_000);
});

describe.skipIf(!hasPostgres)('replicas on an empty database', () => {
  test('all come up when they start at once', async () => {
    const place = await createPlace('postgresql', {
      ADMIN_EMAIL: 'admin@test.example',
      ADMIN_PASSWORD: 'correct horse battery',
      HOST: '127.0.0.1',
    });
    const children = Array.from({ length: 4 }, () => place.start(['serve', '--port', '0']));
    try {
      for (const child of children) await waitFor(child.stderr, /ready at (http:\S+)/);
      const admin = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
      expect([...(await admin.unsafe('select email from users'))]).toEqual([{ email: 'admin@test.example' }]);
      await admin.close();
    } finally {
      for (const child of children) child.kill('SIGKILL');
      place.remove();
    }
  }, 60_000);
});
