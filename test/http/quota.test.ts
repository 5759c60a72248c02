/** The request quota: in plain sight on every answer, per caller, and shared by all replicas. */
import { describe, expect, test } from 'bun:test';
import { contentsOf } from '../support/contents.ts';
import { type Answer, type Call, call } from '../support/http.ts';
import { databaseKinds, startTestService, type TestService } from '../support/service.ts';

const limit = 5;
const me: Call = { path: '/v1/me', as: 'user' };
const remaining = ({ headers }: Answer) => Number(headers.get('X-RateLimit-Remaining'));

describe.each([...databaseKinds])('the quota on %s', kind => {
  /** Every scenario has a service, and so a quota, of its own. */
  async function withService(
    settings: Record<string, string>,
    scenario: (service: TestService) => Promise<void>,
  ) {
    const service = await startTestService(kind, { RATE_LIMIT: String(limit), ...settings });
    try {
      await scenario(service);
    } finally {
      await service.stop();
    }
  }

  test('counts down, refuses with 429, and begins again with the window', () =>
    withService({}, async service => {
      const seconds = Math.floor(service.clock.now() / 1000);
      const reset = seconds - (seconds % 3600) + 3600;
      for (let left = limit - 1; left >= 0; left--) {
        const answer = await call(service, me);
        expect([answer.status, remaining(answer)]).toEqual([200, left]);
        const shown = ['X-RateLimit-Limit', 'X-RateLimit-Reset', 'X-RateLimit-Window', 'Retry-After'];
        expect(shown.map(name => answer.headers.get(name))).toEqual(['5', String(reset), '3600', null]);
        expect(answer.headers.get('RateLimit')).toBe(`"default";r=${left};t=${reset - seconds}`);
        expect(answer.headers.get('RateLimit-Policy')).toBe('"default";q=5;w=3600');
      }
      const before = await contentsOf(service);
      const write = {
        method: 'POST',
        path: '/v1/products/1/reviews',
        as: 'user',
        body: { rating: 1 },
      } as const;
      for (const request of [me, write, { path: '/v1/nothing', as: 'user' } as const]) {
        const refused = await call(service, request);
        expect([refused.status, remaining(refused)]).toEqual([429, 0]);
        expect(refused.body).toEqual({
          error: 'RATE_LIMITED',
          message: expect.any(String),
          requestId: expect.any(String),
        });
        expect(refused.headers.get('Retry-After')).toBe(String(reset - seconds));
      }
      expect(await contentsOf(service)).toEqual(before);
      service.clock.advance((reset - seconds) * 1000 - 1);
      const headers = { 'X-API-Key': 'none' };
      expect((await call(service, { ...me, headers })).headers.get('X-RateLimit-Reset')).toBe(String(reset));
      service.clock.advance(1);
      // The access token has expired meanwhile: the address is asked for, whose window is new as well.
      const fresh = await call(service, { path: '/v1/me' });
      expect([fresh.status, remaining(fresh)]).toEqual([401, limit - 1]);
      expect(fresh.headers.get('X-RateLimit-Reset')).toBe(String(reset + 3600));
    }));

  test('is one for each user, key and address', () =>
    withService({ RATE_LIMIT: '20' }, async service => {
      const keys: string[] = [];
      for (const name of ['first', 'second']) {
        const body = { name, scopes: ['products:read'] };
        keys.push((await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body })).body.key);
      }
      const byKey = (key: string | undefined): Call => ({
        path: '/v1/products',
        headers: { 'X-API-Key': key ?? '' },
      });
      for (let left = 19; left >= 0; left--) expect(remaining(await call(service, me))).toBe(left);
      expect((await call(service, me)).status).toBe(429);
      expect(remaining(await call(service, { path: '/v1/me', as: 'editor' }))).toBe(19);
      expect(remaining(await call(service, byKey(keys[0])))).toBe(19);
      expect(remaining(await call(service, byKey(keys[0])))).toBe(18);
      expect(remaining(await call(service, byKey(keys[1])))).toBe(19);
      expect(remaining(await call(service, { path: `/v1/products?api_key=${keys[1]}` }))).toBe(18);
      // Three sign-ins have been charged to the address already, and wrong credentials are charged to it too.
      const anonymous = remaining(await call(service, { path: '/v1/me' }));
      expect(anonymous).toBe(16);
      expect(remaining(await call(service, { path: '/v1/me', headers: { Authorization: 'Bearer x' } }))).toBe(
        15,
      );
      expect(remaining(await call(service, byKey('ck_wrong')))).toBe(14);
    }));

  test('behind a trusted proxy an address is the one the proxy names', () =>
    withService({ RATE_LIMIT: '20' }, async service => {
      const trusting = await service.replica({ TRUST_PROXY: 'true' });
      const from = (address: string, at: TestService) =>
        call(at, { path: '/v1/me', headers: { 'X-Forwarded-For': address } });
      expect(remaining(await from('spoofed, 203.0.113.1', trusting))).toBe(19);
      expect(remaining(await from('203.0.113.1', trusting))).toBe(18);
      expect(remaining(await from('203.0.113.2', trusting))).toBe(19);
      expect(remaining(await from('2001:db8:1:2:3:4:5:6', trusting))).toBe(19);
      expect(remaining(await from('2001:db8:1:2::9', trusting))).toBe(18);
      const direct = remaining(await from('203.0.113.9', service));
      expect(remaining(await from('203.0.113.10', service))).toBe(direct - 1);
    }));

  test('304, preflights and health are free; every other answer is charged, with its headers', () =>
    withService({ RATE_LIMIT: '50' }, async service => {
      const first = await call(service, me);
      const left = remaining(first);
      const poll = { ...me, headers: { 'If-None-Match': first.headers.get('ETag') ?? '' } };
      for (const _ of [1, 2, 3]) {
        const unchanged = await call(service, poll);
        expect([unchanged.status, remaining(unchanged)]).toEqual([304, left]);
      }
      for (const request of [
        { method: 'OPTIONS', path: '/v1/products' },
        { path: '/health', as: 'user' },
        { path: '/ready', as: 'user' },
      ] as const)
        await call(service, request);
      expect(remaining(await call(service, poll))).toBe(left);
      const charged: [Call, number][] = [
        [{ ...me, method: 'HEAD' }, 200],
        [{ path: '/v1/nothing', as: 'user' }, 404],
        [{ method: 'PUT', path: '/v1/products', as: 'user' }, 405],
        [{ ...me, headers: { Accept: 'image/png' } }, 406],
        [{ path: '/v1/keys', as: 'user' }, 403],
        [{ path: '/v1/products?page=0', as: 'user' }, 400],
        [{ ...me, headers: { 'If-Match': '"x"' } }, 412],
      ];
      for (const [index, [request, status]] of charged.entries()) {
        const answer = await call(service, request);
        expect([answer.status, remaining(answer)]).toEqual([status, left - 1 - index]);
      }
    }));

  test('at the end of the quota polling goes on being free', () =>
    withService({}, async service => {
      const first = await call(service, me);
      const poll = { ...me, headers: { 'If-None-Match': first.headers.get('ETag') ?? '' } };
      for (let asked = 0; asked < 20; asked++) {
        const answer = await call(service, poll);
        expect([answer.status, remaining(answer)]).toEqual([304, limit - 1]);
      }
    }));

  test('RATE_WINDOW is the length of the window', () =>
    withService({ RATE_WINDOW: '60' }, async service => {
      for (let used = 0; used < limit; used++) await call(service, me);
      const refused = await call(service, me);
      expect([refused.status, refused.headers.get('X-RateLimit-Window')]).toEqual([429, '60']);
      service.clock.advance(60_000);
      expect((await call(service, me)).status).toBe(200);
    }));

  test('of many requests at once no more than the quota are served', () =>
    withService({ RATE_LIMIT: '20' }, async service => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => call(service, me)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    }));

  // Replicas share a quota on PostgreSQL, where blocks of it are taken from the database; on SQLite one
  // process is the service, and each has a quota of its own.
  test.if(kind === 'postgresql')('is shared by all replicas', () =>
    withService({ RATE_LIMIT: '100' }, async service => {
      const replicas = [service, await service.replica(), await service.replica()];
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, index) => call(replicas[index % 3] ?? service, me)),
      );
      const served = answers.filter(({ status }) => status === 200).length;
      expect(served).toBeLessThanOrEqual(100);
      // What one replica has taken and not spent is not served by another: at most a block each.
      expect(served).toBeGreaterThan(60);
    }),
  );
});
