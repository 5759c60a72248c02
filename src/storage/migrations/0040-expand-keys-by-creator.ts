/** An index by which the keys of a user are found: otherwise each deletion of a user reads all keys. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const keysByCreator: Migration = {
  name: '0040-expand-keys-by-creator',
  async up(session, { build }) {
    await session.run(sql`create index api_keys_by_creator on api_keys (created_by)`.compile(build));
  },
};
