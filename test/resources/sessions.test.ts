/** Staying signed in: refresh tokens, their lifetimes, signing out, and what stands against guessing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { contentsOf } from '../support/contents.ts';
import { call } from '../support/http.ts';
import { forge } from '../support/jwt.ts';
import { play } from '../support/scenario.ts';
import { databaseKinds, emailOf, password, startTestService, type TestService } from '../support/service.ts';

const day = 24 * 60 * 60 * 1000;
const post = (service: TestService, path: string, body: unknown) =>
  call(service, { method: 'POST', path, body });
const login = (service: TestService, email = emailOf('user'), secret = password) =>
  post(service, '/v1/auth/login', { email, password: secret });
const refresh = (service: TestService, refreshToken: unknown) =>
  post(service, '/v1/auth/refresh', { refreshToken });

describe.each([...databaseKinds])('sessions on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('a refresh token gives access tokens, again and again', async () => {
    const { refreshToken } = (await login(service)).body;
    expect((await contentsOf(service)).join()).not.toContain(refreshToken);
    for (const _ of [1, 2]) {
      const answer = await refresh(service, refreshToken);
      expect(answer.body).toEqual({ accessToken: expect.any(String), expiresIn: 900 });
      expect(answer.headers.get('Cache-Control')).toBe('no-store');
      const headers = { Authorization: `Bearer ${answer.body.accessToken}` };
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
      const answer = await post(service, '/v1/auth/logout', { refreshToken: ended });
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
    const answer = await refresh(service, ended);
    expect([answer.status, answer.body.error]).toEqual([401, 'UNAUTHORIZED']);
    expect((await refresh(service, other)).status).toBe(200);
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
    await play(service, { name, method: 'POST', path: '/v1/auth/refresh', body: { refreshToken }, status });
  });
});

describe.each([...databaseKinds])('sessions over time on %s', kind => {
  test('a session that is not used for 7 days has ended', async () => {
    const service = await startTestService(kind);
    const { refreshToken } = (await login(service)).body;
    service.clock.advance(7 * day - 1000);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    service.clock.advance(7 * day);
    const answer = await refresh(service, refreshToken);
    expect([answer.status, answer.body.error]).toEqual([401, 'TOKEN_EXPIRED']);
    expect(answer.headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
    await service.stop();
  });

  test('a session ends after 30 days, however often it is used', async () => {
    const service = await startTestService(kind);
    const { refreshToken } = (await login(service)).body;
    for (let used = 0; used < 4; used++) {
      service.clock.advance(6 * day);
      expect((await refresh(service, refreshToken)).status).toBe(200);
    }
    service.clock.advance(6 * day - 1000);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    service.clock.advance(1000);
    const answer = await refresh(service, refreshToken);
    expect([answer.status, answer.body.error]).toEqual([401, 'TOKEN_EXPIRED']);
    await service.stop();
  });
});

describe.each([...databaseKinds])('guessing on %s', kind => {
  test('ten wrong passwords close an account for the rest of 15 minutes, whatever comes then', async () => {
    const service = await startTestService(kind);
    // A success gives its attempt back.
    for (let success = 0; success < 2; success++) expect((await login(service)).status).toBe(200);
    const guesses = Array.from({ length: 14 }, (_, index) =>
      login(service, emailOf('user'), `guess number ${index}`),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter(status => status === 401)).toHaveLength(10);
    expect(statuses.filter(status => status === 429)).toHaveLength(4);
    service.clock.advance(300_000);
    const right = await login(service, emailOf('user').toUpperCase());
    expect([right.status, right.body.error]).toEqual([429, 'RATE_LIMITED']);
    expect(right.headers.get('Retry-After')).toBe('600');
    expect((await login(service, emailOf('editor'))).status).toBe(200);
    service.clock.advance(600_000);
    expect((await login(service)).status).toBe(200);
    await service.stop();
  });

  test('a hundred failures close the way in for an address, whichever account they name', async () => {
    const service = await startTestService(kind);
    const { refreshToken } = (await login(service)).body;
    const attempts = Array.from({ length: 100 }, (_, index) => refresh(service, `guess${index}`));
    expect(new Set((await Promise.all(attempts)).map(({ status }) => status))).toEqual(new Set([401]));
    for (const answer of [await refresh(service, refreshToken), await login(service, emailOf('admin'))]) {
      expect([answer.status, answer.body.error]).toEqual([429, 'RATE_LIMITED']);
    }
    service.clock.advance(900_000);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    await service.stop();
  });
});
