/** On PostgreSQL, settings of the database do not change the isolation of transactions, and what is found. */
import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { sql } from 'kysely';
import { act, placeOrder } from '../../support/data/orders.ts';
import { call } from '../../support/http/http.ts';
import { createDatabase, hasPostgres } from '../../support/service/postgres.ts';
import { startTestService } from '../../support/service/service.ts';

/** More than the attempts that a transaction has, all at the same counter. */
const count = 60;

describe.skipIf(!hasPostgres)('a database whose transactions are', () => {
  test.each(['repeatable read', 'serializable'])(
    '%s by default refuses no payment because of others at the same time',
    async level => {
      const url = await createDatabase();
      const admin = new SQL(url, { max: 1 });
      const name = new URL(url).pathname.slice(1);
      await admin.unsafe(`alter database ${name} set default_transaction_isolation = '${level}'`);
      await admin.close({ timeout: 0 });
      await using service = await startTestService('postgresql', { DATABASE_URL: url });
      const orders = await Promise.all(Array.from({ length: count }, () => placeOrder(service)));
      const paid = await Promise.all(orders.map(order => act(service, order, 'payment')));
      expect(paid.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 200));
      const { body } = await call(service, { path: '/v1/invoices', as: 'admin' });
      expect(body.meta.total).toBe(count);
    },
  );
});

test.skipIf(!hasPostgres)(
  'a limit of the database for hits of an index leaves none out of searches',
  async () => {
    const url = await createDatabase();
    const admin = new SQL(url, { max: 1 });
    const name = new URL(url).pathname.slice(1);
    await admin.unsafe(`alter database ${name} set gin_fuzzy_search_limit = 10`);
    await admin.close({ timeout: 0 });
    await using service = await startTestService('postgresql', { DATABASE_URL: url });
    const { build, read, snapshot } = service.database;
    // Only words of tens of thousands of products would show it.
    const query = sql<{ limit: string }>`select current_setting('gin_fuzzy_search_limit') as "limit"`.compile(
      build,
    );
    expect(await read.first(query)).toEqual({ limit: '0' });
    expect(await snapshot(session => session.first(query))).toEqual({ limit: '0' });
  },
);
