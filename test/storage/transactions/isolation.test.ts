/** On PostgreSQL, a default isolation of the database does not change that of the service's transactions. */
import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
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
