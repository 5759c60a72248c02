/** Expired rows are removed at intervals: each kind separately, even when another kind fails. */
import { expect, spyOn, test } from 'bun:test';
import { sql } from 'kysely';
import { createSessionStore } from '../../src/resources/auth/store.ts';
import type { Transaction } from '../../src/storage/database.ts';
import { queue, smtp, urlOf } from '../mail/sender.ts';
import { readOrder } from '../support/data/orders.ts';
import { refreshWith, signInAs, userIdOf } from '../support/data/people.ts';
import { addStocked, ordered } from '../support/data/stock.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import {
  type DatabaseKind,
  emailOf,
  signIn,
  startTestService,
  type TestService,
} from '../support/service/service.ts';

const interval = 10 * 60 * 1000;
const seconds = 20;
const day = 24 * 60 * 60 * 1000;
const path = '/v1/products';
const jumped = 'the clock has jumped ahead: expired data is kept until the next sweep';

/** Starts a service. @returns it, and a function that runs its timer */
async function startSwept(kind: DatabaseKind, settings: Record<string, string>) {
  const timers = spyOn(globalThis, 'setInterval');
  const service = await startTestService(kind, { ...settings, LOG_LEVEL: 'debug' });
  // The last one: a separate service may have signed in the people of the tests.
  const sweep = timers.mock.calls.findLast(([, milliseconds]) => milliseconds === interval)?.[0];
  timers.mockRestore();
  const linesOf = (message: string) => service.log().filter(line => line.message === message);
  const waitForSweep = async (message = 'swept') => {
    if (typeof sweep !== 'function') throw new Error('nothing is swept at intervals');
    const before = linesOf(message).length;
    sweep();
    while (linesOf(message).length === before) await new Promise(resolve => setImmediate(resolve));
    return linesOf(message).at(-1);
  };
  return { service, linesOf, sweep, waitForSweep };
}

/** More rows than one statement deletes. */
const many = 700;

/** Adds `many` rows to each table that expired long ago. Those of the first two belong to this user. */
async function addExpired({ database }: TestService, userId: number): Promise<void> {
  const [user, count] = [sql.lit(userId), sql.lit(many)];
  const rows = [
    sql`sessions (id, user_id, token_hash, created_at, last_used_at, expires_at)
      select 'old ' || n, ${user}, 'old ' || n, 1, 1, n from numbers`,
    sql`known_addresses (hash, user_id, last_used_at) select 'old ' || n, ${user}, n from numbers`,
    sql`ended_sessions (user_id, generation, ended_at) select 100000 + n, 1, n from numbers`,
    sql`user_tokens (token_hash, user_id, purpose, created_at, expires_at)
      select 'old ' || n, ${user}, 'password', 1, n from numbers`,
    sql`address_tokens (token_hash, user_id, purpose, email, user_version, created_at, expires_at)
      select 'old ' || n, ${user}, 'confirmation', 'old@shop.example', 1, 1, n from numbers`,
    sql`quotas (subject, window_start, used) select 'mail ' || n, n, 1 from numbers`,
    sql`idempotency_keys (caller, key, request_hash, answer, created_at)
      select 'user:1', 'old ' || n, '', '', n from numbers`,
    sql`failed_attempts (hash, failures, failed_at, failed_before) select 'old ' || n, 1, n, 1 from numbers`,
  ];
  await database.write(async session => {
    for (const into of rows) {
      const query = sql`with recursive numbers (n) as (
        select 1 union all select n + 1 from numbers where n < ${count}) insert into ${into}`;
      await session.run(query.compile(database.build));
    }
  });
}

/** Records how many rows each DELETE of a session deletes. */
function countDeletions(session: Transaction) {
  const deleted: number[] = [];
  const counting: Transaction = {
    ...session,
    async run(query) {
      const rows = await session.run(query);
      if (query.sql.includes('delete from')) deleted.push(rows);
      return rows;
    },
  };
  return { counting, deleted };
}

