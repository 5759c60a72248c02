/** The service's own failures do not count as guesses: a valid token works once the service can write again. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { type Call, call } from '../../support/http/http.ts';
import { mailTo, tokenIn } from '../../support/peers/mails.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, password, startTestService, type TestService } from '../../support/service/service.ts';

/** More than the attempts allowed for a token, and more than the mails allowed for an address. */
const attempts = 12;

describeOnDatabases('attempts that fail because the database is full are not counted on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const run = (text: string) =>
    service.database.write(session => session.run(sql.raw(text).compile(service.database.build)));

  /** Makes such statements fail for lack of space while `work` runs. */
  async function whileFull(statement: string, table: string, work: () => Promise<void>): Promise<void> {
    const failing = `create trigger failing before ${statement} on ${table}`;
    if (kind === 'sqlite') {
      await run('create table ballast (content blob)');
      await run(`${failing} begin insert into ballast values (zeroblob(100000000)); end`);
      await run('pragma max_page_count = 10000');
    } else {
      await run(`create function fail() returns trigger language plpgsql as
        $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$`);
      await run(`${failing} execute function fail()`);
    }
    await work();
    await run(kind === 'sqlite' ? 'drop table ballast' : 'drop function fail cascade');
    if (kind === 'sqlite') await run('drop trigger failing');
  }

  /** Sends a request that fails any number of times, and then gets its usual response. */
  async function failsUncounted(request: Call, statement: string, table: string, status: number) {
    await whileFull(statement, table, async () => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const failed = await call(service, request);
        expect([failed.status, failed.headers.get('X-RateLimit-Remaining')]).toEqual([507, '10']);
      }
    });
    expect((await call(service, request)).status).toBe(status);
  }
  const post = (path: string, body: object): Call => ({ method: 'POST', path, body });

  test('refreshing a session', async () => {
    const signedIn = await call(service, post('/v1/auth/login', { email: emailOf('user'), password }));
    const { refreshToken } = signedIn.body;
    await failsUncounted(post('/v1/auth/refresh', { refreshToken }), 'update', 'sessions', 200);
    // Wrong tokens count even when the service cannot write.
    const forged = post('/v1/auth/refresh', { refreshToken: `${refreshToken.slice(0, -4)}AAAA` });
    await whileFull('update', 'sessions', async () => {
      for (let left = 9; left >= 0; left--) {
        const { status, headers } = await call(service, forged);
        expect([status, headers.get('X-RateLimit-Remaining')]).toEqual([401, `${left}`]);
      }
      expect((await call(service, forged)).status).toBe(429);
    });
  });

  test('requesting a mail and using its token', async () => {
    const email = emailOf('editor');
    const request = post('/v1/auth/forgot-password', { email });
    await failsUncounted(request, 'insert', 'deliveries', 202);
    const token = tokenIn(mailTo(await service.mails(), email));
    const reset = post('/v1/auth/password-reset', { token, password: 'a longer one with a staple' });
    await failsUncounted(reset, 'update', 'users', 204);
  });
});
