/** Long work in slices gives the same result as in one go, with turns of the event loop between all slices. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { CompiledQuery } from 'kysely';
import { createCachedLists } from '../../src/http/cache/index.ts';
import { products } from '../../src/resources/products/row.ts';
import { createAttributeCondition } from '../../src/storage/attributes/condition.ts';
import { createBulk } from '../../src/storage/bulk.ts';
import type { Changes, Listener } from '../../src/storage/changes/change.ts';
import { createListIndex } from '../../src/storage/list/affected.ts';
import type { Condition } from '../../src/storage/list/request.ts';
import { sendRows } from '../../src/storage/postgres/bulk/copy.ts';
import { toDocumentWords, toDocumentWordsInSlices } from '../../src/storage/search/text/words.ts';
import { arrangeDeferredRows } from '../../src/storage/transactions.ts';
import { takeTurn } from '../../src/turns/index.ts';
import { sendInSlices, sortItemsInSlices } from '../../src/turns/slices.ts';
import { expectRejection } from '../support/http/rejection.ts';
import { countTurns } from '../support/samples/slow-clock.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

const createRows = (count: number) =>
  Array.from({ length: count }, (_, index) => [`${(index * 7919) % 97}`, index] as const);

test('items are sorted in slices as in one go, and equal items keep their order', async () => {
  const items = fc.array(fc.tuple(fc.nat(20), fc.nat()), { maxLength: 9000, size: 'max' });
  await fc.assert(
    fc.asyncProperty(items, async some => {
      const compare = ([one]: [number, number], [other]: [number, number]) => one - other;
      expect(await sortItemsInSlices(some, compare)).toEqual(some.toSorted(compare));
    }),
    { numRuns: 20 },
  );
});

test('concurrent jobs get a turn each when each takes a whole slice', async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const spend = () => {
    const end = performance.now() + 15;
    while (performance.now() < end);
  };
  const at: number[] = [];
  const work = async () => {
    spend();
    await takeTurn();
    at.push(turns);
    spend();
  };
  await Promise.all([work(), work(), work(), work()]);
  isDone = true;
  expect(new Set(at).size).toBe(4);
});

test('a failed item is reported to the caller that waits for all, even while more items are sent', async () => {
  const sent = await sendInSlices([1, 2, 3], async item => {
    if (item === 1) throw new Error('the first has failed');
    await new Promise(resolve => setImmediate(resolve));
    return item;
  });
  await new Promise(resolve => setImmediate(resolve));
  await expectRejection(Promise.all(sent), 'the first has failed');
});

test('a change of very many values is compared with few lists without reading the values', () => {
  let looked = 0;
  const tags = new Proxy(
    Array.from({ length: 5000 }, (_, index) => `tag ${index}`),
    {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) looked += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  const index = createListIndex<{ readonly conditions: readonly [] }>(products);
  const all = { conditions: [] } as const;
  index.add(all);
  const values = { id: 1, tag: tags, category: ['a', 'a > b'] };
  const change = { id: 1, before: values, after: values, document: null };
  expect([index.concerned(change), looked]).toEqual([[{ list: all, had: true, has: true }], 0]);
  index.delete(all);
  expect(index.concerned(change)).toEqual([]);
});

test('a change of very many values of an attribute is compared with very many lists, which each value is read for once', () => {
  let read = 0;
  const sizes = new Proxy(
    Array.from({ length: 200 }, (_, index) => `0size ${index}`),
    {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) read += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  const index = createListIndex<{ readonly conditions: readonly Condition[] }>(products);
  const createList = (text: string) => ({
    conditions: [createAttributeCondition('size', { of: 'equal', texts: [text] })],
  });
  for (let list = 0; list < 10_000; list++) index.add(createList(`none ${list}`));
  const [first, last] = [createList('size 0'), createList('size 199')];
  index.add(first);
  index.add(last);
  const values = { id: 1, 'attr.size': sizes };
  const change = { id: 1, before: values, after: { id: 1, 'attr.size': ['0size 199'] }, document: null };
  expect(index.concerned(change)).toEqual([
    { list: first, had: true, has: false },
    { list: last, had: true, has: true },
  ]);
  expect(read).toBe(200);
});

test('a change of a product with very many values keeps very many lists that count them, and compares each value once', async () => {
  const listeners: Listener[] = [];
  const uses = { lists: { hits: 0, misses: 0 }, resources: { hits: 0, misses: 0 } };
  const changes: Changes = {
    check: () => undefined,
    checkIn: () => Promise.reject(new Error('no snapshot is checked')),
    version: () => 1,
    follow: (_, listener) => void listeners.push(listener),
    uses,
  };
  const lists = createCachedLists({ changes }, [products]);
  const request = (number: number) =>
    lists.respond(
      `/v1/products?facets=attr.size,attr.form&attr.form=${number}`,
      () => ({
        conditions: [createAttributeCondition('form', { of: 'equal', texts: [String(number)] })],
        facets: ['attr.size', 'attr.form'],
        order: { column: 'id', descending: false },
        page: { kind: 'offset', page: 1, perPage: 20 },
      }),
      async () => ({ body: '{}', rows: [] }),
    );
  // A list is cached on its second request.
  for (let number = 0; number < 10_000; number++) await request(number >> 1);
  let read = 0;
  const toValues = (price: number) => ({
    id: 1,
    price,
    'attr.size': new Proxy(
      Array.from({ length: 200 }, (_, index) => `0size ${index}`),
      {
        get(target, name, receiver) {
          if (typeof name === 'string' && /^\d+$/.test(name)) read += 1;
          return Reflect.get(target, name, receiver);
        },
      },
    ),
  });
  const change = { id: 1, before: toValues(1), after: toValues(2), document: '{}' };
  for (const listener of listeners) listener([change]);
  expect(read).toBe(400);
  const { misses } = uses.lists;
  await request(1);
  expect(uses.lists.misses).toBe(misses);
  const other = { id: 1, before: toValues(2), after: { id: 1, price: 2 }, document: '{}' };
  for (const listener of listeners) listener([other]);
  await request(1);
  expect(uses.lists.misses).toBe(misses + 1);
});

test('words collected in slices equal those collected in one go', async () => {
  const texts = fc.array(fc.stringMatching(/^[a-z0-9 .-]{0,40}$/), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.string(), texts, async (title, attributes) => {
      const fields = { codes: ['A-1'], brand: null, categories: [], attributes, tags: [] };
      const document = { title, body: '', fields };
      expect(await toDocumentWordsInSlices(document)).toEqual(toDocumentWords(document));
    }),
    { numRuns: 50 },
  );
});

describeOnDatabases('rows for the end of a transaction on %s', kind => {
  test('are sorted in slices by their statement, and their statements are sent in slices', async () => {
    await using service = await startTestService(kind);
    const columns = { key: 'text', id: 'integer' } as const;
    const statement = createBulk(service.database, 'rows', columns, rows => rows, { sortedBy: 2 });
    const [first, second] = [createRows(4000), createRows(3000).map(([key, id]) => [key, -id] as const)];
    const deferred = [first, second].map(rows => ({ statement, rows }));
    let rows: readonly (readonly unknown[])[] = [];
    const sorting = await countTurns(async () => {
      const parts = await arrangeDeferredRows(deferred);
      rows = parts.flatMap(part => part.rows);
      expect(parts.length).toBe(1);
    });
    const expected = [...first, ...second].sort(([key, id], [otherKey, otherId]) =>
      key === otherKey ? id - otherId : key < otherKey ? -1 : 1,
    );
    expect(rows).toEqual(expected);
    expect(sorting).toBeGreaterThan(expected.length / 2000);
    const sent: CompiledQuery<unknown>[] = [];
    const session = {
      all: async () => [],
      first: async () => undefined,
      run: async (query: CompiledQuery<unknown>) => sent.push(query),
      copy: async () => undefined,
    };
    const sending = await countTurns(async () => {
      const { done } = await sendRows(session, [{ statement, rows }]);
      await done;
    });
    expect(sent.length).toBeGreaterThan(5);
    expect(sending).toBeGreaterThanOrEqual(sent.length);
  });
});
