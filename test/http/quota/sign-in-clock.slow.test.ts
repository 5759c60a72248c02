/** Setting the clock forward and back keeps no user from signing in, and does not let anyone guess faster. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createGrowingDelays } from '../../../src/http/quota/delays.ts';
import { createMemoryCounters, createSharedCounters } from '../../../src/http/quota/failures.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { emailOf, password, startTestService, type TestService } from '../../support/service/service.ts';

const hour = 3_600_000;
const minute = 60_000;
const perPair = 5;

describeOnDatabases('signing in while the clock is set back, on %s', kind => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService(kind, { TRUST_PROXY: 'true' });
  });
  afterEach(() => service.stop());

  const signIn = (email: string, secret: string) =>
    call(service, {
      method: 'POST',
      path: '/v1/auth/login',
      // An address from which no account has signed in: known addresses have looser limits.
      headers: { 'X-Forwarded-For': '198.51.100.66' },
      body: { email, password: secret },
    });
  const statusOf = async (email: string, secret: string) => (await signIn(email, secret)).status;
  const user = emailOf('user');
  /** Fails as often as is possible without a wait. */
  async function failUntilWait(): Promise<void> {
    for (let attempt = 0; attempt < perPair; attempt++) expect(await statusOf(user, 'wrong')).toBe(401);
  }
  /** The seconds that the next attempt must wait. */
  async function wait(): Promise<number> {
    const { status, headers } = await signIn(user, 'wrong');
    expect(status).toBe(429);
    return Number(headers.get('Retry-After'));
  }
  /** Fails once more, as soon as an attempt is allowed; one a second earlier is refused. */
  async function failAfter(seconds: number): Promise<void> {
    service.clock.advance((seconds - 1) * 1000);
    expect(await statusOf(user, 'wrong')).toBe(429);
    service.clock.advance(1000);
    expect(await statusOf(user, 'wrong')).toBe(401);
  }

  test.each([20 * minute, 0])(
    'too few failures for a wait, %d ms earlier, cause none after the clock is set back',
    async later => {
      expect(await statusOf('nobody@test.example', 'wrong')).toBe(401);
      service.clock.advance(later);
      expect(await statusOf(emailOf('editor'), password)).toBe(200);
      service.clock.advance(-hour);
      expect(await statusOf(user, password)).toBe(200);
      service.clock.advance(30 * minute);
      expect(await statusOf(emailOf('admin'), password)).toBe(200);
      expect(await statusOf('nobody@test.example', 'wrong')).toBe(401);
    },
  );

  test('forgiven failures cause no wait after the clock is set back', async () => {
    await failUntilWait();
    service.clock.advance(hour);
    expect(await statusOf(emailOf('editor'), password)).toBe(200);
    service.clock.advance(-hour);
    expect(await statusOf(emailOf('admin'), password)).toBe(200);
  });

  test('a wait begins again once, with the length that it had', async () => {
    await failUntilWait();
    for (const seconds of [1, 2, 4]) await failAfter(seconds);
    service.clock.advance(-hour);
    expect(await wait()).toBe(8);
    service.clock.advance(2000);
    expect(await wait()).toBe(6);
    await failAfter(6);
    // The waits grow even if the clock is set back after each failure, however far.
    for (const seconds of [16, 32, 64]) {
      service.clock.advance(-24 * hour);
      expect(await wait()).toBe(seconds);
      await failAfter(seconds);
    }
    service.clock.advance(-hour);
    expect(await wait()).toBe(128);
    service.clock.advance(128_000 + 15 * minute);
    expect(await statusOf(user, password)).toBe(200);
  });

  test('a replica whose clock is a little behind shortens no wait', async () => {
    const counters = kind === 'sqlite' ? createMemoryCounters() : createSharedCounters(service.database);
    const rule = { name: 'guesses', limit: 1, window: 900, longest: 900 };
    const charges = [{ rule, subject: 'someone' }];
    const at = (now: number) => createGrowingDelays(counters, { now: () => now }).charge(charges);
    const start = service.clock.now();
    const behind = 20_000;
    expect((await at(start)).state.allowed).toBe(true);
    for (const now of [start - behind, start - behind + 999]) {
      expect((await at(now)).state).toMatchObject({ allowed: false, reset: start / 1000 + 1 });
    }
    expect((await at(start + 999)).state.allowed).toBe(false);
    expect((await at(start + 1000)).state.allowed).toBe(true);
  });
});
