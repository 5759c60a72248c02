/** Deliveries: in order, again after failures, never lost, and none for what was not committed. */
import { Database as SqliteFile } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  attemptsLimit,
  type Consumer,
  claimMs,
  createDispatcher,
  type Dispatcher,
  PermanentFailure,
} from '../../src/events/dispatcher.ts';
import { createQueue } from '../../src/events/queue.ts';
import { createLog } from '../../src/operations/log.ts';
import type { Session } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';
import { describeOnDatabases } from '../support/databases.ts';
import { startTestService, type TestService } from '../support/service.ts';

const never = 2_147_483_647;
const hour = 3_600_000;
/** A turn of the event loop, for what is under way to go on. */
const turn = () => new Promise<void>(resolve => setImmediate(resolve));

describeOnDatabases('deliveries on %s', kind => {
  let service: TestService;
  let queues = 0;
  let logged: Record<string, unknown>[] = [];
  const dispatchers: Dispatcher[] = [];
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(async () => {
    await Promise.all(dispatchers.map(dispatcher => dispatcher.stop()));
    await service.stop();
  });

  const newQueue = () => `test-${++queues}`;

  /** @param pollMs never, unless the test is about polling: what is not woken for stays undone */
  function dispatcherOf(
    consumers: readonly Consumer[],
    { pollMs = never, database = service.database } = {},
  ): Dispatcher {
    logged = [];
    const collect = (text: string) => {
      for (const line of text.split('\n')) if (line !== '') logged.push(JSON.parse(line));
    };
    const log = createLog('info', collect, service.clock.now);
    const dispatcher = createDispatcher({ database, clock: service.clock, log, consumers, pollMs });
    dispatchers.push({
      ...dispatcher,
      stop: async () => {
        await dispatcher.stop();
        log.flush();
      },
    });
    return { ...dispatcher, settle: () => dispatcher.settle().then(() => log.flush()) };
  }

  async function add(
    queue: string,
    ...keysAndPayloads: readonly (readonly [key: string, payload: string])[]
  ) {
    const stored = createQueue(service.database);
    await service.database.write(async session => {
      for (const [key, payload] of keysAndPayloads)
        await stored.add(session, { queue, key, payload, at: service.clock.now() });
    });
  }

  const external = (queue: string, deliver: (payload: string) => Promise<void>): Consumer => ({
    queue,
    kind: 'external',
    deliver,
  });

  /** What is still there; a turn later, since a reader shows one state of the data for a turn. */
  const left = async (queue: string) => {
    await turn();
    const { build, read } = service.database;
    const query = build.selectFrom('deliveries').select(['payload', 'attempts', 'failed_at']);
    return read.all(query.where('queue', '=', queue).orderBy('id').compile());
  };

  const counted = async (prefix: string) => {
    const { build, read } = service.database;
    const query = build.selectFrom('counters').select(['name', 'value']);
    return read.all(query.where('name', 'like', `${prefix}:%`).orderBy('name').compile());
  };

  const note = (session: Session, name: string) =>
    session.run(service.database.build.insertInto('counters').values({ name, value: 1 }).compile());

  test('one that fails holds back its key and no other', async () => {
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
    service.clock.advance(1000);
    await dispatcher.settle();
    expect(delivered).toEqual(['b1']);
    service.clock.advance(1999);
    await dispatcher.settle();
    expect(delivered).toEqual(['b1']);
    service.clock.advance(1);
    await dispatcher.settle();
    expect(delivered).toEqual(['b1', 'a1', 'a2']);
    expect(await left(queue)).toEqual([]);
    expect([...dispatcher.numbers()]).toEqual([{ queue, delivered: 3, failed: 2 }]);
  });

  test('is tried again after 1 s, 2 s, 4 s … 1 h, then given up, loudly; the next of its key goes on', async () => {
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
      service.clock.advance(pause - 1);
      await dispatcher.settle();
      expect(attempts).toBe(failures);
      service.clock.advance(1);
      await dispatcher.settle();
    }
    expect([attempts, delivered]).toEqual([attemptsLimit, ['good']]);
    expect(await left(queue)).toEqual([
      { payload: 'bad', attempts: attemptsLimit, failed_at: service.clock.now() },
    ]);
    expect(logged.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ message: 'delivery given up', queue, attempts: attemptsLimit }),
    ]);
    service.clock.advance(24 * hour);
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
    service.clock.advance(hour);
    await dispatcher.settle();
    expect(attempts).toBe(1);
    expect(await left(queue)).toEqual([{ payload: 'x', attempts: 1, failed_at: service.clock.now() - hour }]);
    expect(logged.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('what was claimed and never finished is delivered again when the claim has run out', async () => {
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
        await note(session, `${queue}:${payload}`);
        finishes++;
        finished.resolve();
      },
    };
    const [first, second] = [dispatcherOf([consumer]), dispatcherOf([consumer])];
    await add(queue, ['a', 'x']);
    first.wake();
    await started.promise;
    service.clock.advance(claimMs - 1);
    await second.settle();
    expect(attempts).toBe(1);
    service.clock.advance(1);
    second.wake();
    await finished.promise;
    await second.settle();
    expect([attempts, finishes]).toEqual([2, 1]);
    // The first was not dead, only slow: what follows a delivery is done once all the same.
    stuck.resolve();
    await first.settle();
    expect([attempts, finishes]).toEqual([2, 1]);
    expect(await left(queue)).toEqual([]);
  });

  test('one that fails after its claim was taken over does not disturb the new owner', async () => {
    const queue = newQueue();
    // By attempt, no matter who makes it: a process may take over what it has itself been too slow with.
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
    service.clock.advance(claimMs);
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

  test('an internal delivery and its writes are one: undone together, done once', async () => {
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
    service.clock.advance(1000);
    await dispatcher.settle();
    expect(await counted(queue)).toEqual([{ name: `${queue}:x`, value: 1 }]);
    expect(await left(queue)).toEqual([]);
    expect(attempts).toBe(2);
  });

  test.each(['internal', 'external'] as const)(
    'three replicas share 200 %s deliveries: each once, in order for each key',
    async how => {
      const queue = newQueue();
      const replicas = [service, await service.replica(), await service.replica()];
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
                // A second delivery of the same would break the primary key.
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

  test('nothing is delivered for a transaction that was rolled back', async () => {
    const queue = newQueue();
    const delivered: string[] = [];
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        delivered.push(payload);
      }),
    ]);
    const stored = createQueue(service.database);
    const broken = service.database.write(async session => {
      await stored.add(session, { queue, key: 'a', payload: 'undone', at: service.clock.now() });
      throw new Error('and back');
    });
    expect(await broken.catch((error: Error) => error.message)).toBe('and back');
    await add(queue, ['a', 'done']);
    await dispatcher.settle();
    expect(delivered).toEqual(['done']);
  });

  test('settling covers what one queue’s deliveries have given another to do', async () => {
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
          createQueue(service.database).add(session, {
            queue: second,
            key: 'b',
            payload: `after ${payload}`,
            at: service.clock.now(),
          }),
      },
    ]);
    await add(first, ['a', 'x']);
    await dispatcher.settle();
    expect(delivered).toEqual(['after x']);
  });

  test('stopping waits for what is under way, and takes up nothing more', async () => {
    const queue = newQueue();
    const slow = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const delivered: string[] = [];
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        started.resolve();
        await slow.promise;
        delivered.push(payload);
      }),
    ]);
    // One key, so that they come one after the other.
    await add(queue, ['a', 'first'], ['a', 'second']);
    dispatcher.wake();
    await started.promise;
    let hasStopped = false;
    const stopping = dispatcher.stop().then(() => {
      hasStopped = true;
    });
    for (let turns = 0; turns < 10; turns++) await turn();
    expect(hasStopped).toBe(false);
    slow.resolve();
    await stopping;
    dispatcher.wake();
    await dispatcher.settle();
    expect(delivered).toEqual(['first']);
    expect(await left(queue)).toEqual([{ payload: 'second', attempts: 0, failed_at: null }]);
  });

  test('one slow receiver does not hold up the others', async () => {
    const queue = newQueue();
    const slow = Promise.withResolvers<void>();
    const fast = Promise.withResolvers<void>();
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        if (payload === 'slow') return slow.promise;
        fast.resolve();
      }),
    ]);
    await add(queue, ['a', 'slow'], ['b', 'fast']);
    dispatcher.wake();
    await fast.promise;
    slow.resolve();
    await dispatcher.settle();
    expect(await left(queue)).toEqual([]);
  });

  test('while a receiver takes long, what is queued later is delivered all the same, in every queue', async () => {
    const [queue, inner] = [newQueue(), newQueue()];
    const slow = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const fast = Promise.withResolvers<void>();
    const told = Promise.withResolvers<void>();
    const dispatcher = dispatcherOf([
      external(queue, async payload => {
        if (payload === 'fast') return fast.resolve();
        begun.resolve();
        return slow.promise;
      }),
      { queue: inner, kind: 'internal', deliver: async () => told.resolve() },
    ]);
    await add(queue, ['a', 'slow']);
    dispatcher.wake();
    await begun.promise;
    await add(queue, ['b', 'fast']);
    await add(inner, ['c', 'inner']);
    dispatcher.wake();
    await Promise.all([fast.promise, told.promise]);
    slow.resolve();
    await dispatcher.settle();
    expect([await left(queue), await left(inner)]).toEqual([[], []]);
  });

  test('finds without being woken what another process has queued', async () => {
    const queue = newQueue();
    const arrived = Promise.withResolvers<string>();
    dispatcherOf([external(queue, async payload => arrived.resolve(payload))], { pollMs: 10 });
    await add(queue, ['a', 'from elsewhere']);
    expect(await arrived.promise).toBe('from elsewhere');
  });
});

