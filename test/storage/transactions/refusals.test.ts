/** What PostgreSQL refuses for a time is 503, never 500: logins, and transactions that fail because of others. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { sql } from 'kysely';
import { call, type Received } from '../../support/http/http.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describe.skipIf(!hasPostgres)('PostgreSQL that refuses', () => {
  let service: TestService;
  let admin: SQL;
  let name: string;
  beforeAll(async () => {
    const url = await createDatabase();
    name = new URL(url).pathname.slice(1);
    admin = new SQL(Object.assign(new URL(url), { pathname: '/postgres' }).href, { max: 1 });
    service = await startTestService('postgresql', { DATABASE_URL: url });
  });
  afterAll(async () => {
    await service.stop();
    await admin.close({ timeout: 0 });
  });

  const create = () =>
    call(service, { method: 'POST', path: '/v1/products', as: 'editor', body: { name: 'Lamp', price: 1 } });

  async function expectUnavailable(request: Promise<Received>): Promise<void> {
    const { status, body, headers } = await request;
    expect([status, body.error]).toEqual([503, 'DATABASE_UNAVAILABLE']);
    expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
  }

  test.each([
    ['closed to connections', (name: string) => name],
    ['renamed', (name: string) => `${name}_away`],
  ])('a database that is %s is unavailable until it is back', async (_, rename) => {
    const other = rename(name);
    await admin.unsafe(`alter database ${name} allow_connections false`);
    // Its sessions must have ended before it can be renamed.
    await admin.unsafe(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
    );
    if (other !== name) await admin.unsafe(`alter database ${name} rename to ${other}`);
    await expectUnavailable(create());
    await expectUnavailable(call(service, { path: '/v1/products?page=2', as: 'user' }));
    await expectUnavailable(call(service, { path: '/ready' }));
    if (other !== name) await admin.unsafe(`alter database ${other} rename to ${name}`);
    await admin.unsafe(`alter database ${name} allow_connections true`);
    expect((await create()).status).toBe(201);
    expect((await call(service, { path: '/ready' })).status).toBe(200);
  });

  test.each([
    ['deadlock_detected', '40P01', /lock/],
    ['serialization_failure', '40001', /cannot be reached, or did not respond/],
    ['transaction_timeout', '25P04', /cannot be reached, or did not respond/],
  ])('a transaction that fails with %s on every attempt is unavailable', async (_, state, message) => {
    const { build, write } = service.database;
    const raise = sql`create or replace function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused on purpose' using errcode = ${sql.lit(state)}; end $$`;
    const each = sql`create trigger refuse before insert on todos for each row execute function refuse()`;
    for (const statement of [raise, each]) await write(session => session.run(statement.compile(build)));
    const body = { title: 'Count the lamps' };
    const refused = call(service, { method: 'POST', path: '/v1/todos', as: 'user', body });
    await expectUnavailable(refused);
    expect((await refused).body.message).toMatch(message);
    await write(session => session.run(sql`drop trigger refuse on todos`.compile(build)));
  });
});
