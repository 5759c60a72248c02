/** What has expired is removed at intervals: each kind by itself, whatever becomes of the others. */
import { expect, spyOn, test } from 'bun:test';
import { sql } from 'kysely';
import { readOrder } from '../support/data/orders.ts';
import { addStocked, ordered } from '../support/data/stock.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

const interval = 10 * 60 * 1000;
const seconds = 20;

describeOnDatabases('sweeps on %s', kind => {
  test('one that fails keeps no other from its work', async () => {
    const timers = spyOn(globalThis, 'setInterval');
    const settings = { ORDER_TIMEOUT: String(seconds), LOG_LEVEL: 'debug' };
    await using service = await startTestService(kind, settings);
    // The last: the people of the tests may have been signed in by a service of their own.
    const sweep = timers.mock.calls.findLast(([, milliseconds]) => milliseconds === interval)?.[0];
    timers.mockRestore();
    const { database, clock } = service;
    const order = await ordered(service, [await addStocked(service, 9), 1]);
    await database.write(async session => {
      // As an order from before there was a limit; and sessions cannot be swept.
      await session.run(database.build.deleteFrom('deliveries').compile());
      await session.run(sql`alter table sessions rename to elsewhere`.compile(database.build));
    });
    clock.advance(seconds * 1000);
    if (typeof sweep !== 'function') throw new Error('nothing is swept at intervals');
    sweep();
    const linesOf = (message: string) => service.log().filter(line => line.message === message);
    while (linesOf('swept').length === 0) await new Promise(resolve => setImmediate(resolve));
    expect(linesOf('removing expired rows failed').map(({ what }) => what)).toEqual(['sessions']);
    expect(linesOf('swept')).toMatchObject([{ ended: 0, orders: 1, images: 0, responses: 0 }]);
    await service.settle();
    expect((await readOrder(service, order)).body.status).toBe('CANCELLED');
  });
});
