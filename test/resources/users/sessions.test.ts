/** Staying signed in: refresh tokens, their lifetimes, signing out, and limits on guessing. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { another, post } from '../../support/data/addresses.ts';
import { addPerson, type Person, refreshWith, signInAs } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { decode, forge } from '../../support/peers/jwt.ts';
import { mailsOf, mailTo, tokenIn } from '../../support/peers/mails.ts';
import { contentsOf } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, password, startTestService, type TestService } from '../../support/service/service.ts';

const day = 24 * 60 * 60 * 1000;
const login = (service: TestService, email = emailOf('user'), secret = password) =>
  post(service, '/v1/auth/login', { email, password: secret });
const refresh = (service: TestService, refreshToken: unknown) =>
  post(service, '/v1/auth/refresh', { refreshToken });

/** Ends the sessions of an account with a request that was prepared before any sign-in is in flight. */
type Ending = (service: TestService, account: Person) => Promise<() => Promise<{ readonly status: number }>>;
const endings: [name: string, role: 'editor' | 'user', ending: Ending][] = [
  [
    'a change of the password',
    'user',
    async (service, { headers }) => {
      const body = { currentPassword: password, newPassword: another };
      return () => call(service, { method: 'PUT', path: '/v1/me/password', headers, body });
    },
  ],
  [
    'a reset of the password',
    'user',
    async (service, { email }) => {
      const mails = await mailsOf(service, () => post(service, '/v1/auth/forgot-password', { email }));
      const body = { token: tokenIn(mailTo(mails, email)), password: another };
      return () => post(service, '/v1/auth/password-reset', body);
    },
  ],
  [
    'a demotion',
    'editor',
    async (service, { path }) =>
      () =>
        call(service, { method: 'PATCH', path, as: 'admin', body: { role: 'user' } }),
  ],
  [
    'a deletion',
    'user',
    async (service, { path }) =>
      () =>
        call(service, { method: 'DELETE', path, as: 'admin' }),
  ],
];

/**
 * Signs in repeatedly, four at a time. `change` is sent after the first success, and the loops end after it is done. A
 * refused client stops: after too many wrong guesses, sign-ins would have to wait, including the last one of the test.
 */
async function signInsDuring(service: TestService, email: string, change: () => Promise<unknown>) {
  const responses: Awaited<ReturnType<typeof signInAs>>[] = [];
  const first = Promise.withResolvers<void>();
  let isDone = false;
  const lane = async () => {
    for (let isIn = true; isIn; ) {
      const response = await signInAs(service, email);
      responses.push(response);
      first.resolve();
      isIn = response.status === 200 && !isDone;
    }
  };
  const lanes = Promise.all([lane(), lane(), lane(), lane()]);
  await Promise.race([first.promise, lanes]);
  await change();
  isDone = true;
  await lanes;
  return responses;
}

