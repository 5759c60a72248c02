/** A mail that no server accepts is tried more than a hundred times before it is given up. */
import { expect, test } from 'bun:test';
import { deliveries, final, logged, queue, serviceWith, smtp, urlOf } from '../../mail/sender.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';

describeOnDatabases('mail on %s', kind => {
  test('a mail that fails for five days is given up, kept and logged as an error', async () => {
    const server = await smtp();
    await server.die();
    const service = await serviceWith(kind, urlOf(server));
    const start = service.clock.now();
    await queue(service);
    while ((await deliveries(service))[0]?.failed_at === null) {
      await service.settle();
      const [waiting] = await deliveries(service);
      service.clock.advance(Math.max(0, (waiting?.due_at ?? 0) - service.clock.now()));
    }
    const days = (Number((await deliveries(service))[0]?.failed_at) - start) / 86_400_000;
    expect(days).toBeGreaterThan(4.5);
    expect(days).toBeLessThan(5.5);
    expect(logged(service, final)).toHaveLength(1);
    await server.revive();
    service.clock.advance(86_400_000);
    await service.settle();
    expect(server.attempts).toEqual([]);
  });
});
