/** What a check for changes covers: all that was committed before it was requested, with few statements. */
import { expect, test } from 'bun:test';
import { type CompiledQuery, sql } from 'kysely';
import { products } from '../../../src/resources/products/row.ts';
import { createSqliteBuilder } from '../../../src/storage/builder.ts';
import type { Change } from '../../../src/storage/changes/change.ts';
import { type ChangeRow, createChanges, maxEvents } from '../../../src/storage/changes/index.ts';
import { addProduct } from '../../support/data/catalog.ts';
import { importProducts } from '../../support/samples/imported.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService } from '../../support/service/service.ts';

const collection = {
  name: 'lamps',
  events: { resource: 'lamp', valuesOf: (id: number) => ({ id }), keys: [] },
};
const turn = () => new Promise(resolve => setImmediate(resolve));
/** Far more turns than a check takes to begin. */
const maxTurns = 50;
/** As long as a turn may last without input. */
const microtasks = async () => {
  for (let count = 0; count < 50; count++) await undefined;
};

/** A database of one collection, whose reads wait until they are let go. @param state as that of a source */
function createSource(state: () => number | undefined) {
  /** The ids of changed rows, each with the mark of its event. */
  const committed: number[] = [];
  const held: (() => void)[] = [];
  const found: (readonly number[] | ReadonlySet<number> | undefined)[] = [];
  const mark = 5;
  const blank = { number: 0, event: 0, id: 0, before: null, after: null };
  // Of a statement, only the kind of its rows and the position are used.
  const build = createSqliteBuilder();
  const query = (kind: 'events' | 'ids') => (since: string | undefined) =>
    sql<ChangeRow>`${sql.raw(kind)} ${since}`.compile(build);
  function readRows(kind: string, since: unknown, until: number): readonly ChangeRow[] {
    const from = since === undefined ? until : Number(since);
    const some = committed.slice(from, Math.min(until, from + maxEvents));
    const event = (id: number, at: number): ChangeRow => ({
      ...{ ...blank, kind: 'event', name: 'lamp', number: mark, event: from + at + 1, id, after: '{}' },
    });
    const ids = committed.slice(from, until);
    const all: ChangeRow = {
      ...blank,
      kind: 'ids',
      name: 'lamp',
      number: mark * ids.length,
      event: ids.length,
    };
    return [
      { ...blank, kind: 'position', name: String(kind === 'ids' ? until : from + some.length) },
      { ...blank, kind: 'version', name: 'lamps', number: mark * until + unexplained },
      ...(kind === 'ids'
        ? [{ ...all, before: ids.join() }]
        : // Of transactions that ran together, the later ones come first.
          some.map(event).reverse()),
    ];
  }
  let [ended, unexplained] = [0, 0];
  async function waitForRead(): Promise<void> {
    for (let turns = 0; held.length <= ended; turns++) {
      if (turns === maxTurns) throw new Error('no check reads');
      await turn();
    }
  }
  const changes = createChanges({
    state,
    read: {
      async all<Row>({ sql: text, parameters }: CompiledQuery<Row>) {
        const until = committed.length;
        const { promise, resolve } = Promise.withResolvers<void>();
        held.push(resolve);
        await promise;
        const rows: unknown[] = [...readRows(text.split(' ')[0] ?? '', parameters[0], until)];
        // Boundary to the statements above, which are the only ones.
        return rows as Row[];
      },
    },
    events: { query: query('events'), atOnce: maxEvents },
    ids: { query: query('ids'), atOnce: Number.POSITIVE_INFINITY },
  });
  changes.follow(collection, (list: readonly Change[] | undefined, ids) =>
    found.push(list?.map(({ id }) => id) ?? ids),
  );
  return {
    changes,
    committed,
    found,
    /** Commits a change of the collection that has no event. */
    commitUnexplained(): void {
      unexplained += 1;
    },
    countReads: () => held.length,
    /** Resolves when a read has begun that is not let go yet. */
    begun: waitForRead,
    /** Lets the next read end, once it has begun. */
    async letGo(): Promise<void> {
      await waitForRead();
      held[ended]?.();
      ended += 1;
    },
  };
}

test('the requests of one turn share a check', async () => {
  const { changes, countReads, letGo } = createSource(() => undefined);
  const checks = [changes.check()];
  await microtasks();
  checks.push(changes.check());
  await letGo();
  await Promise.all(checks);
  expect(countReads()).toBe(1);
});

test('a request that arrives while a check reads is served by the next one', async () => {
  const { changes, committed, found, begun, letGo } = createSource(() => undefined);
  const first = changes.check();
  await letGo();
  await first;
  found.length = 0;
  const early = changes.check();
  await begun();
  // The check that reads does not see this commit.
  committed.push(7);
  const late = Promise.resolve(changes.check()).then(() => found.length);
  await letGo();
  await early;
  expect(found).toEqual([]);
  await letGo();
  expect([await late, found]).toEqual([1, [[7]]]);
});

test('nothing is read while the state shows no commit; a commit during a check is found by the next one', async () => {
  let state = 1;
  const { changes, committed, found, begun, letGo } = createSource(() => state);
  const first = changes.check();
  await letGo();
  await first;
  expect(changes.check()).toBeUndefined();
  found.length = 0;
  state = 2;
  const second = changes.check();
  await begun();
  committed.push(7);
  state = 3;
  await letGo();
  await second;
  const third = changes.check();
  expect(third).toBeInstanceOf(Promise);
  await letGo();
  await third;
  expect(found).toEqual([[7]]);
});

test('of very many changes only the ids of the rows are read', async () => {
  const { changes, committed, found, letGo } = createSource(() => undefined);
  const check = async (reads: number) => {
    const checked = changes.check();
    for (let read = 0; read < reads; read++) await letGo();
    await checked;
  };
  await check(1);
  found.length = 0;
  const some = Array.from({ length: maxEvents }, (_, index) => index + 1);
  committed.push(...some.slice(1));
  await check(1);
  committed.push(...some);
  await check(2);
  expect(found).toEqual([some.slice(1), new Set(some)]);
});

test('a change without an event drops everything, and the next change only its row', async () => {
  const { changes, committed, found, commitUnexplained, letGo } = createSource(() => undefined);
  const check = async () => {
    const checked = changes.check();
    await letGo();
    await checked;
  };
  await check();
  found.length = 0;
  committed.push(7);
  commitUnexplained();
  await check();
  committed.push(8);
  await check();
  expect(found).toEqual([undefined, [8]]);
});

describeOnDatabases('changes by another process on %s', kind => {
  test('are each found once, however many a check reads', async () => {
    await using service = await startTestService(kind);
    const { changes } = (await service.replica()).database;
    await addProduct(service, { name: 'Earlier' });
    await changes.check();
    const found: number[] = [];
    let isComplete = true;
    changes.follow(products, (list, ids) => {
      isComplete &&= list !== undefined || ids !== undefined;
      found.push(...(list?.map(({ id }) => id) ?? ids ?? []));
    });
    let next = 2;
    for (const count of [1, 8, 9, 20, 600]) {
      found.length = 0;
      const records = Array.from({ length: count }, (_, index) => ({ name: `Lamp ${index}`, price: 1 }));
      await importProducts(service, records, service.clock.now());
      await changes.check();
      expect([isComplete, found.sort((a, b) => a - b)]).toEqual([true, records.map((_, at) => next + at)]);
      next += count;
    }
  });
});