describeOnDatabases('sweeps on %s', kind => {
  test('delete all expired rows in limited batches', async () => {
    const { service, waitForSweep } = await startSwept(kind, {});
    await using _ = service;
    const user = await userIdOf(service, 'user');
    await addExpired(service, user);
    const { database } = service;
    const swept = await database.write(session => createSessionStore(database).sweep(session, many));
    expect(swept).toBeLessThan(many / 2);
    expect(await waitForSweep()).toMatchObject({
      sessions: many - swept,
      places: many,
      ended: many,
      tokens: many,
      addresses: many,
      recipients: many,
      responses: many,
    });
    expect(await waitForSweep()).toMatchObject({ sessions: 0, places: 0, attempts: 0, responses: 0 });
  });

  test('all sessions of a user end in one transaction, in limited batches', async () => {
    await using service = await startTestService(kind);
    const { build, read, write } = service.database;
    const user = await userIdOf(service, 'user');
    await addExpired(service, user);
    const all = build.selectFrom('sessions').select('id').where('user_id', '=', user).compile();
    const before = (await read.all(all)).length;
    const deletions = await write(async session => {
      const { counting, deleted } = countDeletions(session);
      await createSessionStore(service.database).removeAllOf(counting, user, service.clock.now());
      return deleted;
    });
    expect([await read.all(all), deletions.reduce((sum, rows) => sum + rows, 0)]).toEqual([[], before]);
    expect(Math.max(...deletions)).toBeLessThan(many / 2);
  });

  test('a sweep that fails does not block the others', async () => {
    const { service, linesOf, waitForSweep } = await startSwept(kind, { ORDER_TIMEOUT: String(seconds) });
    await using _ = service;
    const { database, clock } = service;
    const order = await ordered(service, [await addStocked(service, 9), 1]);
    await database.write(async session => {
      // Like an order from before there was a limit. Without its table the sweep of sessions fails.
      await session.run(database.build.deleteFrom('deliveries').compile());
      await session.run(sql`alter table sessions rename to elsewhere`.compile(database.build));
    });
    clock.advance(seconds * 1000);
    const swept = await waitForSweep();
    expect(linesOf('removing expired rows failed').map(({ what }) => what)).toEqual([
      'sessions',
      'sessionsSetBack',
    ]);
    expect(swept).toMatchObject({ ended: 0, orders: 1, images: 0, responses: 0 });
    await service.settle();
    expect((await readOrder(service, order)).body.status).toBe('CANCELLED');
  });

  test('end before the database is closed, when the service stops', async () => {
    const { service, linesOf, sweep } = await startSwept(kind, {});
    if (typeof sweep !== 'function') throw new Error('nothing is swept at intervals');
    sweep();
    await service[Symbol.asyncDispose]();
    expect(linesOf('removing expired rows failed')).toEqual([]);
    expect(linesOf('swept')).toHaveLength(1);
  });

  test('delete nothing at first when the clock jumps ahead: it may be set back', async () => {
    const { service, waitForSweep } = await startSwept(kind, {});
    await using _ = service;
    const body = { name: 'Once', price: 1 };
    const headers = { 'Idempotency-Key': 'once' };
    const create = () => call(service, { method: 'POST', path, as: 'editor', body, headers });
    const { status, text } = await create();
    expect(status).toBe(201);
    service.clock.advance(40 * day);
    expect(await waitForSweep(jumped)).toMatchObject({ level: 'warn' });
    service.clock.advance(-40 * day);
    expect(await waitForSweep()).toMatchObject({ responses: 0, sessions: 0 });
    const replayed = await create();
    expect([replayed.headers.get('Idempotency-Replayed'), replayed.text]).toEqual(['true', text]);
    service.clock.advance(2 * day);
    await waitForSweep(jumped);
    expect(await waitForSweep()).toMatchObject({ responses: 1 });
  });

  test('let orders that were placed before the clock was set back wait as if placed now', async () => {
    const { service, waitForSweep } = await startSwept(kind, { ORDER_TIMEOUT: String(seconds) });
    await using _ = service;
    const lamp = await addStocked(service, 5);
    service.clock.advance(800_000);
    const order = await ordered(service, [lamp, 1]);
    service.clock.advance(-800_000);
    const statusAfter = async (milliseconds: number) => {
      service.clock.advance(milliseconds);
      await service.settle();
      return (await readOrder(service, order)).body.status;
    };
    expect(await statusAfter(1000)).toBe('PENDING');
    expect(await waitForSweep()).toMatchObject({ orders: 1 });
    expect(await waitForSweep()).toMatchObject({ orders: 0 });
    expect(await statusAfter(seconds * 1000 - 1)).toBe('PENDING');
    expect(await statusAfter(1)).toBe('CANCELLED');
  });

  test('let sessions that began before the clock was set back begin again', async () => {
    const { service, waitForSweep } = await startSwept(kind, {});
    await using _ = service;
    service.clock.advance(400 * day);
    const [used, left] = [await signInAs(service, emailOf('user')), await signInAs(service, emailOf('user'))];
    const refresh = async ({ body }: typeof used) => (await refreshWith(service, body.refreshToken)).status;
    service.clock.advance(-400 * day);
    expect(await waitForSweep()).toMatchObject({ sessions: 0, sessionsSetBack: 2 });
    expect(await waitForSweep()).toMatchObject({ sessionsSetBack: 0 });
    for (let weeks = 0; weeks < 4; weeks++) {
      service.clock.advance(6 * day);
      expect(await refresh(used)).toBe(200);
    }
    expect(await refresh(left)).toBe(401);
    service.clock.advance(6 * day);
    expect(await refresh(used)).toBe(401);
  });

  test('keep responses stored before the clock was set back for 24 hours from then on', async () => {
    const { service, waitForSweep } = await startSwept(kind, {});
    await using _ = service;
    const body = { name: 'Ahead', price: 1 };
    const create = async (key: string) => {
      const token = await signIn(service.url, emailOf('editor'));
      const headers = { 'Idempotency-Key': key, Authorization: `Bearer ${token}` };
      const { status, headers: sent } = await call(service, { method: 'POST', path, body, headers });
      return [status, sent.get('Idempotency-Replayed')];
    };
    service.clock.advance(40 * day);
    for (const key of ['sent-once', 'sent-again']) expect(await create(key)).toEqual([201, null]);
    service.clock.advance(-40 * day);
    expect(await waitForSweep()).toMatchObject({ responses: 0, responsesSetBack: 2 });
    expect(await create('sent-again')).toEqual([201, 'true']);
    service.clock.advance(day);
    await waitForSweep(jumped);
    expect(await create('sent-again')).toEqual([201, null]);
    expect(await waitForSweep()).toMatchObject({ responses: 1, responsesSetBack: 0 });
  });

  test('retry deliveries that failed before the clock was set back, and nothing that is due later', async () => {
    const server = await smtp();
    await server.die();
    const settings = { SMTP_URL: urlOf(server), ORDER_TIMEOUT: String((3 * day) / 1000) };
    const { service, linesOf, waitForSweep } = await startSwept(kind, settings);
    await using _ = service;
    const order = await ordered(service, [await addStocked(service, 9), 1]);
    service.clock.advance(day);
    await queue(service);
    await service.settle();
    expect(linesOf('delivery failed; it will be retried')).toHaveLength(1);
    service.clock.advance(-day);
    await server.revive();
    expect(await waitForSweep()).toMatchObject({ hastened: 1 });
    await service.settle();
    expect(server.received).toHaveLength(1);
    expect((await readOrder(service, order)).body.status).toBe('PENDING');
    expect(await waitForSweep()).toMatchObject({ hastened: 0 });
  });
});
