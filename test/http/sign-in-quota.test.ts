/** Signing in and renewing tokens have quotas of their own, and show them in the headers that all answers have. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { type Answer, call } from '../support/http.ts';
import { databaseKinds, emailOf, password, startTestService, type TestService } from '../support/service.ts';

const perAccount = 10;
const perAddress = 100;

describe.each([...databaseKinds])('the quota of signing in on %s', kind => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService(kind);
  });
  afterEach(() => service.stop());

  const signIn = (email: string, secret: string) =>
    call(service, { method: 'POST', path: '/v1/auth/login', body: { email, password: secret } });
  const refresh = (refreshToken: string) =>
    call(service, { method: 'POST', path: '/v1/auth/refresh', body: { refreshToken } });
  const quotaOf = ({ status, headers }: Answer) => [
    status,
    ...['Limit', 'Remaining', 'Window'].map(name => Number(headers.get(`X-RateLimit-${name}`))),
  ];

  test('each failure against an account takes one of ten, and the eleventh attempt is refused', async () => {
    const email = emailOf('user');
    for (let left = perAccount - 1; left >= 0; left--) {
      expect(quotaOf(await signIn(email, 'wrong'))).toEqual([401, perAccount, left, 900]);
    }
    const refused = await signIn(email.toUpperCase(), password);
    expect(quotaOf(refused)).toEqual([429, perAccount, 0, 900]);
    expect(refused.body.error).toBe('RATE_LIMITED');
    const seconds = Number(refused.headers.get('Retry-After'));
    expect(seconds).toBe(Number(refused.headers.get('X-RateLimit-Reset')) - service.clock.now() / 1000);
    expect(refused.headers.get('RateLimit')).toBe(`"default";r=0;t=${seconds}`);
    expect(refused.headers.get('RateLimit-Policy')).toBe(`"default";q=${perAccount};w=900`);
    // Others are not hindered, nor is the account once the window is over.
    expect((await signIn(emailOf('editor'), password)).status).toBe(200);
    service.clock.advance(seconds * 1000);
    expect((await signIn(email, password)).status).toBe(200);
  });

  test('a success takes nothing', async () => {
    for (let attempt = 0; attempt < perAccount + 2; attempt++) {
      expect(quotaOf(await signIn(emailOf('user'), password))).toEqual([200, perAccount, perAccount, 900]);
    }
  });

  test('an address that tries account after account is stopped after a hundred', async () => {
    for (let attempt = 1; attempt <= perAddress; attempt++) {
      expect((await signIn(`nobody${attempt}@test.example`, 'wrong')).status).toBe(401);
    }
    const refused = await signIn(emailOf('user'), password);
    expect(quotaOf(refused)).toEqual([429, perAddress, 0, 900]);
  }, 60_000);

  test('a refresh token that does not do is tried ten times at most', async () => {
    const { refreshToken } = (await signIn(emailOf('user'), password)).body;
    expect(quotaOf(await refresh(refreshToken))).toEqual([200, perAccount, perAccount, 900]);
    const forged = `${refreshToken.slice(0, -4)}AAAA`;
    for (let left = perAccount - 1; left >= 0; left--) {
      expect(quotaOf(await refresh(forged))).toEqual([401, perAccount, left, 900]);
    }
    expect(quotaOf(await refresh(forged))).toEqual([429, perAccount, 0, 900]);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  test('other answers show the quota of all requests', async () => {
    const { headers } = await call(service, { path: '/v1/me', as: 'user' });
    expect(headers.get('X-RateLimit-Limit')).toBe('1000000');
  });
});
