/**
 * An index with what the metrics count and the retention looks for: without it, an embedded database reads the payloads
 * of all deliveries, mails with their attachments among them.
 */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const deliveriesByAge: Migration = {
  name: '0039-expand-deliveries-by-age',
  async up(session, { build }) {
    const columns = sql`queue, failed_at, created_at`;
    await session.run(sql`create index deliveries_by_age on deliveries (${columns})`.compile(build));
  },
};
