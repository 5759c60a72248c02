/** A write that takes longer than a silent connection may stay open gets its response, and nothing is done twice. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { sql } from 'kysely';
import { idleTimeout } from '../../src/app.ts';
import { call } from '../support/http/http.ts';
import { hasPostgres } from '../support/service/postgres.ts';
import { startTestService } from '../support/service/service.ts';

setDefaultTimeout(120_000);
/** Seconds that each slowed statement takes: four together exceed the limit, one does not. */
const slow = Math.ceil((idleTimeout + 4) / 4);
const slowed = ['delete on comments', 'delete on posts', 'insert on events'];

test.skipIf(!hasPostgres)('a deletion of more than 30 seconds is 204', async () => {
  await using service = await startTestService('postgresql');
  const { build, write } = service.database;
  const add = async (path: string, body: object): Promise<number> =>
    (await call(service, { method: 'POST', path, as: 'admin', body })).body.id;
  const post = await add('/v1/posts', { title: 'To go', body: 'Much of it' });
  await add(`/v1/posts/${post}/comments`, { body: 'Goes with it' });
  const statements = [
    `create function wait() returns trigger language plpgsql as
      $$ begin perform pg_sleep(${slow}); return null; end $$`,
    ...slowed.map(what => `create trigger waiting before ${what} for each statement execute function wait()`),
  ];
  for (const text of statements) await write(session => session.run(sql.raw(text).compile(build)));
  const began = performance.now();
  const removed = await call(service, { method: 'DELETE', path: `/v1/posts/${post}`, as: 'admin' });
  expect(removed.status).toBe(204);
  expect(performance.now() - began).toBeGreaterThan(idleTimeout * 1000);
  expect((await call(service, { path: `/v1/posts/${post}`, as: 'user' })).status).toBe(404);
  const events = await call(service, { path: '/v1/events?type=comment.deleted', as: 'admin' });
  expect(events.body.meta.total).toBe(1);
});
