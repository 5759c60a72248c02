/** An index of the administrators: otherwise each change that may concern the last one reads all users. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const administrators: Migration = {
  name: '0041-expand-administrators',
  async up(session, { build }) {
    await session.run(sql`create index administrators on users (id) where role = 'admin'`.compile(build));
  },
};
