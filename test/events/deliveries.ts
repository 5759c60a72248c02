/** A dispatcher and its queues for tests: adding deliveries, and reading those left over and the log. */
import { afterAll, beforeAll } from 'bun:test';
import { type Consumer, createDispatcher, type Dispatcher } from '../../src/events/dispatcher.ts';
import { createQueue } from '../../src/events/queue.ts';
import { createLog } from '../../src/operations/log.ts';
import type { Database, Session } from '../../src/storage/database.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

/** A polling interval, in milliseconds, longer than any test. */
export const never = 2_147_483_647;
/** Waits for a turn of the event loop, so that pending work can continue. */
export const turn = () => new Promise<void>(resolve => setImmediate(resolve));

export const external = (queue: string, deliver: (payload: string) => Promise<void>): Consumer => ({
  queue,
  kind: 'external',
  deliver,
});

export interface Deliveries {
  /** Shared by all tests of the block. */
  readonly service: TestService;
  newQueue(): string;
  /** @param pollMs by default `never`, so that only wakes lead to deliveries */
  dispatcherOf(
    consumers: readonly Consumer[],
    options?: { readonly pollMs?: number; readonly slowMs?: number; readonly database?: Database },
  ): Dispatcher;
  add(queue: string, ...keysAndPayloads: readonly (readonly [key: string, payload: string])[]): Promise<void>;
  /** The deliveries that remain, read a turn later, because readers show a single state of the data within a turn. */
  left(queue: string): Promise<{ payload: string; attempts: number; failed_at: number | null }[]>;
  /** The records of `note` whose names begin with `prefix`. */
  counted(prefix: string): Promise<{ name: string; value: number }[]>;
  /** Writes a record, which fails the second time for the same name. */
  note(session: Session, name: string): Promise<unknown>;
  /** The log lines of the last dispatcher created. */
  logged(): readonly Record<string, unknown>[];
}

/** Call this in a block of tests: the service and the dispatchers start and stop with the block. */
export function deliveriesOn(kind: TestService['kind']): Deliveries {
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
  return {
    get service() {
      return service;
    },
    newQueue: () => `test-${++queues}`,
    dispatcherOf(consumers, { pollMs = never, slowMs = never, database = service.database } = {}) {
      logged = [];
      const collect = (text: string) => {
        for (const line of text.split('\n')) if (line !== '') logged.push(JSON.parse(line));
      };
      const log = createLog('info', collect, service.clock.now);
      const { clock } = service;
      const dispatcher = createDispatcher({ database, clock, log, consumers, pollMs, slowMs });
      dispatchers.push(dispatcher);
      return { ...dispatcher, settle: () => dispatcher.settle().then(() => log.flush()) };
    },
    async add(queue, ...keysAndPayloads) {
      const stored = createQueue(service.database);
      await service.database.write(async session => {
        for (const [key, payload] of keysAndPayloads)
          await stored.add(session, { queue, key, payload, at: service.clock.now() });
      });
    },
    async left(queue) {
      await turn();
      const { build, read } = service.database;
      const query = build.selectFrom('deliveries').select(['payload', 'attempts', 'failed_at']);
      return read.all(query.where('queue', '=', queue).orderBy('id').compile());
    },
    async counted(prefix) {
      const { build, read } = service.database;
      const query = build.selectFrom('counters').select(['name', 'value']);
      return read.all(query.where('name', 'like', `${prefix}:%`).orderBy('name').compile());
    },
    note: (session, name) =>
      session.run(service.database.build.insertInto('counters').values({ name, value: 1 }).compile()),
    logged: () => logged,
  };
}