describeOnDatabases('sessions on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('a refresh token returns a new access token each time', async () => {
    const { refreshToken } = (await login(service)).body;
    expect((await contentsOf(service)).join()).not.toContain(refreshToken);
    for (const _ of [1, 2]) {
      const response = await refresh(service, refreshToken);
      expect(response.body).toEqual({ accessToken: expect.any(String), expiresIn: 900 });
      expect(response.headers.get('Cache-Control')).toBe('no-store');
      const headers = { Authorization: `Bearer ${response.body.accessToken}` };
      expect((await call(service, { path: '/v1/me', headers })).body.email).toBe(emailOf('user'));
    }
  });

  test('access and refresh tokens are not interchangeable', async () => {
    const { accessToken, refreshToken } = (await login(service)).body;
    const headers = { Authorization: `Bearer ${refreshToken}` };
    await play(service, {
      name: 'refresh as access',
      path: '/v1/me',
      headers,
      status: 401,
      error: 'UNAUTHORIZED',
    });
    const body = { refreshToken: accessToken };
    const path = '/v1/auth/refresh';
    await play(service, {
      name: 'access as refresh',
      method: 'POST',
      path,
      body,
      status: 401,
      error: 'UNAUTHORIZED',
    });
  });

  test('signing out ends the session and that session only', async () => {
    const ended = (await login(service)).body.refreshToken;
    const other = (await login(service)).body.refreshToken;
    for (const _ of ['first', 'again']) {
      const response = await post(service, '/v1/auth/logout', { refreshToken: ended });
      expect([response.status, response.text]).toEqual([204, '']);
    }
    const response = await refresh(service, ended);
    expect([response.status, response.body.error]).toEqual([401, 'UNAUTHORIZED']);
    expect((await refresh(service, other)).status).toBe(200);
  });

  test.each(endings)('a sign-in in flight does not survive %s', async (_, role, ending) => {
    const account = await addPerson(service, role);
    const end = await ending(service, account);
    const responses = await signInsDuring(service, account.email, async () => {
      expect([200, 204]).toContain((await end()).status);
    });
    // Sign-ins after the account is deleted or has another password are refused.
    expect(responses.filter(({ status }) => ![200, 401].includes(status))).toEqual([]);
    expect(responses[0]?.status).toBe(200);
    for (const { status, body } of responses) {
      if (status !== 200) continue;
      const { status: refreshed } = await refreshWith(service, body.refreshToken);
      // A user who may still sign in has the current rights.
      if (refreshed === 200) expect(decode(body.accessToken).payload).toMatchObject({ role: 'user' });
      if (role === 'user') expect(refreshed).toBe(401);
    }
    const { status, body } = await signInAs(service, account.email);
    if (status === 200) expect(decode(body.accessToken).payload).toMatchObject({ role: 'user' });
    expect(status).toBe(role === 'user' ? 401 : 200);
  });

  test.each([
    ['garbage', 'garbage', 401],
    [
      'a token we signed for a session we do not have',
      forge({ use: 'refresh', sessionId: 'x', exp: 4_000_000_000 }),
      401,
    ],
    ['nothing', '', 400],
    ['a number', 1, 400],
    ['5,000 characters', 'x'.repeat(5000), 400],
  ])('refresh refuses %s', async (name, refreshToken, status) => {
    const sent = { method: 'POST', path: '/v1/auth/refresh', body: { refreshToken } } as const;
    const { body } = await play(service, { name, ...sent, status });
    if (status !== 401) return;
    const message =
      'The refresh token is not valid, or its session has ended; sign in again with POST /v1/auth/login.';
    expect([body.error, body.message]).toEqual(['UNAUTHORIZED', message]);
  });
});

describeOnDatabases('sessions over time on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('a session ends after 7 days without use', async () => {
    const { refreshToken } = (await login(service)).body;
    service.clock.advance(7 * day - 1000);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    service.clock.advance(7 * day);
    const response = await refresh(service, refreshToken);
    expect([response.status, response.body.error]).toEqual([401, 'TOKEN_EXPIRED']);
    expect(response.body.message).toBe(
      'The refresh token has expired; sign in again with POST /v1/auth/login.',
    );
    // The body is what is wrong: no access token was sent.
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="catalog"');
  });

  test('a session ends after 30 days, however often it is used', async () => {
    const { refreshToken } = (await login(service)).body;
    for (let used = 0; used < 4; used++) {
      service.clock.advance(6 * day);
      expect((await refresh(service, refreshToken)).status).toBe(200);
    }
    service.clock.advance(6 * day - 1000);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    service.clock.advance(1000);
    const response = await refresh(service, refreshToken);
    expect([response.status, response.body.error]).toEqual([401, 'TOKEN_EXPIRED']);
  });
});

describeOnDatabases('guessing on %s', kind => {
  test('expired refresh tokens are no guesses: any number from an IP address block no other', async () => {
    const service = await startTestService(kind);
    const { refreshToken } = (await login(service)).body;
    for (let session = 0; session <= 100; session++) {
      const expired = forge({ use: 'refresh', sessionId: `${session}`, exp: 1_000_000_000 });
      expect((await refresh(service, expired)).body.error).toBe('TOKEN_EXPIRED');
    }
    expect((await refresh(service, refreshToken)).status).toBe(200);
    await service.stop();
  });

  test('a hundred wrong refresh tokens block refreshing from an IP address, but not signing in by password', async () => {
    const service = await startTestService(kind);
    const { refreshToken } = (await login(service)).body;
    const attempts = Array.from({ length: 100 }, (_, index) => refresh(service, `guess${index}`));
    expect(new Set((await Promise.all(attempts)).map(({ status }) => status))).toEqual(new Set([401]));
    const refused = await refresh(service, refreshToken);
    expect([refused.status, refused.body.error]).toEqual([429, 'RATE_LIMITED']);
    expect((await login(service, emailOf('admin'))).status).toBe(200);
    service.clock.advance(900_000);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    await service.stop();
  });
});
