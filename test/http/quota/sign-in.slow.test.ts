/** Anyone who guesses passwords waits longer and longer, but the account's owner does not; headers show the limit. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { call, type Received } from '../../support/http/http.ts';
import { mailTo, tokenIn } from '../../support/peers/mails.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, password, startTestService, type TestService } from '../../support/service/service.ts';

const perPair = 5;
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
  const statusOf = async (response: Promise<Received>) => (await response).status;
  const refresh = (refreshToken: string, at = service) =>
    call(at, { method: 'POST', path: '/v1/auth/refresh', body: { refreshToken } });
  const quotaOf = ({ status, headers }: Received) => [
    status,
    ...['Limit', 'Remaining', 'Window'].map(name => Number(headers.get(`X-RateLimit-${name}`))),
  ];
  const waitOf = ({ headers }: Received) => Number(headers.get('Retry-After'));
  /** Fails once more, as soon as an attempt is allowed. @returns the wait in seconds */
  async function failAgain(email: string, from: string, at = service): Promise<number> {
    const refused = await signIn(email, password, from, at);
    expect(refused.status).toBe(429);
    service.clock.advance(waitOf(refused) * 1000);
    expect(await statusOf(signIn(email, 'wrong', from, at))).toBe(401);
    return waitOf(refused);
  }
  async function fail(times: number, email: string, from: string) {
    for (let attempt = 0; attempt < times; attempt++)
      expect(await statusOf(signIn(email, 'wrong', from))).toBe(401);
  }

  test('after five failures of an account from an address each further one doubles the wait, on any replica', async () => {
    const email = emailOf('user');
    for (let left = perPair - 1; left >= 0; left--)
      expect(quotaOf(await signIn(email, 'wrong', guesser))).toEqual([401, perPair, left, 900]);
    const refused = await signIn(email.toUpperCase(), password, guesser);
    expect([...quotaOf(refused), refused.body.error]).toEqual([429, perPair, 0, 900, 'RATE_LIMITED']);
    expect(refused.headers.get('RateLimit-Policy')).toBe('"sign-in pair";q=5;w=900');
    // On SQLite each process counts on its own; on PostgreSQL, those of the same database count together.
    const replica = kind === 'sqlite' ? service : await service.replica({ TRUST_PROXY: 'true' });
    const waits: number[] = [];
    for (let round = 0; round < 12; round++)
      waits.push(await failAgain(email, guesser, round % 2 === 0 ? service : replica));
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    // A request during the wait does not prolong this wait or the waits of others.
    const [first, second] = [await signIn(email, 'wrong', guesser), await signIn(email, 'wrong', guesser)];
    expect([first.status, waitOf(first), waitOf(second)]).toEqual([429, 900, 900]);
    expect(Number(first.headers.get('X-RateLimit-Reset'))).toBe(service.clock.now() / 1000 + 900);
    expect(await statusOf(signIn(email, password, elsewhere))).toBe(200);
    expect(await statusOf(signIn(emailOf('editor'), password, guesser))).toBe(200);
    service.clock.advance(900_000);
    expect(await statusOf(signIn(email, password, guesser))).toBe(200);
  });

  test('failures are forgiven one by one once the wait is over, and a success forgives none', async () => {
    const email = emailOf('user');
    await fail(perPair, email, guesser);
    service.clock.advance(1000);
    expect(await failedThenRefused(email)).toBe(2);
    // The wait of two seconds, and a fifth of the window for each of the two failures.
    service.clock.advance(2000 + 2 * 180_000);
    expect(await failedThenRefused(email)).toBe(1);
    service.clock.advance(1000 + 900_000);
    await fail(perPair, email, guesser);
    expect(await statusOf(signIn(email, 'wrong', guesser))).toBe(429);
  });
  test('a success between failures forgives none of them', async () => {
    const email = emailOf('user');
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    await fail(perKnownPair, email, home);
    for (const wait of [1, 2, 4]) {
      // No failure has been forgiven yet.
      const refused = await signIn(email, password, home);
      expect([refused.status, waitOf(refused)]).toEqual([429, wait]);
      service.clock.advance(wait * 1000);
      const succeeded = await signIn(email, password, home);
      expect(quotaOf(succeeded)).toEqual([200, perKnownPair, 0, 300]);
      await fail(1, email, home);
    }
  });

  /** Fails once more. @returns the wait of the next attempt, in seconds */
  async function failedThenRefused(email: string): Promise<number> {
    await fail(1, email, guesser);
    const refused = await signIn(email, 'wrong', guesser);
    expect(refused.status).toBe(429);
    return waitOf(refused);
  }

  test('successes use up no attempts, and sixteen concurrent ones all succeed', async () => {
    const email = emailOf('admin');
    for (const from of [home, elsewhere]) {
      const responses = await Promise.all(Array.from({ length: 16 }, () => signIn(email, password, from)));
      expect(responses.map(({ status }) => status)).toEqual(Array(16).fill(200));
    }
    expect(quotaOf(await signIn(email, password, home))).toEqual([200, perKnownPair, perKnownPair, 300]);
  });

  test('more sessions than an address may fail are continued from it at once', async () => {
    const tokens: string[] = [];
    for (let session = 0; session < perAddress + 5; session++)
      tokens.push((await signIn(emailOf('user'), password, home)).body.refreshToken);
    const responses = await Promise.all(tokens.map(token => refresh(token)));
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test('concurrent wrong passwords are limited like consecutive ones', async () => {
    const email = emailOf('user');
    const responses = await Promise.all(Array.from({ length: 40 }, () => signIn(email, 'wrong', guesser)));
    const failed = responses.filter(({ status }) => status === 401);
    expect(failed).toHaveLength(perPair);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(35);
  });

  test('an owner can sign in from a known address on every replica while others guess elsewhere', async () => {
    const email = emailOf('admin');
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    // Fail from many addresses, until only known ones may try.
    for (let address = 1; address <= 20; address++) await fail(perPair, email, `198.51.100.${address}`);
    expect(await statusOf(signIn(email, password, elsewhere))).toBe(429);
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    await using replica = await service.replica({ TRUST_PROXY: 'true' });
    expect(await statusOf(signIn(email, password, home, replica))).toBe(200);
    // The address itself is not stored.
    const rows = await service.database.read.all(
      service.database.build.selectFrom('known_addresses').selectAll().compile(),
    );
    expect(JSON.stringify(rows)).not.toContain(home);

    // An owner who is elsewhere can reset the password by mail.
    await call(service, { method: 'POST', path: '/v1/auth/forgot-password', body: { email } });
    const token = tokenIn(mailTo(await service.mails(), email));
    const headers = { 'X-Forwarded-For': elsewhere };
    const body = { token, password: 'a longer one with a staple' };
    const reset = await call(service, { method: 'POST', path: '/v1/auth/password-reset', headers, body });
    expect(reset.status).toBe(204);
    expect(await statusOf(signIn(email, body.password, elsewhere))).toBe(200);
    // The formerly known address is no longer trusted: anyone with the old password may have used it.
    expect(await statusOf(signIn(email, body.password, home))).toBe(429);
  });

  test('guesses from a known address are limited too, for a minute at most', async () => {
    const email = emailOf('user');
    expect(await statusOf(signIn(email, password, home))).toBe(200);
    await fail(perKnownPair, email, home);
    const refused = await signIn(email, password, home);
    expect([...quotaOf(refused), waitOf(refused)]).toEqual([429, perKnownPair, 0, 300, 1]);
    for (let round = 0; round < 8; round++) await failAgain(email, home);
    const last = await signIn(email, password, home);
    expect([last.status, waitOf(last)]).toEqual([429, 60]);
    service.clock.advance(60_000);
    expect(await statusOf(signIn(email, password, home))).toBe(200);
  });

  test('an address is no longer known once the account had another e-mail address', async () => {
    const email = emailOf('user');
    for (const limit of [perPair, perKnownPair])
      expect(quotaOf(await signIn(email, password, home))).toEqual([200, limit, limit, expect.any(Number)]);
    const { id } = (await call(service, { path: '/v1/me', as: 'user' })).body;
    for (const next of ['moved@test.example', email]) {
      const change = {
        method: 'PATCH',
        path: `/v1/users/${id}`,
        as: 'admin',
        body: { email: next },
      } as const;
      expect((await call(service, change)).status).toBe(200);
    }
    expect(quotaOf(await signIn(email, password, home))).toEqual([200, perPair, perPair, 900]);
  });

  test('an address has to wait after a hundred failures with different accounts', async () => {
    const known = emailOf('editor');
    expect(await statusOf(signIn(known, password, guesser))).toBe(200);
    // Seven failures of one account, of which the last causes a wait of four seconds.
    const guessed = 'nobody@test.example';
    await fail(perPair, guessed, guesser);
    for (const wait of [1, 2]) expect(await failAgain(guessed, guesser)).toBe(wait);
    for (let attempt = perPair + 3; attempt <= perAddress; attempt++) {
      expect(await statusOf(signIn(`nobody${attempt}@test.example`, 'wrong', guesser))).toBe(401);
    }
    const refused = await signIn(emailOf('user'), password, guesser);
    expect([...quotaOf(refused), waitOf(refused)]).toEqual([429, perAddress, 0, 900, 1]);
    // The longest of all waits counts.
    const longest = await signIn(guessed, 'wrong', guesser);
    expect([...quotaOf(longest), waitOf(longest)]).toEqual([429, perPair, 0, 900, 4]);
    expect(await statusOf(signIn(known, password, guesser))).toBe(200);
  });

  test('an invalid refresh token can be tried ten times at most', async () => {
    const { refreshToken } = (await signIn(emailOf('user'), password, home)).body;
    expect(quotaOf(await refresh(refreshToken))).toEqual([200, 10, 10, 900]);
    const forged = `${refreshToken.slice(0, -4)}AAAA`;
    for (let left = 9; left >= 0; left--) {
      expect(quotaOf(await refresh(forged))).toEqual([401, 10, left, 900]);
    }
    expect(quotaOf(await refresh(forged))).toEqual([429, 10, 0, 900]);
    expect((await refresh(refreshToken)).status).toBe(200);

    // At the same time on replicas, which count together.
    const replicas = [service];
    while (kind !== 'sqlite' && replicas.length < 3) replicas.push(await service.replica());
    const another = `${refreshToken.slice(0, -4)}BBBB`;
    const attempts = replicas.flatMap(at => Array.from({ length: 12 }, () => refresh(another, at)));
    const failed = (await Promise.all(attempts)).filter(({ status }) => status === 401);
    expect(failed).toHaveLength(10);
  });

  test('other responses show the quota of all requests', async () => {
    const { headers } = await call(service, { path: '/v1/me', as: 'user' });
    expect(headers.get('X-RateLimit-Limit')).toBe('1000000');
  });
});
