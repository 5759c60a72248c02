/**
 * Orders, their payments and invoices. Amounts are whole minor units of the order's currency, exact up to
 * 2^53. Orders and invoices hold snapshots of products and customers, which need not exist any more.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const orders: Migration = {
  name: '0005-orders',
  async up(session, { build, dialect }) {
    const { id, text, integer, real, moment } = dialect.types;
    const statements = [
      sql`create table orders (
        id ${id},
        customer_id ${integer} not null,
        customer_name ${text} not null,
        customer_email ${text} not null,
        status ${text} not null check (status in ('PENDING', 'PAID', 'CANCELLED')),
        currency ${text} not null,
        total ${real} not null check (total >= 0),
        version ${integer} not null,
        created_at ${moment} not null,
        updated_at ${moment} not null,
        paid_at ${moment},
        cancelled_at ${moment}
      )`,
      sql`create index orders_by_customer on orders (customer_id, id)`,
      sql`create index orders_by_status on orders (status, id)`,
      sql`create table order_items (
        id ${id},
        order_id ${integer} not null references orders (id) on delete cascade,
        product_id ${integer} not null,
        name ${text} not null,
        sku ${text},
        quantity ${integer} not null check (quantity between 1 and 10000),
        unit_price ${real} not null,
        total ${real} not null
      )`,
      sql`create index order_items_by_order on order_items (order_id, id)`,
      sql`create table payments (
        id ${id},
        order_id ${integer} not null unique references orders (id) on delete cascade,
        provider ${text} not null,
        reference ${text},
        status ${text} not null,
        created_at ${moment} not null,
        updated_at ${moment} not null
      )`,
      sql`create unique index payments_by_reference on payments (provider, reference)`,
      sql`create table invoices (
        id ${id},
        number ${integer} not null unique,
        order_id ${integer} not null unique references orders (id),
        customer_id ${integer} not null,
        document ${text} not null,
        sent_at ${moment},
        version ${integer} not null,
        created_at ${moment} not null,
        updated_at ${moment} not null
      )`,
      sql`create index invoices_by_customer on invoices (customer_id, id)`,
      sql`create table counters (name ${text} primary key, value ${integer} not null)`,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
