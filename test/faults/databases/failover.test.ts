/** A primary fails, a standby takes its place, and the service finds it without a restart. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Call, call } from '../../support/http/http.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { type Pair, startPair } from '../../support/service/replication.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { conclude } from '../outcome.ts';

const writers = 8;
/** Milliseconds from the promotion to the first successful write, at most. */
const firstWriteWithin = 5000;

describe.skipIf(!hasPostgres)('a failover', () => {
  let pair: Pair;
  let service: TestService;
  beforeAll(async () => {
    pair = await startPair();
    service = await startTestService('postgresql', { DATABASE_URL: pair.url });
  });
  afterAll(async () => {
    await service.stop();
    await pair.remove();
  });

  const create = (name: string) =>
    call(service, { method: 'POST', path: '/v1/products', as: 'editor', body: { name, price: 1 } });

  /** A standby serves reads, refuses writes with 503, and is not ready. */
  async function readFromStandby(): Promise<void> {
    const { body } = await create('Read on the standby');
    await pair.catchUp();
    const behind = await service.replica({ DATABASE_URL: pair.standby.url, RATE_LIMIT: '2' });
    const read: Call = { path: `/v1/products/${body.id}`, as: 'user' };
    // More requests than the quota would allow if the standby could count them.
    for (let turn = 0; turn < 5; turn++) expect((await call(behind, read)).status).toBe(200);
    const write: Call = {
      method: 'POST',
      path: '/v1/products',
      as: 'editor',
      body: { name: 'No', price: 1 },
    };
    const refused = await call(behind, write);
    expect([refused.status, refused.body.error, refused.headers.get('Retry-After')]).toEqual([
      503,
      'DATABASE_READ_ONLY',
      '2',
    ]);
    const ready = await call(behind, { path: '/ready' });
    expect([ready.status, ready.body.error]).toEqual([503, 'DATABASE_READ_ONLY']);
    const { text } = await call(behind, { path: '/metrics' });
    expect(Number(/^catalog_quota_uncounted_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  }

  // One test, in this order: a promoted server is no longer a standby.
  test('leaves only reads until the standby is promoted; then it takes writes, and no acknowledged write is lost', async () => {
    await readFromStandby();
    const acknowledged: number[] = [];
    const statuses = new Set<number>();
    let running = true;
    let promoted: number | undefined;
    let firstWrite: number | undefined;
    const write = async (writer: number) => {
      for (let turn = 0; running; turn++) {
        const { status, body } = await create(`${writer}-${turn}`);
        statuses.add(status);
        if (status !== 201) continue;
        acknowledged.push(body.id);
        if (promoted !== undefined) firstWrite ??= performance.now();
      }
    };
    const until = async (condition: () => boolean) => {
      while (!condition()) await new Promise(resolve => setImmediate(resolve));
    };
    const ended = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    await until(() => acknowledged.length >= 100);
    await pair.primary.stop('SIGQUIT');
    await until(() => statuses.has(503));
    promoted = performance.now();
    await pair.promote();
    const before = acknowledged.length;
    await until(() => acknowledged.length >= before + 100);
    running = false;
    await ended;
    expect([...statuses].sort()).toEqual([201, 503]);
    expect((firstWrite ?? Number.POSITIVE_INFINITY) - promoted).toBeLessThan(firstWriteWithin);
    const found: number[] = [];
    for (const id of acknowledged)
      if ((await call(service, { path: `/v1/products/${id}`, as: 'user' })).status === 200) found.push(id);
    const name = 'Failover';
    const done = `primary killed, standby promoted; first write ${Math.round((firstWrite ?? 0) - promoted)} ms after`;
    conclude({ name, done, database: 'PostgreSQL', rounds: 1 }, { acknowledged, found });
    expect((await call(service, { path: '/ready' })).status).toBe(200);
  });
});
