/** API keys may have a quota of their own. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const keyLimits: Migration = {
  name: '0010-key-limits',
  async up(session, { build, dialect }) {
    const statement = sql`alter table api_keys add column rate_limit ${dialect.types.integer}`;
    await session.run(statement.compile(build));
  },
};
