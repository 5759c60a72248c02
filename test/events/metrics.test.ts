/** /metrics says what waits in the queues, how long it has waited, and what has come of the rest. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { record, userIdOf } from '../support/events.ts';
import { call } from '../support/http.ts';
import { databaseKinds, startTestService, type TestService } from '../support/service.ts';

describe.each([...databaseKinds])('numbers of deliveries on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const numbers = async () => {
    const { text } = await call(service, { path: '/metrics', headers: { Accept: 'text/plain' } });
    const lines = text.split('\n').filter(line => line.startsWith('catalog_deliver'));
    return Object.fromEntries(lines.map(line => line.split(' ')));
  };

  test('counts what waits, was given up, was delivered and has failed', async () => {
    const queues = ['forgotten-passwords', 'mail', 'notifications', 'payments'];
    const names = [
      'deliveries_total',
      'delivery_failures_total',
      'deliveries_waiting',
      'deliveries_given_up',
    ];
    const all = [...names, 'deliveries_oldest_seconds'];
    expect(await numbers()).toEqual(
      Object.fromEntries(
        all.flatMap(name => queues.map(queue => [`catalog_${name}{queue="${queue}"}`, '0'])),
      ),
    );
    const customerId = await userIdOf(service, 'user');
    await record(service, { resource: 'order', resourceId: 1, action: 'paid', after: { customerId } });
    const { build, write } = service.database;
    const now = service.clock.now();
    await write(async session => {
      // Sealed by nobody: it can never be read, so it fails.
      const mail = { queue: 'mail', key: 'mail:1', payload: 'garbage', attempts: 0, created_at: now };
      const insert = build.insertInto('deliveries').values([
        { ...mail, due_at: now, failed_at: null },
        { ...mail, key: 'mail:2', due_at: now, failed_at: now },
      ]);
      await session.run(insert.compile());
    });
    await service.settle();
    service.clock.advance(500);
    expect(await numbers()).toMatchObject({
      'catalog_deliveries_total{queue="notifications"}': '1',
      'catalog_deliveries_total{queue="mail"}': '0',
      'catalog_delivery_failures_total{queue="mail"}': '1',
      'catalog_deliveries_waiting{queue="mail"}': '1',
      'catalog_deliveries_given_up{queue="mail"}': '1',
      'catalog_deliveries_oldest_seconds{queue="mail"}': '0.5',
      'catalog_deliveries_waiting{queue="notifications"}': '0',
    });
  });
});
