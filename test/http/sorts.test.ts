/** Every list that can be sorted by `createdAt` also accepts `created_at`, with the same meaning. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call } from '../support/http/http.ts';
import { named, operations } from '../support/http/operations.ts';
import { requiredQuery, type Walk, walkOf, webhookSecret } from '../support/http/walk.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const names = ['createdAt', 'created_at'];
const sortsOf = ({ parameters }: (typeof operations)[number]) => {
  const allowed = parameters.find(({ name }) => name === 'sort')?.schema?.enum;
  return Array.isArray(allowed) ? allowed : [];
};
const sorted = operations.filter(operation => sortsOf(operation).some(name => names.includes(name)));

test('every operation that declares the sort createdAt declares created_at, and vice versa', () => {
  expect(sorted.length).toBeGreaterThan(15);
  for (const operation of sorted)
    expect([operation.path, sortsOf(operation)]).toEqual([operation.path, expect.arrayContaining(names)]);
});

describeOnDatabases('lists sorted by creation on %s', kind => {
  let service: TestService;
  let walk: Walk;
  beforeAll(async () => {
    service = await startTestService(kind, { STRIPE_WEBHOOK_SECRET: webhookSecret });
    walk = await walkOf(service, operations);
  });
  afterAll(() => service.stop());

  test.each(named(sorted))('%s: sorts by createdAt and created_at alike', async (_, operation) => {
    const start = `${await walk.existingPath(operation)}${requiredQuery(operation) || '?'}`;
    const credentials = walk.credentials(operation);
    for (const paging of ['page=1', 'limit=2']) {
      const [one, other] = await Promise.all(
        names.map(name =>
          call(service, { path: `${start}&sort=${name}&order=desc&${paging}`, ...credentials }),
        ),
      );
      expect([one?.status, other?.status]).toEqual([200, 200]);
      expect(other?.body.data).toEqual(one?.body.data);
      // Both give the same cursors, so either name continues the pages of the other.
      expect(other?.body.meta).toEqual(one?.body.meta);
    }
  });
});
