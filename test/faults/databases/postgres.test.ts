/** PostgreSQL stops under the running service, completely or one connection at a time, and comes back. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type Call, call, type Received } from '../../support/http/http.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { type PostgresCluster, startCluster } from '../../support/service/postgres-cluster.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { conclude, roundsOf } from '../outcome.ts';

const writers = 8;

interface Page {
  readonly data: readonly { readonly id: number; readonly name: string }[];
  readonly meta: { readonly nextCursor?: string | null };
}

describe.skipIf(!hasPostgres)('PostgreSQL under a running service', () => {
  let cluster: PostgresCluster;
  let service: TestService;
  let categories = 0;
  beforeAll(async () => {
    cluster = await startCluster();
    service = await startTestService('postgresql', { DATABASE_URL: cluster.url });
  });
  // The next test needs a running server, even after a test that failed half-way.
  afterEach(() => cluster.start());
  afterAll(async () => {
    await service.stop();
    await cluster.remove();
  });

  const create = (name: string, category: string): Promise<Received> =>
    call(service, {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: { name, price: 1, category },
    });

  /** The names of all products of a category, read page by page, and the total that the service keeps. */
  async function stored(category: string): Promise<{ names: string[]; total: number }> {
    const names: string[] = [];
    for (let cursor: string | null | undefined = ''; cursor != null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const path = `/v1/products?category=${category}&limit=100${query}`;
      const { status, body }: { status: number; body: Page } = await call(service, { path, as: 'user' });
      expect(status).toBe(200);
      names.push(...body.data.map(product => product.name));
      cursor = body.meta.nextCursor;
    }
    // Pages by cursor have no total.
    const { body } = await call(service, { path: `/v1/products?category=${category}`, as: 'user' });
    return { names: names.sort(), total: body.meta.total };
  }

  /** Resolves when the service is ready again. There is no pause: each request waits for the database. */
  async function isReady(): Promise<void> {
    while ((await call(service, { path: '/ready' })).status !== 200);
  }

  /**
   * Starts writers that create products with unique names in one category until they are stopped.
   * Any status except 201 and 503 fails the test.
   */
  function load() {
    const category = `load-${++categories}`;
    const acknowledged: string[] = [];
    const refused: string[] = [];
    const progress = new Set<() => void>();
    let running = true;
    const write = async (writer: number): Promise<void> => {
      for (let turn = 0; running; turn++) {
        const name = `${writer}-${turn}`;
        const { status, body, headers } = await create(name, category);
        expect(status).toBeOneOf([201, 503]);
        if (status === 503) {
          expect(body.error).toBe('DATABASE_UNAVAILABLE');
          expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
        }
        (status === 201 ? acknowledged : refused).push(name);
        for (const check of progress) check();
      }
    };
    const ended = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    // `stop` awaits this promise. Until then a failure must not count as unhandled.
    ended.catch(() => undefined);
    const until = (condition: () => boolean): Promise<unknown> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => condition() && resolve();
      progress.add(check);
      check();
      return Promise.race([promise, ended]);
    };
    return {
      /** Waits for this many more acknowledged writes. */
      acknowledge: (more: number) => {
        const target = acknowledged.length + more;
        return until(() => acknowledged.length >= target);
      },
      refuse: (more: number) => {
        const target = refused.length + more;
        return until(() => refused.length >= target);
      },
      async stop() {
        running = false;
        await ended;
      },
      /** Expects every acknowledged write once. A refused one may also exist: the connection may fail after COMMIT. */
      async verify(name: string, done: string, rounds: number) {
        const { names, total } = await stored(category);
        const sent = new Set([...acknowledged, ...refused]);
        const broken = names.filter(stored => !sent.has(stored));
        if (total !== names.length) broken.push(`total ${total}, but there are ${names.length}`);
        conclude({ name, done, database: 'PostgreSQL', rounds }, { acknowledged, found: names, broken });
      },
    };
  }

  const requests: readonly Call[] = [
    { path: '/v1/products', as: 'user' },
    { path: '/v1/products/1', as: 'user' },
    { path: '/v1/me', as: 'user' },
    { path: '/v1/products', as: 'user', headers: { 'X-API-Key': `ck_${'x'.repeat(43)}` } },
    { method: 'POST', path: '/v1/products', as: 'editor', body: { name: 'Lamp', price: 1 } },
    {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: { name: 'Lamp', price: 1 },
      headers: { 'Idempotency-Key': 'while-it-is-down' },
    },
    { method: 'PUT', path: '/v1/products/1', as: 'editor', body: { name: 'Lamp', price: 1 } },
    { method: 'DELETE', path: '/v1/products/1', as: 'admin' },
    {
      method: 'POST',
      path: '/v1/auth/login',
      body: { email: 'user@test.example', password: 'correct horse battery' },
    },
  ];

  test('that is stopped makes every request that needs it 503; after a restart the same service serves', async () => {
    const category = `kept-${++categories}`;
    expect((await create('before', category)).status).toBe(201);
    await cluster.stop();
    // Twice: the first round finds broken connections, the second opens new ones.
    for (const round of [1, 2]) {
      const responses = await Promise.all(requests.map(request => call(service, request)));
      const got = responses.map(({ status, body, headers }) => [
        status,
        body.error,
        headers.get('Retry-After'),
      ]);
      expect([round, got]).toEqual([round, requests.map(() => [503, 'DATABASE_UNAVAILABLE', '2'])]);
      const ready = await call(service, { path: '/ready' });
      expect([ready.status, ready.headers.get('Retry-After')]).toEqual([503, '2']);
      for (const path of ['/health', '/', '/metrics', '/openapi.json'])
        expect([path, (await call(service, { path })).status]).toEqual([path, 200]);
    }
    await cluster.start();
    await isReady();
    expect((await create('after', category)).status).toBe(201);
    expect(await stored(category)).toEqual({ names: ['after', 'before'], total: 2 });
  });

  test('that is stopped and started under load loses and doubles no acknowledged write', async () => {
    const under = load();
    const rounds = roundsOf(10);
    for (let round = 0; round < rounds; round++) {
      await under.acknowledge(100);
      await cluster.stop();
      await under.refuse(50);
      expect((await call(service, { path: '/health' })).status).toBe(200);
      await cluster.start();
    }
    await under.acknowledge(100);
    await under.stop();
    await under.verify('PostgreSQL crashes', 'SIGQUIT to the server under load, then started again', rounds);
  });

  test('connections killed under load cost at most 503 and no acknowledged write', async () => {
    const under = load();
    const rounds = roundsOf(20);
    for (let round = 0; round < rounds; round++) {
      await under.acknowledge(50);
      expect(await cluster.terminateBackends()).toBeGreaterThan(0);
    }
    await under.acknowledge(100);
    await under.stop();
    await under.verify('Connections killed', 'all connections of the service ended by the server', rounds);
  });

  test('connections killed while the service is idle fail no request', async () => {
    const category = `idle-${++categories}`;
    await Promise.all(Array.from({ length: 20 }, (_, index) => create(`${index}`, category)));
    await cluster.terminateBackends();
    expect((await call(service, { path: '/v1/products?limit=1', as: 'user' })).status).toBe(200);
    await cluster.terminateBackends();
    expect((await create('last', category)).status).toBe(201);
    expect((await stored(category)).total).toBe(21);
  });

  test.skipIf(process.platform !== 'linux')(
    'requests are refused after DATABASE_TIMEOUT while it stands still, and served when it continues',
    async () => {
      const patient = await service.replica({ DATABASE_TIMEOUT: '1' });
      expect((await call(patient, { path: '/v1/products', as: 'user' })).status).toBe(200);
      const thaw = cluster.freeze();
      try {
        const body = { name: 'Frozen', price: 1 };
        const refused = await Promise.all([
          call(patient, { path: '/v1/products', as: 'user' }),
          call(patient, { method: 'POST', path: '/v1/products', as: 'editor', body }),
          call(patient, { path: '/ready' }),
        ]);
        expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
        expect((await call(patient, { path: '/health' })).status).toBe(200);
      } finally {
        thaw();
      }
      await isReady();
      const after = await call(patient, { path: '/v1/products', as: 'user' });
      expect(after.status).toBe(200);
    },
    60_000,
  );
});
