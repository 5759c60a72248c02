/** Rows that another client has locked, and replicas that compete to be first. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { createPlace, waitFor } from '../../cli/program.ts';
import { call } from '../../support/http/http.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { conclude, roundsOf } from '../outcome.ts';

/** Milliseconds within which a request that needs no locked row gets its response. */
const unharmed = 2000;

describe.skipIf(!hasPostgres)('a row that another session has locked', () => {
  let service: TestService;
  let other: SQL;
  beforeAll(async () => {
    const url = await createDatabase();
    service = await startTestService('postgresql', { DATABASE_URL: url, DATABASE_LOCK_TIMEOUT: '1' });
    other = new SQL(url, { max: 1 });
  });
  afterAll(async () => {
    await other.close({ timeout: 0 });
    await service.stop();
  });

  test('delays writes of it until they are 503; reads and /ready are unaffected', async () => {
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
    const refused = (await writes).map(({ status, headers, body }) => [
      status,
      headers.get('Retry-After'),
      body.error,
      /lock/.test(body.message) && !/cannot be reached/.test(body.message),
    ]);
    expect(refused).toEqual(refused.map(() => [503, '2', 'DATABASE_UNAVAILABLE', true]));
    await holder.unsafe('rollback');
    holder.release();
    expect((await change()).status).toBe(200);
    expect((await call(service, { path, as: 'user' })).body.price).toBe(2);
  });
});

describe.skipIf(!hasPostgres)('replicas on an empty database', () => {
  test('all start successfully at the same time', async () => {
    const rounds = roundsOf(5);
    const [acknowledged, found, broken]: [string[], string[], string[]] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      const place = await createPlace('postgresql', {
        ADMIN_EMAIL: 'admin@test.example',
        ADMIN_PASSWORD: 'correct horse battery',
        HOST: '127.0.0.1',
      });
      const children = Array.from({ length: 4 }, () => place.start(['serve', '--port', '0']));
      try {
        for (const child of children) await waitFor(child.stderr, /ready at (http:\S+)/);
        acknowledged.push(`administrator of round ${round}`);
      } catch (error) {
        broken.push(String(error));
      }
      const admin = new SQL(place.environment.DATABASE_URL ?? '', { max: 1 });
      const users: unknown[] = await admin.unsafe('select email from users');
      found.push(...users.map(() => `administrator of round ${round}`));
      await admin.close();
      for (const child of children) child.kill('SIGKILL');
      place.remove();
    }
    const name = 'Four replicas start at once';
    const done = 'on an empty database; each is to migrate it and to make the first administrator';
    conclude({ name, done, database: 'PostgreSQL', rounds }, { acknowledged, found, broken });
  }, 120_000);
});
