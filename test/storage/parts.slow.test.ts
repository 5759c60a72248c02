/** What concerns very many rows, or very long ones, is done a few at a time: a statement blocks the event loop. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RawBuilder, sql } from 'kysely';
import { createDeliveries } from '../../src/events/deliveries.ts';
import { createCommandOutbox } from '../../src/events/outbox.ts';
import { createRetention } from '../../src/events/retention.ts';
import { createIdempotency } from '../../src/http/idempotency.ts';
import { isObject } from '../../src/json-object.ts';
import { createInvoiceStore } from '../../src/resources/invoices/store.ts';
import { createNotificationStore } from '../../src/resources/notifications/store.ts';
import { createOrderStore } from '../../src/resources/orders/store.ts';
import { createUserStore } from '../../src/resources/users/store.ts';
import type { Database, Session, Transaction } from '../../src/storage/database.ts';
import { createDependentsRemover } from '../../src/storage/table-rows.ts';
import { invoiced } from '../support/data/invoices.ts';
import { placeOrder } from '../support/data/orders.ts';
import { userIdOf } from '../support/data/people.ts';
import { call } from '../support/http/http.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const day = 86_400_000;
/** Long rows that one statement may delete or write, and short ones. */
const [maxLong, maxShort] = [10, 1000];
const hasDocument = (row: unknown) => isObject(row) && typeof row.document === 'string';

