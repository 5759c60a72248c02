/**
 * Order items store the exact price if it is not a whole number of minor units (docs/decisions/0040). Existing items
 * are unchanged. For later items, earlier releases read the price rounded to minor units, and the exact total.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const exactPrices: Migration = {
  name: '0036-expand-exact-prices',
  async up(session, { build, dialect }) {
    const add = sql`alter table order_items add column exact_price ${dialect.types.text}`;
    await session.run(add.compile(build));
  },
};
