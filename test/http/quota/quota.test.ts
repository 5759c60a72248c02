/** The request quota: shown on every response, counted per caller, and shared by all replicas. */
import { expect, test } from 'bun:test';
import { addUnusedKey, type KeyHeaders } from '../../support/data/people.ts';
import { type Call, call, type Received } from '../../support/http/http.ts';
import { limit, me, remaining, serviceWith } from '../../support/http/quota.ts';
import { contentsOf } from '../../support/service/contents.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import type { TestService } from '../../support/service/service.ts';

describeOnDatabases('the quota on %s', kind => {
  const withService = serviceWith(kind);

  test('counts down, refuses with 429, and begins again with the window', () =>
    withService({}, async service => {
      const seconds = Math.floor(service.clock.now() / 1000);
      const reset = seconds - (seconds % 3600) + 3600;
      for (let left = limit - 1; left >= 0; left--) {
        const response = await call(service, me);
        expect([response.status, remaining(response)]).toEqual([200, left]);
        const shown = ['X-RateLimit-Limit', 'X-RateLimit-Reset', 'X-RateLimit-Window', 'Retry-After'];
        expect(shown.map(name => response.headers.get(name))).toEqual(['5', String(reset), '3600', null]);
        expect(response.headers.get('RateLimit')).toBe(`"default";r=${left};t=${reset - seconds}`);
        expect(response.headers.get('RateLimit-Policy')).toBe('"default";q=5;w=3600');
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
      // The access token has expired: without it, the request is charged to the address, whose window is also new.
      const fresh = await call(service, { path: '/v1/me' });
      expect([fresh.status, remaining(fresh)]).toEqual([401, limit - 1]);
      expect(fresh.headers.get('X-RateLimit-Reset')).toBe(String(reset + 3600));
    }));

  test('is separate for each user, key and address', () =>
    withService({ RATE_LIMIT: '20' }, async service => {
      const scopes = ['products:read'];
      const [one, other] = [await addUnusedKey(service, { scopes }), await addUnusedKey(service, { scopes })];
      const byKey = (headers: KeyHeaders): Call => ({ path: '/v1/products', headers });
      for (let left = 19; left >= 0; left--) expect(remaining(await call(service, me))).toBe(left);
      expect((await call(service, me)).status).toBe(429);
      expect(remaining(await call(service, { path: '/v1/me', as: 'editor' }))).toBe(19);
      expect(remaining(await call(service, byKey(one)))).toBe(19);
      expect(remaining(await call(service, byKey(one)))).toBe(18);
      expect(remaining(await call(service, byKey(other)))).toBe(19);
      expect(remaining(await call(service, { path: `/v1/products?api_key=${other['X-API-Key']}` }))).toBe(18);
      // The address has its own quota, which requests with wrong credentials are charged to as well.
      const anonymous = remaining(await call(service, { path: '/v1/me' }));
      expect(anonymous).toBe(19);
      expect(remaining(await call(service, { path: '/v1/me', headers: { Authorization: 'Bearer x' } }))).toBe(
        18,
      );
      expect(remaining(await call(service, byKey({ 'X-API-Key': 'ck_wrong' })))).toBe(17);
    }));

  test('a key may have a limit of its own, above or below that of others', () =>
    withService({}, async service => {
      const headers = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit-Policy', 'RateLimit'];
      const shown = (response: Received) => headers.map(name => response.headers.get(name));
      for (const rateLimit of [2, 7, limit]) {
        const body = { name: `${rateLimit} requests`, scopes: ['products:read'], rateLimit };
        const made = await call(service, { method: 'POST', path: '/v1/keys', as: 'admin', body });
        expect([made.status, made.body.rateLimit]).toEqual([201, rateLimit]);
        const list: Call = { path: '/v1/products', headers: { 'X-API-Key': made.body.key } };
        for (let left = rateLimit - 1; left >= 0; left--) {
          const response = await call(service, list);
          expect([response.status, ...shown(response)]).toEqual([
            200,
            String(rateLimit),
            String(left),
            `"default";q=${rateLimit};w=3600`,
            expect.stringContaining(`;r=${left};`),
          ]);
          if (left === 0) continue;
          // A free response also shows the key's own limit, and the request is refunded to it.
          const tag = response.headers.get('ETag') ?? '';
          const unchanged = await call(service, {
            ...list,
            headers: { ...list.headers, 'If-None-Match': tag },
          });
          expect([unchanged.status, ...shown(unchanged)]).toEqual([304, ...shown(response)]);
        }
        const refused = await call(service, list);
        expect([refused.status, ...shown(refused).slice(0, 2)]).toEqual([429, String(rateLimit), '0']);
        expect(refused.body.message).toStartWith(`All ${rateLimit} requests`);
      }
      expect((await call(service, { path: '/v1/me', as: 'editor' })).headers.get('X-RateLimit-Limit')).toBe(
        '5',
      );
    }));

  test('RATE_LIMIT_STAFF is for administrators and editors', () =>
    withService({ RATE_LIMIT_STAFF: '9' }, async service => {
      for (const [as, most] of [
        ['admin', 9],
        ['editor', 9],
        ['user', 5],
      ] as const) {
        for (let left = most - 1; left >= 0; left--) {
          const response = await call(service, { path: '/v1/me', as });
          expect([as, response.status, remaining(response)]).toEqual([as, 200, left]);
          expect(response.headers.get('X-RateLimit-Limit')).toBe(String(most));
        }
        expect((await call(service, { path: '/v1/me', as })).status).toBe(429);
      }
      expect((await call(service, { path: '/v1/me' })).headers.get('X-RateLimit-Limit')).toBe('5');
    }));

  test('behind a trusted proxy an address is the one the proxy names', () =>
    withService({ RATE_LIMIT: '20' }, async service => {
      await using trusting = await service.replica({ TRUST_PROXY: 'true' });
      const from = (address: string, at: TestService) =>
        call(at, { path: '/v1/me', headers: { 'X-Forwarded-For': address } });
      expect(remaining(await from('spoofed, 203.0.113.1', trusting))).toBe(19);
      expect(remaining(await from('203.0.113.1', trusting))).toBe(18);
      expect(remaining(await from('203.0.113.2', trusting))).toBe(19);
      expect(remaining(await from('2001:db8:1:2:3:4:5:6', trusting))).toBe(19);
      expect(remaining(await from('2001:db8:1:2::9', trusting))).toBe(18);
      // The caller is the same, whatever port the proxy adds and however it abbreviates the address.
      expect(remaining(await from('203.0.113.1:1024', trusting))).toBe(17);
      expect(remaining(await from('203.0.113.1:1025', trusting))).toBe(16);
      expect(remaining(await from('[2001:DB8:1:2::1]:443', trusting))).toBe(17);
      expect(remaining(await from('2001:db8::1', trusting))).toBe(19);
      expect(remaining(await from('2001:db8:0:0:9::', trusting))).toBe(18);
      expect(remaining(await from('::ffff:203.0.113.2', trusting))).toBe(18);
      expect(remaining(await from('::ffff:cb00:7102%eth0', trusting))).toBe(17);
      const direct = remaining(await from('203.0.113.9', service));
      expect(remaining(await from('203.0.113.10', service))).toBe(direct - 1);
    }));

  test('304, preflights and health are free; every other response is charged, with its headers', () =>
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
        const response = await call(service, request);
        expect([response.status, remaining(response)]).toEqual([status, left - 1 - index]);
      }
    }));

  test('more polls than the quota are free while they get 304', () =>
    withService({}, async service => {
      const first = await call(service, me);
      const poll = { ...me, headers: { 'If-None-Match': first.headers.get('ETag') ?? '' } };
      for (let asked = 0; asked < 20; asked++) {
        const response = await call(service, poll);
        expect([response.status, remaining(response)]).toEqual([304, limit - 1]);
      }
    }));

  test('304 is charged for conditions that name no earlier response', () =>
    withService({}, async service => {
      const later = new Date(service.clock.now() + 3_600_000).toUTCString();
      const conditions: Record<string, string>[] = [
        { 'If-None-Match': '*' },
        { 'If-None-Match': ' * ' },
        { 'If-Modified-Since': later },
      ];
      for (const [index, headers] of conditions.entries()) {
        const response = await call(service, { ...me, headers });
        expect([response.status, remaining(response)]).toEqual([304, limit - 1 - index]);
      }
    }));

  test('polling is charged after ten times the limit', () =>
    withService({}, async service => {
      const first = await call(service, me);
      const poll = { ...me, headers: { 'If-None-Match': first.headers.get('ETag') ?? '' } };
      const polls: [number, number][] = [];
      for (let asked = 0; asked < 10 * limit + limit; asked++) {
        const response = await call(service, poll);
        polls.push([response.status, remaining(response)]);
      }
      expect(polls.slice(0, 10 * limit)).toEqual(Array(10 * limit).fill([304, limit - 1]));
      expect(polls.slice(10 * limit)).toEqual([
        [304, 3],
        [304, 2],
        [304, 1],
        [304, 0],
        [429, 0],
      ]);
    }));

  test('RATE_WINDOW is the length of the window', () =>
    withService({ RATE_WINDOW: '60' }, async service => {
      for (let used = 0; used < limit; used++) await call(service, me);
      const refused = await call(service, me);
      expect([refused.status, refused.headers.get('X-RateLimit-Window')]).toEqual([429, '60']);
      service.clock.advance(60_000);
      expect((await call(service, me)).status).toBe(200);
    }));

  test('of many concurrent requests only as many as the quota are served', () =>
    withService({ RATE_LIMIT: '20' }, async service => {
      const responses = await Promise.all(Array.from({ length: 50 }, () => call(service, me)));
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(20);
      expect(responses.filter(({ status }) => status === 429)).toHaveLength(30);
    }));

  // On PostgreSQL, replicas share a quota, which they take from the database in blocks. On SQLite the service is
  // a single process with a quota of its own.
});
