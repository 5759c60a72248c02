/** Deliveries are made in order, retried after failures, never lost, and never made for uncommitted events. */
import { expect, test } from 'bun:test';
import { attemptsLimit, PermanentFailure } from '../../src/events/dispatcher.ts';
import { createQueue } from '../../src/events/queue.ts';
import { StorageError } from '../../src/storage/database.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { deliveriesOn, external } from './deliveries.ts';

const hour = 3_600_000;

describeOnDatabases('deliveries on %s', kind => {
  const on = deliveriesOn(kind);
  const { newQueue, dispatcherOf, add, left, counted, note } = on;

  test('a failed delivery holds back only its own key', async () => {
    const queue = newQueue();
    const delivered: string[] = [];
    let failures = 2;
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        if (payload === 'a1' && failures-- > 0) throw new Error('not yet');
        delivered.push(payload);
      }),
    ]);
    await add(queue, ['a', 'a1'], ['a', 'a2'], ['b', 'b1']);
    await dispatcher.settle();
    expect(delivered).toEqual(['b1']);
    on.service.clock.advance(1000);
    await dispatcher.settle();
    expect(delivered).toEqual(['b1']);
    on.service.clock.advance(1999);
    await dispatcher.settle();
    expect(delivered).toEqual(['b1']);
    on.service.clock.advance(1);
    await dispatcher.settle();
    expect(delivered).toEqual(['b1', 'a1', 'a2']);
    expect(await left(queue)).toEqual([]);
    expect([...dispatcher.numbers()]).toEqual([{ queue, delivered: 3, failed: 2 }]);
  });

  test('a failed delivery is tried again after 1 s, 2 s, 4 s … 1 h, then given up and logged; the next of its key follows', async () => {
    const queue = newQueue();
    let attempts = 0;
    const delivered: string[] = [];
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        if (payload !== 'good') {
          attempts++;
          throw new Error('refused');
        }
        delivered.push(payload);
      }),
    ]);
    await add(queue, ['a', 'bad'], ['a', 'good']);
    await dispatcher.settle();
    for (let failures = 1; failures < attemptsLimit; failures++) {
      expect(attempts).toBe(failures);
      const pause = Math.min(1000 * 2 ** (failures - 1), hour);
      on.service.clock.advance(pause - 1);
      await dispatcher.settle();
      expect(attempts).toBe(failures);
      on.service.clock.advance(1);
      await dispatcher.settle();
    }
    expect([attempts, delivered]).toEqual([attemptsLimit, ['good']]);
    expect(await left(queue)).toEqual([
      { payload: 'bad', attempts: attemptsLimit, failed_at: on.service.clock.now() },
    ]);
    expect(on.logged().filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ message: 'delivery given up', queue, attempts: attemptsLimit }),
    ]);
    on.service.clock.advance(24 * hour);
    await dispatcher.settle();
    expect(attempts).toBe(attemptsLimit);
  });

  test('a permanent failure is given up at once', async () => {
    const queue = newQueue();
    let attempts = 0;
    const dispatcher = dispatcherOf([
      external(queue, async () => {
        attempts++;
        throw new PermanentFailure('no such address');
      }),
    ]);
    await add(queue, ['a', 'x']);
    await dispatcher.settle();
    on.service.clock.advance(hour);
    await dispatcher.settle();
    expect(attempts).toBe(1);
    expect(await left(queue)).toEqual([
      { payload: 'x', attempts: 1, failed_at: on.service.clock.now() - hour },
    ]);
    expect(on.logged().filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('an internal delivery and its writes are atomic and happen once', async () => {
    const queue = newQueue();
    let attempts = 0;
    const dispatcher = dispatcherOf([
      {
        queue,
        kind: 'internal',
        async deliver(session, payload) {
          await note(session, `${queue}:${payload}`);
          if (++attempts === 1) throw new Error('after the write');
        },
      },
    ]);
    await add(queue, ['a', 'x']);
    await dispatcher.settle();
    expect(await counted(queue)).toEqual([]);
    expect(await left(queue)).toEqual([{ payload: 'x', attempts: 1, failed_at: null }]);
    on.service.clock.advance(1000);
    await dispatcher.settle();
    expect(await counted(queue)).toEqual([{ name: `${queue}:x`, value: 1 }]);
    expect(await left(queue)).toEqual([]);
    expect(attempts).toBe(2);
  });

  test('a delivery that meets damaged data holds back only its own key', async () => {
    const [inside, outside] = [newQueue(), newQueue()];
    const read = (payload: string) => {
      if (payload === 'damaged') throw new StorageError('damaged', 'A stored document is not valid JSON');
    };
    let sent = 0;
    const dispatcher = dispatcherOf([
      { queue: inside, kind: 'internal', deliver: async (_, payload) => read(payload) },
      {
        queue: outside,
        kind: 'external',
        async deliver() {
          sent++;
        },
        delivered: async (_, payload) => read(payload),
      },
    ]);
    const payloads = [
      ['a', 'damaged'],
      ['b', 'whole'],
    ] as const;
    await add(inside, ...payloads);
    await add(outside, ...payloads);
    await dispatcher.settle();
    const waiting = [{ payload: 'damaged', attempts: 1, failed_at: null }];
    expect([await left(inside), await left(outside)]).toEqual([waiting, waiting]);
    expect([...dispatcher.numbers()]).toEqual([
      { queue: inside, delivered: 1, failed: 1 },
      { queue: outside, delivered: 1, failed: 1 },
    ]);
    // Later each time, also after what is outside has been done.
    for (const seconds of [1, 2, 4, 8]) {
      on.service.clock.advance(seconds * 1000);
      await dispatcher.settle();
    }
    on.service.clock.advance(15_000);
    await dispatcher.settle();
    expect(sent).toBe(6);
    expect(on.logged().map(({ message }) => message)).not.toContain(
      'deliveries are paused: the database cannot be used',
    );
  });

  test('nothing is delivered for a transaction that was rolled back', async () => {
    const queue = newQueue();
    const delivered: string[] = [];
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        delivered.push(payload);
      }),
    ]);
    const stored = createQueue(on.service.database);
    const broken = on.service.database.write(async session => {
      await stored.add(session, { queue, key: 'a', payload: 'undone', at: on.service.clock.now() });
      throw new Error('and back');
    });
    expect(await broken.catch((error: Error) => error.message)).toBe('and back');
    await add(queue, ['a', 'done']);
    await dispatcher.settle();
    expect(delivered).toEqual(['done']);
  });

  test('very slow deliveries do not delay others, up to a maximum number', async () => {
    const queue = newQueue();
    const [first, all] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const end = Promise.withResolvers<void>();
    const delivered: string[] = [];
    let slow = 0;
    const dispatcher = dispatcherOf(
      [
        external(queue, async payload => {
          delivered.push(payload);
          if (delivered.length === 5) first.resolve();
          if (payload === 'quick') return;
          if (++slow === 16) all.resolve();
          await end.promise;
        }),
      ],
      { slowMs: 1 },
    );
    const slowOnes = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => [`s${from + n}`, `slow ${from + n}`] as const);
    await add(queue, ...slowOnes(0, 4), ['q', 'quick']);
    dispatcher.wake();
    await first.promise;
    expect(delivered.slice().sort()).toEqual(['quick', 'slow 0', 'slow 1', 'slow 2', 'slow 3']);
    await add(queue, ...slowOnes(4, 20));
    dispatcher.wake();
    await all.promise;
    for (let turns = 0; turns < 50; turns++) await left(queue);
    expect(slow).toBe(16);
    end.resolve();
    await dispatcher.settle();
    expect([slow, await left(queue)]).toEqual([20, []]);
  });

  test('settling includes deliveries that another delivery has queued', async () => {
    const [first, second] = [newQueue(), newQueue()];
    const delivered: string[] = [];
    const dispatcher = dispatcherOf([
      external(second, async payload => {
        delivered.push(payload);
      }),
      {
        queue: first,
        kind: 'external',
        deliver: async () => undefined,
        delivered: (session, payload) =>
          createQueue(on.service.database).add(session, {
            queue: second,
            key: 'b',
            payload: `after ${payload}`,
            at: on.service.clock.now(),
          }),
      },
    ]);
    await add(first, ['a', 'x']);
    await dispatcher.settle();
    expect(delivered).toEqual(['after x']);
  });
});
