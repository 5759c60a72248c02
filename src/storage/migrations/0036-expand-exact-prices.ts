/**
 * Items of orders keep a price that is not a whole number of minor units as it was (docs/decisions/0040). Those that are
 * stored stay as they are, and releases before read of later ones the price in minor units, rounded, and the exact total.
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