describeOnDatabases('very many rows on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  /** Inserts this many rows, numbered by `n`. */
  const insert = (count: number, into: RawBuilder<unknown>) =>
    service.database.write(session => {
      const query = sql`with recursive numbers (n) as (
        select 1 union all select n + 1 from numbers where n < ${sql.lit(count)}) insert into ${into}`;
      return session.run(query.compile(service.database.build));
    });
  const countRows = async (from: RawBuilder<unknown>) => {
    const { build, read } = service.database;
    const query = sql<{ total: number }>`select cast(count(*) as integer) as total from ${from}`;
    return (await read.first(query.compile(build)))?.total;
  };
  /** The database, with the number of rows that each statement has changed. */
  function createCounting() {
    const changed: number[] = [];
    const count = (session: Transaction): Transaction => ({
      ...session,
      async run(query) {
        const rows = await session.run(query);
        changed.push(rows);
        return rows;
      },
    });
    const { write } = service.database;
    const database: Database = {
      ...service.database,
      write: (work, options) => write(session => work(count(session)), options),
    };
    return { database, changed };
  }

  /** A session for reading that reports the rows of each statement. */
  const createCountingReads = (
    { read }: Pick<Database, 'read'>,
    report: (rows: readonly unknown[]) => void,
  ): Session => ({
    ...read,
    async all(query) {
      const rows = await read.all(query);
      report(rows);
      return rows;
    },
  });

  test('old events, deliveries and responses are deleted a few at a time', async () => {
    const now = service.clock.now();
    const old = sql.lit(now - 9 * day);
    await insert(
      610,
      sql`events (type, resource, resource_id, actor, created_at) select 'a.b', 'old', n, 'user:1', ${old} from numbers`,
    );
    await insert(
      510,
      sql`deliveries (queue, key, payload, attempts, due_at, failed_at, created_at)
        select 'mail', 'old ' || n, '', 1, ${old}, ${old}, ${old} from numbers`,
    );
    await insert(
      510,
      sql`idempotency_keys (caller, key, request_hash, answer, created_at)
        select 'user:1', 'old ' || n, '', '', ${old} from numbers`,
    );
    const { database, changed } = createCounting();
    const { events, deliveries } = createRetention(database, service.clock, 5);
    const { sweep } = createIdempotency(database, service.clock, ['a secret of 32 characters or more']);
    expect(await events(() => false)).toBe(610);
    expect(await deliveries(() => false)).toBe(510);
    let responses = 0;
    for (let some = await sweep(); some > 0; some = await sweep()) responses += some;
    expect(responses).toBe(510);
    expect(Math.max(...changed)).toBe(maxLong);
    expect(await countRows(sql`events where resource = 'old'`)).toBe(0);
  });

  test('all notifications of a user are marked as read, some at a time', async () => {
    const [userId, otherId] = [await userIdOf(service, 'user'), await userIdOf(service, 'editor')];
    const add = (id: number, first: number) =>
      insert(
        2300,
        sql`notifications (user_id, event_id, type, message, resource, resource_id, created_at)
          select ${sql.lit(id)}, ${sql.lit(first)} + n, 'order.paid', '', 'order', n, 1 from numbers`,
      );
    await add(userId, 100_000);
    await add(otherId, 200_000);
    const { database, changed } = createCounting();
    const store = createNotificationStore(database);
    const marked = await database.write(session => store.markAllRead(session, otherId, 5));
    expect([marked, Math.max(...changed)]).toEqual([2300, maxShort]);
    const markAll = { method: 'POST', path: '/v1/notifications/mark-all-read', as: 'user' } as const;
    expect((await call(service, markAll)).body).toEqual({ updated: 2300 });
    expect((await call(service, markAll)).body).toEqual({ updated: 0 });
    expect(await countRows(sql`notifications where read_at is null`)).toBe(0);
    expect(await countRows(sql`notifications where read_at = 5`)).toBe(2300);
  });

  // PostgreSQL does that itself, in its own processes.
  test.skipIf(kind !== 'sqlite')(
    'long texts that lose their author are written a few at a time',
    async () => {
      const userId = await userIdOf(service, 'editor');
      for (const table of ['articles', 'posts']) {
        const [names, values] = table === 'articles' ? [sql`, tags`, sql`, '[]'`] : [sql``, sql``];
        await insert(
          25,
          sql`${sql.table(table)} (title, body${names}, author_id, author_name, user_id, created_at, updated_at)
          select 'T', 'B'${values}, 1, 'A', ${sql.lit(userId)}, 1, 1 from numbers`,
        );
      }
      const { database, changed } = createCounting();
      const remove = createDependentsRemover(database, 'users');
      await database.write(session => remove(session, userId));
      expect(changed.filter(rows => rows === maxLong).length).toBe(4);
      expect(await countRows(sql`articles where user_id = ${sql.lit(userId)}`)).toBe(0);
      expect(await countRows(sql`posts where user_id = ${sql.lit(userId)}`)).toBe(0);
    },
  );

  test('the items of a page of orders are read in parts, however they are spread', async () => {
    const { database } = service;
    const ids: number[] = [];
    for (let placed = 0; placed < 12; placed++) ids.push((await placeOrder(service)).order.id);
    // Orders of 1 to 100 items: one is divided between two parts.
    const counts = [100, 1, 100, 100, 99, 99, 1, 100, 100, 100, 2, 100];
    await database.write(async session => {
      for (const [at, id] of ids.entries())
        for (let item = 1; item < (counts[at] ?? 0); item++)
          await session.run(
            sql`insert into order_items (order_id, product_id, name, quantity, unit_price, total)
              values (${id}, 1, 'Lamp', 1, ${item}, ${item})`.compile(database.build),
          );
    });
    const read: number[] = [];
    const counting = createCountingReads(database, rows => void read.push(rows.length));
    const orders = createOrderStore(database, createCommandOutbox(database));
    const items = await orders.itemsOf(counting, ids.toReversed());
    expect(ids.map(id => items.get(id)?.length)).toEqual(counts);
    for (const [id, some] of items) {
      expect(some.every(item => item.order_id === id)).toBe(true);
      expect(some.map(item => item.id)).toEqual(some.map(item => item.id).sort((a, b) => a - b));
    }
    expect(read.length).toBe(2);
    expect(Math.max(...read)).toBeLessThanOrEqual(500);
  });

  test.skipIf(kind !== 'sqlite')(
    'the documents of a page of long invoices are read a few at a time',
    async () => {
      // Its customers are notified: the other tests count all notifications.
      await using own = await startTestService(kind);
      const { database } = own;
      const ids: number[] = [];
      for (let issued = 0; issued < 12; issued++) ids.push((await invoiced(own)).id);
      await database.write(session =>
        session.run(
          sql`update invoices set document = document || ${' '.repeat(20_000)}`.compile(database.build),
        ),
      );
      const read: number[] = [];
      const session = createCountingReads(database, rows => void read.push(rows.filter(hasDocument).length));
      const counting = { ...database, read: session, snapshot: work => work(session) } satisfies Database;
      const issuer = { seller: { name: 'Catalog', address: [] }, timeZone: 'UTC' };
      const invoices = createInvoiceStore(counting, createCommandOutbox(database), issuer);
      const { rows } = await invoices.list({
        conditions: [],
        order: { column: 'id', descending: false },
        page: { kind: 'offset', page: 1, perPage: 100 },
      });
      expect(rows.map(({ id, version, document }) => [id, version, document.length > 20_000])).toEqual(
        ids.map(id => [id, 1, true]),
      );
      expect(Math.max(...read)).toBeLessThanOrEqual(maxLong);
    },
  );

  test.skipIf(kind !== 'sqlite')('neither the metrics nor the administrators need all rows', async () => {
    // A connection that has explained a statement keeps its state: this one is used for nothing else.
    await using explained = await startTestService(kind);
    const { database } = explained;
    const plans: string[] = [];
    const explaining: Session = {
      ...database.read,
      async all(query) {
        const plan = sql<{ detail: string }>`explain query plan ${sql.raw(query.sql)}`.compile(
          database.build,
        );
        plans.push(...(await database.read.all(plan)).map(({ detail }) => detail));
        return database.read.all(query);
      },
    };
    await createDeliveries(database).backlog(explaining);
    await createUserStore(database, createCommandOutbox(database)).administrators(explaining);
    expect(plans).toEqual([
      'SCAN deliveries USING COVERING INDEX deliveries_by_age',
      'SCAN users USING COVERING INDEX administrators',
    ]);
  });
});
