/** PostgreSQL's errors for damaged pages and for damaged indexes are both reported as damage. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { call } from '../support/http/http.ts';
import { writesNothing } from '../support/service/contents.ts';
import { hasPostgres } from '../support/service/postgres.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

describe.skipIf(!hasPostgres)('damage that PostgreSQL reports', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService('postgresql');
    const { build, write } = service.database;
    const raise = sql`create function damage() returns trigger language plpgsql as
      $$ begin raise exception 'damage on purpose' using errcode = new.title; end $$`;
    const each = sql`create trigger damage before insert on todos for each row execute function damage()`;
    await write(async session => {
      await session.run(raise.compile(build));
      await session.run(each.compile(build));
    });
  });
  afterAll(() => service.stop());

  const damages = async () => {
    const { text } = await call(service, { path: '/metrics', headers: { Accept: 'text/plain' } });
    return Number(/^catalog_database_damage_total (\d+)$/m.exec(text)?.[1]);
  };

  test.each([
    ['data_corrupted', 'XX001', 'DATABASE_DAMAGED', 1],
    ['index_corrupted', 'XX002', 'DATABASE_DAMAGED', 1],
    ['internal_error', 'XX000', 'INTERNAL_ERROR', 0],
  ])('%s is %s is %s', async (_, title, error, counted) => {
    const before = await damages();
    await writesNothing(service, async () => {
      const body = { title };
      const response = await call(service, { method: 'POST', path: '/v1/todos', as: 'user', body }).catch(
        String,
      );
      // The tests' client throws for INTERNAL_ERROR, instead of returning the response.
      if (typeof response === 'string') expect(response).toContain(error);
      else {
        expect([response.status, response.body.error]).toEqual([500, error]);
        expect(response.text).not.toContain('on purpose');
      }
    });
    expect(await damages()).toBe(before + counted);
    const failed = service.log().filter(({ message }) => message === 'request failed');
    expect(JSON.stringify(failed.at(-1))).toContain('damage on purpose');
  });
});
