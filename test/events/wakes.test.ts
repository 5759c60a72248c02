/** When a dispatcher polls for work, what it does not wait for, and how it stops. */
import { Database as SqliteFile } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDispatcher } from '../../src/events/dispatcher.ts';
import { createLog } from '../../src/operations/log.ts';
import type { Session } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrations/migrate.ts';
import { openSqlite } from '../../src/storage/sqlite/index.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { deliveriesOn, external, never, turn } from './deliveries.ts';

describeOnDatabases('finding deliveries on %s', kind => {
  const on = deliveriesOn(kind);
  const { newQueue, dispatcherOf, add, left } = on;

  test('stopping waits for deliveries under way and starts no more', async () => {
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
    // The same key, so that they are delivered one after the other.
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

  test('a slow receiver does not delay deliveries that are queued later, in any queue', async () => {
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

  test('polling finds deliveries that another process has queued', async () => {
    const queue = newQueue();
    const arrived = Promise.withResolvers<string>();
    dispatcherOf([external(queue, async payload => arrived.resolve(payload))], { pollMs: 10 });
    await add(queue, ['a', 'from elsewhere']);
    expect(await arrived.promise).toBe('from elsewhere');
  });
});

test('a wake during any step of a round is not lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-wake-'));
  const file = join(folder, 'catalog.db');
  const opened = openSqlite(file);
  await migrate(opened, Date.now);
  // Reads within a turn share a snapshot of the data, which only the service's own commits end early.
  const read: Session = {
    all: query => opened.snapshot(session => session.all(query)),
    first: query => opened.snapshot(session => session.first(query)),
    run: query => opened.snapshot(session => session.run(query)),
  };
  const database = { ...opened, read };
  // Writes between two steps of the event loop, unlike the service's own writer.
  const other = new SqliteFile(file);
  const insert = `insert into deliveries (queue, key, payload, attempts, due_at, created_at) values ('q', 'k', 'x', 0, 0, 0)`;
  for (let steps = 0; steps < 60; steps++) {
    const arrived = Promise.withResolvers<string>();
    let looked = false;
    const clock = {
      now() {
        // The first poll of the first round, which finds nothing.
        if (!looked) void queueAfter(steps);
        looked = true;
        return 0;
      },
    };
    const dispatcher = createDispatcher({
      database,
      clock,
      log: createLog('silent', () => undefined, clock.now),
      consumers: [external('q', async () => arrived.resolve('delivered'))],
      pollMs: never,
    });
    const queueAfter = async (count: number) => {
      for (let step = 0; step <= count; step++) await Promise.resolve();
      other.run(insert);
      dispatcher.wake();
    };
    dispatcher.wake();
    // If the wake is lost, nothing will be delivered, and this timeout fires.
    const lost = setTimeout(arrived.resolve, 10_000, 'lost');
    expect([steps, await arrived.promise]).toEqual([steps, 'delivered']);
    clearTimeout(lost);
    await dispatcher.stop();
  }
  other.close();
  await database.close();
  rmSync(folder, { recursive: true });
});

test('polling does not keep a process alive', async () => {
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
