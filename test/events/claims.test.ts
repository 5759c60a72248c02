/** Deliveries that several processes could make: only the process that has claimed one makes it. */
import { expect, test } from 'bun:test';
import { claimMs } from '../../src/events/attempts.ts';
import type { Consumer } from '../../src/events/dispatcher.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { deliveriesOn, external, turn } from './deliveries.ts';

describeOnDatabases('claims on %s', kind => {
  const on = deliveriesOn(kind);
  const { newQueue, dispatcherOf, add, left, note } = on;

  test('an unfinished delivery is delivered again when its claim has expired', async () => {
    const queue = newQueue();
    const stuck = Promise.withResolvers<void>();
    const [started, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    let finishes = 0;
    const consumer: Consumer = {
      queue,
      kind: 'external',
      deliver() {
        attempts++;
        started.resolve();
        return attempts === 1 ? stuck.promise : Promise.resolve();
      },
      async delivered(session, payload) {
        finishes++;
        await note(session, `${queue}:${payload}`);
        finished.resolve();
      },
    };
    const [first, second] = [dispatcherOf([consumer]), dispatcherOf([consumer])];
    await add(queue, ['a', 'x']);
    first.wake();
    await started.promise;
    on.service.clock.advance(claimMs - 1);
    await second.settle();
    expect(attempts).toBe(1);
    on.service.clock.advance(1);
    second.wake();
    await finished.promise;
    await second.settle();
    expect([attempts, finishes]).toEqual([2, 1]);
    // The first dispatcher was only slow. Still, the work after a delivery is done once.
    stuck.resolve();
    await first.settle();
    expect([attempts, finishes]).toEqual([2, 1]);
    expect(await left(queue)).toEqual([]);
  });

  test('a delivery that fails after its claim was taken over does not affect the new owner', async () => {
    const queue = newQueue();
    // Indexed by attempt rather than by dispatcher: a process may take over a claim that it was too slow with itself.
    const outcomes = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const consumer = external(queue, () => {
      const attempt = attempts++;
      started[attempt]?.resolve();
      return outcomes[attempt]?.promise ?? Promise.reject(new Error('one attempt too many'));
    });
    const [first, second] = [dispatcherOf([consumer]), dispatcherOf([consumer])];
    await add(queue, ['a', 'x']);
    first.wake();
    await started[0]?.promise;
    on.service.clock.advance(claimMs);
    second.wake();
    await started[1]?.promise;
    outcomes[0]?.reject(new Error('timed out'));
    for (let turns = 0; turns < 50; turns++) await left(queue);
    expect(await left(queue)).toEqual([{ payload: 'x', attempts: 0, failed_at: null }]);
    outcomes[1]?.resolve();
    await Promise.all([first.settle(), second.settle()]);
    expect(await left(queue)).toEqual([]);
    expect(attempts).toBe(2);
  });

  test.each(['internal', 'external'] as const)(
    'three replicas share 200 %s deliveries: each once, in order for each key',
    async how => {
      const queue = newQueue();
      const replicas = [on.service, await on.service.replica(), await on.service.replica()];
      const delivered: { by: number; payload: string }[] = [];
      const workers = replicas.map(({ database }, by) => {
        const deliver = async (payload: string) => {
          await turn();
          delivered.push({ by, payload });
        };
        const consumer: Consumer =
          how === 'external'
            ? external(queue, deliver)
            : {
                queue,
                kind: 'internal',
                // A second delivery of the same payload would violate the primary key.
                async deliver(session, payload) {
                  await note(session, `${queue}:${payload}`);
                  delivered.push({ by, payload });
                },
              };
        return dispatcherOf([consumer], { database });
      });
      const keys = 20;
      const payloads = Array.from({ length: 200 }, (_, n) => `${n % keys}-${Math.floor(n / keys)}`);
      await add(queue, ...payloads.map(payload => [payload.split('-')[0] ?? '', payload] as const));
      await Promise.all(workers.map(worker => worker.settle()));
      expect(await left(queue)).toEqual([]);
      expect(delivered.map(({ payload }) => payload).sort()).toEqual([...payloads].sort());
      for (let key = 0; key < keys; key++) {
        const own = delivered.filter(({ payload }) => payload.startsWith(`${key}-`));
        expect(own.map(({ payload }) => payload)).toEqual(
          Array.from({ length: 10 }, (_, n) => `${key}-${n}`),
        );
      }
      expect(new Set(delivered.map(({ by }) => by)).size).toBeGreaterThan(1);
    },
  );
});
