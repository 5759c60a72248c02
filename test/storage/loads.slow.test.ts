/** Data is loaded into memory once for concurrent requests, and includes changes made during the load. */
import { expect, test } from 'bun:test';
import { createCommandOutbox } from '../../src/events/outbox.ts';
import { products } from '../../src/resources/products/row.ts';
import { createProductStore } from '../../src/resources/products/store.ts';
import type { Change, Changes, Listener } from '../../src/storage/changes/change.ts';
import { createLoads } from '../../src/storage/changes/loads.ts';
import { createColumns } from '../../src/storage/columns/index.ts';
import { selectPage } from '../../src/storage/columns/line.ts';
import { createOrders } from '../../src/storage/columns/orders.ts';
import { toRowSet } from '../../src/storage/columns/rows.ts';
import { findSource } from '../../src/storage/columns/source.ts';
import type { Database, Session } from '../../src/storage/database.ts';
import { addProduct } from '../support/data/catalog.ts';
import { call } from '../support/http/http.ts';
import { importProducts } from '../support/samples/imported.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService } from '../support/service/service.ts';

/** Snapshots, of which the first is over, but waits until something has changed. */
function holdFirstPart(database: Database) {
  const [begun, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let parts = 0;
  const snapshot: Database['snapshot'] = async (work, options) => {
    const part = await database.snapshot(work, options);
    parts += 1;
    if (parts === 1) {
      begun.resolve();
      await changed.promise;
    }
    return part;
  };
  return { snapshot, begun, changed, countParts: () => parts };
}

describeOnDatabases('reading into memory on %s', kind => {
  test('happens once for concurrent callers, and misses no change', async () => {
    await using service = await startTestService(kind);
    const kept = { clear: () => undefined, apply: () => undefined };
    const loads = createLoads(service.database.changes, products, kept);
    const [begun, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reads = 0;
    const replays: number[][] = [];
    const read = async () => {
      reads += 1;
      begun.resolve();
      await changed.promise;
    };
    const load = () =>
      loads.load('all', read, (_, replayed) => void replays.push(replayed.map(({ id }) => id)));
    const both = [load(), load()];
    expect(loads.has('all')).toBe(true);
    await begun.promise;
    const { id } = await addProduct(service, { name: 'Meanwhile' });
    changed.resolve();
    await Promise.all(both);
    expect([reads, replays]).toEqual([1, [[id]]]);
    expect(loads.has('all')).toBe(false);
  });

  test('misses no row that moves to the part that has been read, since its price changes', async () => {
    await using service = await startTestService(kind);
    const { database } = service;
    // More than one statement reads.
    const count = 4010;
    await importProducts(
      service,
      Array.from({ length: count }, (_, index) => ({ name: 'Lamp', price: 10 + index })),
    );
    const { snapshot, begun, changed, countParts } = holdFirstPart(database);
    const columns = createColumns({ ...database, snapshot }, products);
    const sources = ['status'].flatMap(name => findSource(name) ?? []);
    const found = columns.use(
      sources,
      read => read.get('status')?.rows({ of: 'equal', texts: ['active'] }).count,
    );
    await begun.promise;
    const body = { price: 1 };
    await call(service, { method: 'PATCH', path: `/v1/products/${count}`, as: 'editor', body });
    changed.resolve();
    expect([await found, countParts()]).toEqual([count, 2]);
  });

  test('of the names of rows puts one in its place that got another name meanwhile', async () => {
    await using service = await startTestService(kind);
    const { database } = service;
    const count = 4010;
    await importProducts(
      service,
      Array.from({ length: count }, (_, index) => ({ name: `Lamp ${10_000 + index}`, price: 1 })),
    );
    const { snapshot, begun, changed, countParts } = holdFirstPart(database);
    const orders = createOrders({ ...database, snapshot }, products, 'products');
    const readLine = async () => {
      await database.changes.check();
      return orders.line('name', database.changes.version(products) ?? 0);
    };
    expect(await readLine()).toBeUndefined();
    await begun.promise;
    const change = (id: number, name: string) =>
      call(service, { method: 'PATCH', path: `/v1/products/${id}`, as: 'editor', body: { name } });
    await change(count, 'A');
    await change(1, 'Z');
    changed.resolve();
    await orders.settled('name');
    const line = await readLine();
    const rows = toRowSet([1, 2, 3, count - 1, count]);
    const page = { rows, descending: false, start: undefined, skip: 0, count: 10 };
    expect(line && selectPage(line, page)).toEqual([count, 2, 3, count - 1, 1]);
    expect(countParts()).toBe(2);
  });

  test('of the order of a list misses no change of its filter, its order or its rows', async () => {
    await using service = await startTestService(kind);
    const { database } = service;
    const count = 700;
    await importProducts(
      service,
      Array.from({ length: count }, (_, index) => ({ name: 'Lamp', price: 10 + index })),
    );
    const [begun, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    /** Pages, or parts of all keys, that were read from the database. */
    let sorted = 0;
    let parts = 0;
    const read: Session = {
      ...database.read,
      async all(query) {
        const rows = await database.read.all(query);
        if (query.sql.includes('sort_value')) sorted += 1;
        // A part of all keys, of which a page has a few.
        if (rows.length < 100) return rows;
        parts += 1;
        begun.resolve();
        await changed.promise;
        return rows;
      },
    };
    const gated = { ...database, read };
    const { list } = createProductStore(gated, createCommandOutbox(gated));
    const request = {
      conditions: [{ column: 'status', operator: '=', value: 'active', literal: true }],
      order: { column: 'price', descending: false },
      page: { kind: 'offset', page: 1, perPage: 20 },
    } as const;
    for (let time = 0; time < 2; time++) await list(request);
    await begun.promise;
    const change = (id: number, body: object) =>
      call(service, { method: 'PATCH', path: `/v1/products/${id}`, as: 'editor', body });
    await Promise.all([
      // The first products have been read, the last have not.
      ...[1, count].map(id => change(id, { status: 'archived' })),
      ...[2, count - 1].map(id =>
        call(service, { method: 'DELETE', path: `/v1/products/${id}`, as: 'editor' }),
      ),
      change(3, { price: 5000 }),
      change(count - 2, { price: 1 }),
      change(4, { status: 'archived' }).then(() => change(4, { status: 'active', price: 2 })),
    ]);
    const { id } = await addProduct(service, { price: 3 });
    changed.resolve();
    for (let [before, attempt] = [-1, 0]; before < sorted && attempt < 500; attempt++) {
      before = sorted;
      await list(request);
    }
    const size = 50;
    const ids: number[] = [];
    for (let page = 1; page <= 14; page++) {
      const { rows, total } = await list({ ...request, page: { kind: 'offset', page, perPage: size } });
      expect(total).toBe(count - 3);
      ids.push(...rows.map(row => row.id));
    }
    const others = Array.from({ length: count - 7 }, (_, index) => index + 5);
    expect(ids).toEqual([count - 2, 4, id, ...others, 3]);
    expect(parts).toBe(2);
  });
});

test('a read is given up when everything may have changed meanwhile, or too many rows have', async () => {
  const change = { id: 1, before: undefined, after: { id: 1 }, document: '{}' };
  const cases: [committed: Change[] | undefined, kept: number | undefined][] = [
    [Array(10_000).fill(change), 10_000],
    [Array(10_001).fill(change), undefined],
    [undefined, undefined],
  ];
  for (const [committed, kept] of cases) {
    const listeners: Listener[] = [];
    const changes: Changes = {
      check: () => undefined,
      checkIn: () => Promise.reject(new Error('no snapshot is checked')),
      version: () => 1,
      follow: (_, listener) => void listeners.push(listener),
      uses: { lists: { hits: 0, misses: 0 }, resources: { hits: 0, misses: 0 } },
    };
    const loads = createLoads(changes, products, { clear: () => undefined, apply: () => undefined });
    const seen: boolean[] = [];
    let found: number | undefined;
    const read = async (isGivenUp: () => boolean) => {
      for (const listener of listeners) listener(committed);
      seen.push(isGivenUp());
    };
    await loads.load('all', read, (_, replayed) => {
      found = replayed.length;
    });
    expect([found, seen]).toEqual([kept, [kept === undefined]]);
  }
});