test('a wake is not lost, at whatever step of a round it comes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-wake-'));
  const file = join(folder, 'catalog.db');
  const opened = openSqlite(file);
  await migrate(opened, Date.now);
  // Reads of one turn share one state of the data, which only the service's own commits end early.
  const read: Session = {
    all: query => opened.snapshot(session => session.all(query)),
    first: query => opened.snapshot(session => session.first(query)),
    run: query => opened.snapshot(session => session.run(query)),
  };
  const database = { ...opened, read };
  // Writes between two steps of the event loop, which the service's own writer cannot.
  const other = new SqliteFile(file);
  const insert = `insert into deliveries (queue, key, payload, attempts, due_at, created_at) values ('q', 'k', 'x', 0, 0, 0)`;
  for (let steps = 0; steps < 60; steps++) {
    const arrived = Promise.withResolvers<void>();
    let looked = false;
    const clock = {
      now() {
        // The first look of the first round: it finds nothing.
        if (!looked) void queueAfter(steps);
        looked = true;
        return 0;
      },
    };
    const dispatcher = createDispatcher({
      database,
      clock,
      log: createLog('silent', () => undefined, clock.now),
      consumers: [{ queue: 'q', kind: 'external', deliver: async () => arrived.resolve() }],
      pollMs: never,
    });
    const queueAfter = async (count: number) => {
      for (let step = 0; step <= count; step++) await Promise.resolve();
      other.run(insert);
      dispatcher.wake();
    };
    dispatcher.wake();
    await arrived.promise;
    await dispatcher.stop();
  }
  other.close();
  await database.close();
  rmSync(folder, { recursive: true });
});

test('looking for work does not keep a process alive', async () => {
  const from = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));
  const code = `
    import { createDispatcher } from ${from('events/dispatcher.ts')};
    import { openSqlite } from ${from('storage/sqlite/index.ts')};
    import { migrate } from ${from('storage/migrations/migrate.ts')};
    import { createLog } from ${from('operations/log.ts')};
    const database = openSqlite(':memory:');
    await migrate(database, Date.now);
    createDispatcher({ database, clock: { now: Date.now }, log: createLog('silent', () => {}, Date.now), consumers: [] });
    console.log('left alone');`;
  const child = Bun.spawn([process.execPath, '-e', code], {
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 15_000,
  });
  const output = await new Response(child.stdout).text();
  expect([await child.exited, output, await new Response(child.stderr).text()]).toEqual([
    0,
    'left alone\n',
    '',
  ]);
});
