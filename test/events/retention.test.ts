/** Events are kept forever, or for the configured time; events still to be delivered are never removed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createRetention } from '../../src/events/retention.ts';
import { record } from '../support/data/events.ts';
import { contentsOf } from '../support/service/contents.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const day = 86_400_000;
const running = () => false;

describeOnDatabases('retention on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const kept = async (): Promise<number[]> => {
    const { build, read } = service.database;
    const things = build.selectFrom('events').select('resource_id').where('resource', '=', 'thing');
    const rows = await read.all(things.orderBy('id').compile());
    return rows.map(({ resource_id }) => resource_id);
  };
  /** Events for more than one batch. */
  const many = (count: number, from: number) =>
    Array.from({ length: count }, (_, n) => ({ resource: 'thing', resourceId: from + n, action: 'made' }));
  const queue = (id: number, failedAt: number | null) => {
    const { build, write } = service.database;
    const now = service.clock.now();
    return write(async session => {
      const things = build.selectFrom('events').select('id').where('resource', '=', 'thing');
      const event = things.where('resource_id', '=', id);
      const row = await session.first(event.compile());
      const delivery = {
        queue: 'notifications',
        key: `thing:${id}`,
        payload: String(row?.id),
        attempts: 1,
        due_at: now + 365 * day,
        failed_at: failedAt,
        created_at: now,
      };
      await session.run(build.insertInto('deliveries').values(delivery).compile());
    });
  };

  test('events and deliveries beyond the retention period are deleted in batches, except waiting ones', async () => {
    await record(service, ...many(1203, 1));
    await queue(2, null);
    await queue(3, service.clock.now());
    service.clock.advance(day);
    await record(service, ...many(2, 2001));
    service.clock.advance(day);
    const before = await contentsOf(service);
    const sweepAfter = async (days: number | undefined, isStopping = running) => {
      const { events, deliveries } = createRetention(service.database, service.clock, days);
      return [await events(isStopping), await deliveries(isStopping)];
    };
    expect(await sweepAfter(undefined)).toEqual([0, 0]);
    expect(await sweepAfter(2)).toEqual([0, 0]);
    expect(await sweepAfter(1, () => true)).toEqual([0, 0]);
    expect((await contentsOf(service)).filter(line => line.startsWith('events'))).toEqual(
      before.filter(line => line.startsWith('events')),
    );
    service.clock.advance(1);
    const all = before.filter(line => line.startsWith('events')).length;
    expect(await sweepAfter(2)).toEqual([all - 3, 1]);
    expect(await kept()).toEqual([2, 2001, 2002]);
    const { build, read } = service.database;
    const waiting = build.selectFrom('deliveries').select(['key', 'failed_at']).compile();
    expect(await read.all(waiting)).toEqual([{ key: 'thing:2', failed_at: null }]);
  });
});
