/** Caches learn of changes from events: see storage/changes/. On PostgreSQL, events are found by their transactions. */
import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const eventMarks: Migration = {
  name: '0018-expand-event-marks',
  async up(session, { build, dialect }) {
    const { integer } = dialect.types;
    const statements = [
      sql`alter table events add column mark ${integer} not null default 0`,
      ...dialect.changes.prepare,
    ];
    for (const statement of statements) await session.run(statement.compile(build));
  },
};
