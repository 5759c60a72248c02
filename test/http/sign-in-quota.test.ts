/** Whoever guesses passwords is slowed, and not the owner of the account; the headers of all answers show the limit. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { describeOnDatabases } from '../support/databases.ts';
import { type Answer, call } from '../support/http.ts';
import { mailTo, tokenIn } from '../support/mails.ts';
import { emailOf, password, startTestService, type TestService } from '../support/service.ts';

const perPair = 10;
const perKnownPair = 20;
const perAddress = 100;
const guesser = '198.51.100.66';
const home = '203.0.113.7';
const elsewhere = '203.0.113.99';

describeOnDatabases('the limits of signing in on %s', kind => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService(kind, { TRUST_PROXY: 'true' });
  });
  afterEach(() => service.stop());

  const signIn = (email: string, secret: string, from: string, at = service) =>
    call(at, {
      method: 'POST',
      path: '/v1/auth/login',
      headers: { 'X-Forwarded-For': from },
      body: { email, password: secret },
    });
  const statusOf = async (answer: Promise<Answer>) => (await answer).status;
  const refresh = (refreshToken: string) =>
    call(service, { method: 'POST', path: '/v1/auth/refresh', body: { refreshToken } });
  const quotaOf = ({ status, headers }: Answer) => [
    status,
    ...['Limit', 'Remaining', 'Window'].map(name => Number(headers.get(`X-RateLimit-${name}`))),
  ];
  /** Tries until there is a 429, at the limit at the latest. */
  async function exhaust(email: string, from: string, limit: number) {
    for (let attempt = 0; attempt <= limit; attempt++)
      if ((await signIn(email, 'wrong', from)).status === 429) return;
    throw new Error(`${limit} wrong passwords from ${from} were not too many`);
  }

  test('each failure takes one of ten of the account and the address, and the eleventh attempt is refused', async () => {
    const email = emailOf('user');
    for (let left = perPair - 1; left >= 0; left--) {
      expect(quotaOf(await signIn(email, 'wrong', guesser))).toEqual([401, perPair, left, 900]);
    }
    const refused = await signIn(email.toUpperCase(), password, guesser);
    expect(quotaOf(refused)).toEqual([429, perPair, 0, 900]);
    expect(refused.body.error).toBe('RATE_LIMITED');
    const seconds = Number(refused.headers.get('Retry-After'));
    expect(seconds).toBe(Number(refused.headers.get('X-RateLimit-Reset')) - service.clock.now() / 1000);
    // Neither the owner elsewhere nor others there are hindered, nor is anybody once the window is over.
    expect(await statusOf(signIn(email, password, elsewhere))).toBe(200);
    expect(await statusOf(signIn(emailOf('editor'), password, guesser))).toBe(200);
    service.clock.advance(seconds * 1000);
    expect(await statusOf(signIn(email, password, guesser))).toBe(200);
  });

  test('a success takes nothing, and sixteen at once all succeed', async () => {
    const email = emailOf('admin');
    for (const from of [home, elsewhere]) {
      const answers = await Promise.all(Array.from({ length: 16 }, () => signIn(email, password, from)));
      expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
    }
    expect(quotaOf(await signIn(email, password, home))).toEqual([200, perKnownPair, perKnownPair, 300]);
  });

  test('wrong passwords at once are no more than one after the other', async () => {
    const email = emailOf('user');
    const answers = await Promise.all(Array.from({ length: 40 }, () => signIn(email, 'wrong', guesser)));
    const failed = answers.filter(({ status }) => status === 401);
    expect(failed).toHaveLength(perPair);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  test('an owner goes on where they have signed in before, whoever guesses elsewhere, on every replica', async () => {
    const email = emailOf('admin');
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    // Many addresses, until none but known ones may try.
    for (let address = 1; address <= 10; address++) {
      for (let attempt = 0; attempt < perPair; attempt++)
        expect(await statusOf(signIn(email, 'wrong', `198.51.100.${address}`))).toBe(401);
    }
    expect(await statusOf(signIn(email, password, elsewhere))).toBe(429);
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    const replica = await service.replica({ TRUST_PROXY: 'true' });
    expect(await statusOf(signIn(email, password, home, replica))).toBe(200);
    // The address itself is kept nowhere.
    const rows = await service.database.read.all(
      service.database.build.selectFrom('known_addresses').selectAll().compile(),
    );
    expect(JSON.stringify(rows)).not.toContain(home);

    // The way for an owner on the road: the mailbox.
    await call(service, { method: 'POST', path: '/v1/auth/forgot-password', body: { email } });
    const token = tokenIn(mailTo(await service.mails(), email));
    const headers = { 'X-Forwarded-For': elsewhere };
    const body = { token, password: 'a longer one with a staple' };
    const reset = await call(service, { method: 'POST', path: '/v1/auth/password-reset', headers, body });
    expect(reset.status).toBe(204);
    expect(await statusOf(signIn(email, body.password, elsewhere))).toBe(200);
    // What was known before may have been whoever knew the old password.
    expect(await statusOf(signIn(email, body.password, home))).toBe(429);
  });

  test('also from a known address guesses are limited, for minutes', async () => {
    const email = emailOf('user');
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    for (let attempt = 0; attempt < perPair; attempt++) await signIn(email, 'wrong', home);
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    await exhaust(email, home, perKnownPair);
    const refused = await signIn(email, password, home);
    expect(quotaOf(refused)).toEqual([429, perKnownPair, 0, 300]);
    service.clock.advance(Number(refused.headers.get('Retry-After')) * 1000);
    expect(await statusOf(signIn(email, password, home))).toBe(200);
  });

  test('an address that tries account after account is stopped after a hundred', async () => {
    const known = emailOf('editor');
    expect(await statusOf(signIn(known, password, guesser))).toBe(200);
    for (let attempt = 1; attempt <= perAddress; attempt++) {
      expect(await statusOf(signIn(`nobody${attempt}@test.example`, 'wrong', guesser))).toBe(401);
    }
    const refused = await signIn(emailOf('user'), password, guesser);
    expect(quotaOf(refused)).toEqual([429, perAddress, 0, 900]);
    expect(await statusOf(signIn(known, password, guesser))).toBe(200);
  }, 60_000);

  test('a refresh token that does not do is tried ten times at most', async () => {
    const { refreshToken } = (await signIn(emailOf('user'), password, home)).body;
    expect(quotaOf(await refresh(refreshToken))).toEqual([200, 10, 10, 900]);
    const forged = `${refreshToken.slice(0, -4)}AAAA`;
    for (let left = 9; left >= 0; left--) {
      expect(quotaOf(await refresh(forged))).toEqual([401, 10, left, 900]);
    }
    expect(quotaOf(await refresh(forged))).toEqual([429, 10, 0, 900]);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  test('other answers show the quota of all requests', async () => {
    const { headers } = await call(service, { path: '/v1/me', as: 'user' });
    expect(headers.get('X-RateLimit-Limit')).toBe('1000000');
  });
});
