/** Replicas share a single quota. */
import { expect, test } from 'bun:test';
import { addUnusedKey } from '../../support/data/people.ts';
import { type Call, call } from '../../support/http/http.ts';
import { limit, me, serviceWith } from '../../support/http/quota.ts';
import { startHeldService } from '../../support/peers/held-locks.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

describeOnDatabases('the quota on %s', kind => {
  const withService = serviceWith(kind);

  test.if(kind === 'postgresql')('is shared by all replicas', () =>
    withService({ RATE_LIMIT: '100' }, async service => {
      const replicas = [service, await service.replica(), await service.replica()];
      const responses = await Promise.all(
        Array.from({ length: 300 }, (_, index) => call(replicas[index % 3] ?? service, me)),
      );
      const served = responses.filter(({ status }) => status === 200).length;
      expect(served).toBeLessThanOrEqual(100);
      // At most a block for each replica is taken but not spent, which the others cannot serve.
      expect(served).toBeGreaterThan(60);
    }),
  );

  test.if(kind === 'postgresql')('free polling is shared by all replicas', () =>
    withService({}, async service => {
      const replicas = [service, await service.replica()];
      const etag = (await call(service, me)).headers.get('ETag') ?? '';
      const { read, build } = service.database;
      const refunds = build.selectFrom('quotas').select('used').where('subject', 'like', '%refunds%');
      const shared = async () => Number((await read.first(refunds.compile()))?.used ?? 0);
      let free = 0;
      for (let asked = 0; asked < 20 * limit + 20; asked++) {
        const poll = { ...me, headers: { 'If-None-Match': etag } };
        if ((await call(replicas[asked % 2] ?? service, poll)).status === 304) free++;
        // Refunds are shared in the background, which on a busy machine may come after many requests.
        while ((await shared()) < Math.min(free, 10 * limit));
      }
      // Also charged requests, and those that one replica did not know of when the other reached the limit.
      expect(free).toBeGreaterThanOrEqual(10 * limit);
      expect(free).toBeLessThan(13 * limit);
    }),
  );

  test.if(kind === 'postgresql')("a key's own limit is shared by all replicas", () =>
    withService({ RATE_LIMIT: '100' }, async service => {
      const replicas = [service, await service.replica()];
      const headers = await addUnusedKey(service, { scopes: ['products:read'], rateLimit: 250 });
      const list: Call = { path: '/v1/products', headers };
      const responses = await Promise.all(
        Array.from({ length: 300 }, (_, index) => call(replicas[index % 2] ?? service, list)),
      );
      const served = responses.filter(({ status }) => status === 200).length;
      expect(served).toBeLessThanOrEqual(250);
      expect(served).toBeGreaterThan(240);
    }),
  );

  test.if(kind === 'postgresql')(
    'a free poll of the past window does not raise the quota of the next',
    async () => {
      const { service, held } = await startHeldService();
      await using _ = held;
      await using __ = service;
      const list: Call = { path: '/v1/notifications', as: 'user' };
      const etag = (await call(service, list)).headers.get('ETag') ?? '';
      await held.holdTable('notifications');
      const poll = call(service, { ...list, headers: { 'If-None-Match': etag } });
      await held.waiting(1);
      service.clock.advance(60 * 60_000);
      await held.release();
      const { status, headers } = await poll;
      expect([status, headers.get('X-RateLimit-Remaining')]).toEqual([304, headers.get('X-RateLimit-Limit')]);
    },
  );
});
